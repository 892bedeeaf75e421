"""What a patch would take away without saying so: files where it needs a folder, and folders."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backport.checkout.objects import FOLDER
from backport.checkout.scratch import Scratch
from backport.patch.model import LINK, FilePatch


def in_the_way(scratch: Scratch, tree: str, files: Sequence[FilePatch]) -> dict[str, str]:
    """Say, by a file's path, what of the branch is where a patch puts a file, or needs a folder.

    ``git apply --cached`` takes a whole folder away for a file of the same name, with exit
    status 0 (git 2.39.5), and a merge would say that the patch had meant it so.
    """
    put = [file.path for file in files if file.new_path and file.new_path != file.old_path]
    above = {path: [path[: slash.start()] for slash in re.finditer("/", path)] for path in put}
    if not put:
        return {}
    here = scratch.entries(tree, {part for path in put for part in (*above[path], path)})
    gone = {file.removes for file in files}
    found = {}
    for path in put:
        for folder in above[path]:
            if folder in here and here[folder].mode != FOLDER and folder not in gone:
                what = "a link" if here[folder].mode == LINK else "a file"
                found[path] = f"{folder} is {what} on the branch, and no folder"
        if path in here and here[path].mode == FOLDER:
            below = set(scratch.below(tree, [path])) - gone
            if below:
                found[path] = f"{path} is a folder on the branch, with {min(below)} in it"
    return found
