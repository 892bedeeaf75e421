"""OUT: the branch that appears in the checkout, last: one compare-and-swap, or nothing.

In comes an outcome that a verdict allows, out comes a ref; and then a push to Gerrit, or files
that others can apply. Uses ``checkout``.
"""
