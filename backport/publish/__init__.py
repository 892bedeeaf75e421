"""OUT: the branch that appears in the checkout, last."""
