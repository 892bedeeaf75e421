"""Compiled regular expressions, handed from one test process to the next. For Python 2.7 alone.

nova's API has 1,600 patterns, and to compile them is a third of the first functional test of each
process. What a pattern compiles to is a function of the pattern, its flags and the interpreter, and
of nothing in the project; so it is kept, and the cache of the standard library's ``re`` is filled
with it before anything is imported. Python 3 has no such cache: it is bounded at 512, and the
internals differ from version to version.

Part of :mod:`backport.runner.worker`.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import absolute_import

import hashlib
import json
import re
import sys

# Keys are those of ``re._compile`` of 2.7.18, entries are made as ``sre_compile.compile`` does it.
_THERE = sys.version_info[0] == 2 and isinstance(getattr(re, "_cache", None), dict)
_TEXTS = (type(b""), type(b"".decode("ascii")))
_WORTH_IT = 100  # patterns; fewer new ones are compiled again rather than told of
_MOST = 5000  # patterns; some tests make ever new ones
NAME = "regular expressions"


def make_room():
    """Let ``re`` keep what it compiles: Python 2 keeps 100 patterns, then forgets them all."""
    re._MAXCACHE = max(getattr(re, "_MAXCACHE", 0), 100000)  # type: ignore[attr-defined]


class Patterns(object):
    """The patterns that are known to the tool.

    :param path: a file with what :meth:`put` of an earlier process returned, behind a line with its
        checksum; it may be missing, damaged, or None
    """

    def __init__(self, path):
        make_room()
        self._seen = 0
        self._told = []
        self._known = set()
        kept = _read(path) if _THERE and path else None
        if kept and kept["of"] == _interpreter():
            self._fill(kept["patterns"])

    def _fill(self, patterns):
        for entry in patterns:
            pattern, flags = _native(entry["text"], entry["pattern"]), entry["flags"]
            key = (type(pattern), pattern, flags)
            if key not in self._known:
                self._known.add(key)
                self._told.append(entry)
                re._cache[key] = _restored(pattern, entry), None  # type: ignore[attr-defined]
        self._seen = len(re._cache)  # type: ignore[attr-defined]

    def news(self):
        """Return the patterns that were compiled since, if they are many, else None."""
        if not _THERE or len(re._cache) - self._seen < _WORTH_IT:  # type: ignore[attr-defined]
            return None
        self._seen = len(re._cache)  # type: ignore[attr-defined]
        cached = list(re._cache.items())  # type: ignore[attr-defined]
        fresh = [key for key, entry in cached if self._is_news(key, entry[1])]
        if len(fresh) < _WORTH_IT or len(fresh) + len(self._known) > _MOST:
            return None
        self._known.update(fresh)
        return [[_TEXTS.index(key[0]), _plain(key[1]), key[2]] for key in fresh]

    def _is_news(self, key, locale):
        return locale is None and key[0] in _TEXTS and key not in self._known

    def put(self, keys):
        """Compile patterns that a worker tells of, for workers to come; return all there are."""
        self._fill([_compiled(text, pattern, flags) for text, pattern, flags in keys])
        return {"of": _interpreter(), "patterns": self._told}


def _read(path):
    try:
        with open(path, "rb") as file:
            checksum, _, said = file.read().partition(b"\n")
    except (IOError, OSError):
        return None
    sound = hashlib.sha256(said).hexdigest() == checksum.decode("ascii", "replace")
    return json.loads(said.decode("ascii")) if sound else None


def _interpreter():
    import _sre  # type: ignore[import-not-found]

    return "%s %d %d" % (sys.version, _sre.MAGIC, sys.maxunicode)


def _plain(pattern):
    return pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern


def _native(text, pattern):
    return pattern if text else pattern.encode("latin-1")


def _compiled(text, pattern, flags):
    """Return what is needed to have the compiled pattern again, as JSON takes it."""
    import sre_compile
    import sre_parse

    parsed = sre_parse.parse(_native(text, pattern), flags)
    return {
        "text": text,
        "pattern": pattern,
        "flags": flags,
        "all flags": flags | parsed.pattern.flags,  # type: ignore[attr-defined]
        "code": sre_compile._code(parsed, flags),  # type: ignore[attr-defined]
        "groups": parsed.pattern.groups - 1,  # type: ignore[attr-defined]
        "index": parsed.pattern.groupdict,  # type: ignore[attr-defined]
    }


def _restored(pattern, entry):
    import _sre

    groups = [None] * (entry["groups"] + 1)  # type: list[str | None]
    index = {str(name): number for name, number in entry["index"].items()}
    for name, number in index.items():
        groups[number] = name
    return _sre.compile(pattern, entry["all flags"], entry["code"], entry["groups"], index, groups)
