"""MAY IT? The stable-branch policy. In come facts about commits, out come findings.

One rule, one function; ``table.py`` names them all. Nothing here asks git: the facts are gathered
by ``backport/linting.py``. Uses ``series`` (the grammar of messages) only.
"""
