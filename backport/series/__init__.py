"""WHAT: the series. In come a folder's YAML and patches, out come values and messages.

The branch's data, the changes, and the messages built from them. Uses ``patch`` only.
"""
