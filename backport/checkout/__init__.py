"""WHERE: the repository that is fixed; the only room that talks to git."""
