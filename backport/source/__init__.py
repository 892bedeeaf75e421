"""Python sources of any age: where classes and functions are, and whether two are the same code."""
