"""WHICH: the targeted tests, read from sources and patches; nothing is imported.

In come trees' files and hunks, out come names of tests. Uses ``source``.
"""
