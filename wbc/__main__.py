"""``python -m wbc`` is the command ``wbc``."""

from wbc.cli import main

main()
