"""TAG: what the next release of a branch holds, which version it gets, and what is asked for it.

In come commits as values, and files of a checkout of openstack/releases; out come a version with
its reasons, notes, texts, checks. Uses ``policy``, ``series`` (values) and ``checkout``.
"""
