"""Patches as values: in come bytes as people have them, out come files and hunks, or why not.

Everything that git must never see is refused here (design, must 7). Uses no other room.
"""
