"""SAY: one document of what happened, and views over it.

In come values of the other rooms, out come text, pages and JSON. It knows no git, no process and
no clock.
"""
