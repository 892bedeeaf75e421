"""WHERE: the repository that is fixed, and all of git; the only room that talks to it.

In come paths, URLs and ids; out come objects as values. New objects go to a scratch repository,
and from there to the checkout by one transaction. Uses ``series`` (values), ``download``.
"""
