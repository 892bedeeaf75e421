"""WHAT: the series, its patches and its messages, as values."""
