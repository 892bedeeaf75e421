"""RUN: the tests of one tree, under the branch's own Python; what came of each.

In come a tree, names of tests and an environment, out come
:mod:`results <backport.runner.results>`. Uses ``checkout`` (to lay a tree out), ``selection``
(names).
"""
