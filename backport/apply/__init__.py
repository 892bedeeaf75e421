"""HOW: a series onto a base, as commit objects, without a work tree."""
