"""Did every hunk land in the class and function that it came from? (design, must 2)

In come a file before and after, out come places, by name. Uses ``source``, ``patch``.
"""
