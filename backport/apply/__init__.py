"""HOW: a series onto a base, as commit objects, without a work tree.

In come a series and a base, out comes an :class:`~backport.apply.outcome.Outcome`. Uses
``placement``, ``checkout``, ``series``, ``patch``.
"""
