"""FROM WHERE? Files from the package index: asked for as pip would, taken by checksum."""
