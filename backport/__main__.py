"""``python -m backport``."""

from backport.cli import entry_point

entry_point()
