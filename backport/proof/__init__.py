"""HOLDS? The matrix of tests of one change on code of another, and the verdict drawn from it.

In come trees and tests, out comes a :class:`~backport.runner.results.Proof`. Uses ``runner``,
``selection``, ``checkout``, ``series``.
"""
