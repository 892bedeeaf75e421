"""IN WHAT: the branch's interpreter and its locked packages, built once and kept.

In come a version and a lock, out comes an interpreter that has the lock's packages. Uses
``download``.
"""
