"""Carry a fix to a stable branch: apply it, prove it, publish it."""

__version__ = "0.1.0"
