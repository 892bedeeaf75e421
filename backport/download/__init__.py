"""FROM WHERE: files from the package index, asked for as the user's pip would, by checksum.

In come a name, a version and checksums, out come files. Uses no other room.
"""
