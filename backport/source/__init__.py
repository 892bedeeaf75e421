"""Python sources of any age: where classes and functions are, and whether two are the same code.

In come bytes, out come outlines and logical lines. Uses no other room.
"""
