"""FROM where: series imported from newer branches, conflicts explained, affected branches.

In: a scratch repository, the branches that the checkout has, a series. Out: values of
:mod:`backport.picking.model`. It uses ``apply``, ``checkout``, ``patch``, ``placement``,
``series`` and ``source``.
"""
