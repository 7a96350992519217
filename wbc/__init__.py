"""Whole-body control: one stack of tasks, solved in closed form, as a QP and as a strict hierarchy."""

__version__ = "0.1.0"
