"""Test classes read from source, never imported: their bases and subclasses, in all modules.

What is found is what Python would find where names are bound once and by plain means: imports
(relative ones of Python 2 and ``*`` included), ``class`` statements, ``with_metaclass(M, B)``.
A base under a name of its own making (``Base = make()``) ends the search there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from backport.source.logical_lines import decode
from backport.source.outline import Outline, Scope, outline

#: How far imports of imports, and subclasses of subclasses, are followed.
DEPTH = 12


# Of unittest, testtools and testscenarios: a class of these names brings no tests of its own.
_NO_TESTS = frozenset(["object", "TestCase", "IsolatedAsyncioTestCase", "WithScenarios"])

# Of ddt, and of parameterized.
_MAKERS = frozenset(["data", "file_data", "idata", "named_data", "unpack", "expand"])


@dataclass(frozen=True)
class Sources:
    """The files of a tree, as the caller has them.

    :param read: a file by its path; None where the tree has none
    :param holding: the paths of the Python files, of those where tests are looked for, in which
        a word stands; see :func:`holding_by_reading`
    """

    read: Callable[[str], bytes | None]
    holding: Callable[[str], Iterable[str]]


def holding_by_reading(
    read: Callable[[str], bytes | None], paths: Iterable[str]
) -> Callable[[str], Iterable[str]]:
    """Make a :attr:`Sources.holding` that reads all files when first asked, and keeps them."""
    kept: dict[str, bytes] = {}

    def holding(word: str) -> Iterable[str]:
        if not kept:
            kept.update({path: read(path) or b"" for path in paths if path.endswith(".py")})
        needle = word.encode()
        return [path for path, source in kept.items() if needle in source]

    return holding


@dataclass(frozen=True)
class Module:
    """A module: what it is called, and what of it stands in its source."""

    path: str
    source: bytes
    outline: Outline

    @property
    def name(self) -> str:
        """Its dotted name."""
        return module_name(self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return decode(self.source)[0].split("\n")

    @cached_property
    def classes(self) -> dict[str, Scope]:
        """Its own classes; of two of one name, the last."""
        scopes = self.outline.scopes
        return {s.name: s for s in scopes if s.kind == "class" and "." not in s.name}

    @cached_property
    def imports(self) -> dict[str, str]:
        """The names that imports bind, and what they stand for; ``*`` is a list, by blanks."""
        return dict(_imports(decode(self.source)[0], self.path))

    def methods(self, name: str) -> dict[str, Scope]:
        """Return the methods of a class; of two of one name, the last."""
        prefix = f"{name}."
        return {
            scope.name.removeprefix(prefix): scope
            for scope in self.outline.scopes
            if scope.kind == "function"
            and scope.name.startswith(prefix)
            and "." not in scope.name.removeprefix(prefix)
        }


@dataclass(frozen=True, order=True)
class ClassRef:
    """A class of a module."""

    path: str
    name: str

    @property
    def id(self) -> str:
        """As unittest takes it."""
        return f"{module_name(self.path)}.{self.name}"


def module_name(path: str) -> str:
    """Return the dotted name of a module, from the path of its file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_test_name(name: str) -> bool:
    """Whether unittest takes a method of this name for a test."""
    return name.startswith("test")


def has_no_tests(base: str) -> bool:
    """Whether a class from elsewhere is one of those that have no tests of their own."""
    return base.rpartition(".")[2] in _NO_TESTS


class Classes:
    """The classes of a tree; each module is read once."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._modules: dict[str, Module | None] = {}
        self._lineages: dict[ClassRef, list[ClassRef | str]] = {}
        self._texts: dict[ClassRef, Mapping[str, str]] = {}

    def module(self, path: str) -> Module | None:
        """Return a module; None where there is none, or it is no Python."""
        if path not in self._modules:
            source = self._sources.read(path)
            found = outline(source) if source is not None else None
            module = Module(path, source, found) if source is not None and found else None
            self._modules[path] = module
        return self._modules[path]

    def locate(self, dotted: str) -> tuple[Module, tuple[str, ...]] | None:
        """Find the module that a dotted name begins with, and the rest of the name."""
        parts = dotted.split(".")
        for end in range(len(parts), 0, -1):
            stem = "/".join(parts[:end])
            for path in (f"{stem}.py", f"{stem}/__init__.py"):
                module = self.module(path)
                if module:
                    return module, tuple(parts[end:])
        return None

    def resolve(self, module: Module, name: str, depth: int = DEPTH) -> ClassRef | str:
        """Find the class that a dotted name means in a module; its full name if it is elsewhere."""
        head, _, rest = name.partition(".")
        if not rest and head in module.classes:
            return ClassRef(module.path, head)
        if depth and head in module.imports:
            return self._resolve_dotted(module, _dotted(module.imports[head], rest), depth)
        for target in module.imports.get("*", "").split() if depth else ():
            found = self._resolve_dotted(module, _dotted(target, name), depth)
            if isinstance(found, ClassRef):
                return found
        return name

    def _resolve_dotted(self, module: Module, dotted: str, depth: int) -> ClassRef | str:
        package = ".".join(module.path.split("/")[:-1])
        # Python 2 looks beside the module first, where the import does not say otherwise.
        for full in (dotted, _dotted(package, dotted)):
            place = self.locate(full)
            if place and place[1]:
                return self.resolve(place[0], ".".join(place[1]), depth - 1)
        return dotted

    def bases(self, ref: ClassRef) -> list[ClassRef | str]:
        """Return the bases of a class; those that are not in the tree by their full names."""
        module = self.module(ref.path)
        scope = module.classes.get(ref.name) if module else None
        if module is None or scope is None:
            return []
        found = (self.resolve(module, name) for base in scope.bases for name in _names(base))
        return [base for base in found if base != ref]

    def lineage(self, ref: ClassRef) -> list[ClassRef | str]:
        """Return a class and its bases, all of them, in the order in which methods are looked up.

        Where a base is shared, the order is that of its last mention, as in Python's own.
        """
        if ref not in self._lineages:
            self._lineages[ref] = [ref]  # what is seen of it from within, if it is its own base
            walked: list[ClassRef | str] = [ref]
            for base in self.bases(ref):
                walked += [base] if isinstance(base, str) else self.lineage(base)
            last = {base: at for at, base in enumerate(walked)}
            self._lineages[ref] = sorted(last, key=lambda base: last[base])
        return self._lineages[ref]

    def is_test(self, ref: ClassRef) -> bool:
        """Whether a class is a test case that has tests: what it is derived from in the end tells.

        What comes from elsewhere may have tests, unless it is known to have none.
        """
        lineage = self.lineage(ref)
        elsewhere = [base for base in lineage if isinstance(base, str)]
        return any("Test" in base.rpartition(".")[2] for base in elsewhere) and (
            not all(map(has_no_tests, elsewhere))
            or any(is_test_name(method) for base in lineage for method in self._texts_of(base))
        )

    def naming(self, ref: ClassRef, names: Iterable[str]) -> tuple[frozenset[str], bool]:
        """Return the methods, inherited ones too, that name one of the names, or one that does.

        :returns: and whether the class itself, or a base, does so outside its methods
        """
        found, wanted = frozenset[str](), list(names)
        texts, hidden = list[tuple[str, str]](), set[str]()
        for base in self.lineage(ref):
            seen = [each for each in self._texts_of(base).items() if each[0] not in hidden]
            texts += seen
            hidden |= {name for name, text in seen if name and f".{name}(" not in text}
        while wanted:
            pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, wanted))})\b")
            wanted = [
                method
                for method, text in texts
                if method not in found and pattern.search(text.replace(f"def {method}", "", 1))
            ]
            found |= {*wanted}
            wanted = [method for method in wanted if method]  # "" is what is outside of methods
        return found - {""}, "" in found

    def _texts_of(self, base: ClassRef | str) -> Mapping[str, str]:
        """Return the code of a class by its methods; under "" what is outside of them."""
        module = self.module(base.path) if isinstance(base, ClassRef) else None
        if module is None or isinstance(base, str):
            return {}
        if base not in self._texts:
            methods = module.methods(base.name)
            inside = {line for method in methods.values() for line in method.lines}
            body = [line for line in module.classes[base.name].lines if line not in inside]
            self._texts[base] = {
                name: "\n".join(module.lines[line - 1] for line in lines)
                for name, lines in [("", body), *((n, m.lines) for n, m in methods.items())]
            }
        return self._texts[base]

    def defines(self, ref: ClassRef, method: str) -> bool:
        """Whether a class itself has a method."""
        module = self.module(ref.path)
        return module is not None and method in module.methods(ref.name)

    def reaches(self, ref: ClassRef, method: str, owner: ClassRef) -> bool:
        """Whether a method of ``ref`` is that of ``owner``, or calls it on the way there."""
        for base in self.lineage(ref):
            if base == owner:
                return True
            if isinstance(base, ClassRef) and not self._passes_on(base, method):
                return False
        return False

    def _passes_on(self, ref: ClassRef, method: str) -> bool:
        module = self.module(ref.path)
        own = module.methods(ref.name).get(method) if module else None
        if module is None or own is None:
            return True
        text = "\n".join(module.lines[line - 1] for line in own.lines)
        return re.search(rf"\.{re.escape(method)}\(", text) is not None

    def is_made(self, ref: ClassRef, method: str) -> bool:
        """Whether a test method is the pattern of others, whose names only its class knows."""
        for base in self.lineage(ref):
            module = self.module(base.path) if isinstance(base, ClassRef) else None
            if module and isinstance(base, ClassRef) and method in module.methods(base.name):
                made = module.methods(base.name)[method].decorators
                return any(each.rpartition(".")[2] in _MAKERS for each in made)
        return False

    def family(self, ref: ClassRef) -> list[ClassRef]:
        """Return a class and all classes that are derived from it."""
        family = {ref: 0}
        queue = [ref]
        for parent in queue:
            if family[parent] < DEPTH:
                children = [child for child in self._children(parent) if child not in family]
                family.update(dict.fromkeys(children, family[parent] + 1))
                queue += children
        return queue

    def _children(self, parent: ClassRef) -> list[ClassRef]:
        paths = {parent.path, *self._sources.holding(parent.name)}
        name = parent.name.encode()
        mention = re.compile(rb"class\s[^:]*\b" + name + rb"\b|\b" + name + rb"\s+as\s")
        return [
            child
            for path in sorted(paths)
            if mention.search(self._sources.read(path) or b"")
            for child in self._classes_of(path)
            if parent in self.bases(child)
        ]

    def _classes_of(self, path: str) -> list[ClassRef]:
        module = self.module(path)
        return [ClassRef(path, name) for name in module.classes] if module else []


def _dotted(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def _names(base: str) -> list[str]:
    """Return the classes that a base is made of: ``with_metaclass(M,B)`` is of M and B."""
    inside = base.partition("(")[2]
    return re.findall(r"[A-Za-z_][\w.]*", inside) if inside else [base]


_NAMES = r"(\([^)]*\)|(?:[^\n\\;#]|\\\n)+)"
_IMPORT = re.compile(
    rf"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import\b|import\b)[ \t]*{_NAMES}", re.M
)
_NAME = re.compile(r"([\w.*]+)(?:\s+as\s+(\w+))?")


def _imports(text: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield what each import binds; one in a string does no harm."""
    stars: list[str] = []
    for origin, names in _IMPORT.findall(text):
        module = _absolute(origin, path)
        for name, alias in _NAME.findall(re.sub(r"#.*|\\\n", "", names)):
            if name == "*":
                stars.append(module)
            elif origin:
                yield alias or name, _dotted(module, name)
            else:  # "import a.b" binds a, and with "as c" it binds c to a.b
                yield (alias, name) if alias else (name.partition(".")[0],) * 2
    yield "*", " ".join(stars)


def _absolute(origin: str, path: str) -> str:
    """Return the module that a relative import means."""
    level = len(origin) - len(origin.lstrip("."))
    if not level:
        return origin
    package = path.split("/")[:-level]
    return _dotted(*package, origin[level:])
