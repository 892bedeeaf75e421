"""A conflict that waits for a person: its folder, what is undecided, and the resolution.

In comes what did not apply, out comes a patch that a person made of it. Uses ``apply`` (values),
``checkout``.
"""
