"""Every error of the package: what was given, what was expected, how to mend it."""

from __future__ import annotations


class WbcError(ValueError):
    """Base of every error that this package raises on purpose."""


class InputError(WbcError):
    """A number, an array or a flag that cannot be meant: NaN, a wrong shape, a negative gain, a non-rotation."""


class UnknownNameError(WbcError, KeyError):
    """A frame, joint, robot, task, attribute, scenario or solver that does not exist; the message has close matches."""

    def __str__(self) -> str:  # KeyError prints the repr of its argument, which would quote the whole sentence
        return str(self.args[0])


class RobotError(WbcError):
    """A robot description that no controller can use."""


class StackError(WbcError):
    """Parts that cannot stand together in one stack, or a method that cannot solve it."""


class NotInstalledError(WbcError, ImportError):
    """An optional package is missing; the message names the extra that brings it."""


class RobotWarning(UserWarning):
    """Something in a robot description was mended or ignored; the message names it."""


class ControlWarning(UserWarning):
    """The controller is used in a way that its numbers do not fit, such as another period than it was told."""
