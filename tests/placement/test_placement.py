"""Where hunks land, told from what the real git made of them, and whether they belong there."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backport.patch.model import Hunk
from backport.patch.reader import parse_patch
from backport.placement.check import UNTOLD, Placed, Versions, place_hunks
from backport.placement.landing import follow, pieces_of, split_lines
from backport.source.outline import outline
from gitrepo import Repo


def hunks_of(repo: Repo, before: str, after: str, path: str, *how: str) -> tuple[Hunk, ...]:
    """Have git compare two versions of a file."""
    patch = repo.diff(repo.commit("p", {path: before}), repo.commit("q", {path: after}), *how)
    return parse_patch(patch, Path("x.patch")).files[0].hunks


def applied(repo: Repo, before: str, after: str, base: str, path: str, *how: str) -> Versions:
    """Have git apply the difference to the base, as exactly as it can."""
    patch = repo.diff(repo.commit("p", {path: before}), repo.commit("q", {path: after}), *how)
    repo.commit("t", {path: base})
    repo.git("apply", "-", stdin=patch)
    return Versions(base.encode(), (repo.path / path).read_bytes())


def merged(repo: Repo, before: str, after: str, base: str) -> Versions:
    """Have git merge the difference into the base; a conflict fails the test."""
    repo.write({"p": before, "q": after, "t": base})
    repo.git("merge-file", "t", "p", "q")
    return Versions(base.encode(), (repo.path / "t").read_bytes())


def place(
    repo: Repo,
    before: str,
    after: str,
    base: str,
    *how: str,
    path: str = "nova/x.py",
    known: bool = True,
    merge: bool = False,
) -> tuple[Placed, ...]:
    """Apply the difference between two versions to a base, and place its hunks."""
    hunks = hunks_of(repo, before, after, path, *how)
    if merge:
        target = merged(repo, before, after, base)
    else:
        target = applied(repo, before, after, base, path, *how)
    source = Versions(before.encode(), after.encode()) if known else None
    return place_hunks(path, hunks, target, source)


def summary(placed: tuple[Placed, ...]) -> list[tuple[int, str] | None]:
    """Line and home of each hunk; fails where one is not at home."""
    assert [one.complaint for one in placed] == [""] * len(placed)
    return [
        (one.placement.landed_line, one.placement.home) if one.placement else None for one in placed
    ]


# The example of which `git am` makes a wrong commit and exits 0.
SAME = "".join(f"        {name} = {n}\n" for n, name in enumerate("abcdefg", start=1))
T0 = "class T0(object):\n    x = 0\n\n    def y(self):\n" + SAME
T1 = "class T1(object):\n    x = 1\n\n    def y(self):\n" + SAME


OLD = T0 + "        print a\n"


def fixed(text: str, old: str = "d = 4", new: str = "d = 44") -> str:
    assert old in text
    return text.replace(old, new, 1)


def test_a_hunk_in_a_look_alike_class_is_not_at_home(repo: Repo) -> None:
    (placed,) = place(repo, f"{T0}\n\n{T1}", f"{fixed(T0)}\n\n{T1}", T1)
    assert placed.complaint == "belongs in T0.y, landed in T1.y"
    assert placed.wrong_home == ("T0.y", "T1.y")


def test_where_the_blob_is_unknown_the_heading_tells(repo: Repo) -> None:
    before, after = f"{T0}\n\n{T1}", f"{fixed(T0)}\n\n{T1}"
    (placed,) = place(repo, before, after, T1, known=False)
    assert placed.complaint == "belongs in T0, landed in T1.y"
    (placed,) = place(repo, before, after, f"{T1}\n\n{T0}", known=False)
    assert placed.complaint == "belongs in T0, landed in T1.y"
    (placed,) = place(repo, before, after, f"import a\n{T0}\n\n{T1}", known=False)
    assert placed.complaint == ""


def test_what_the_hunk_shows_belongs_to_the_name(repo: Repo) -> None:
    filler = "    z = 0\n" * 5
    first, second = T0.replace("    x = 0\n", filler), T1.replace("    x = 1\n", filler)
    before = f"{first}\n\n{second}"
    after = fixed(before, "a = 1", "a = 11")
    (placed,) = place(repo, before, after, second, known=False)
    assert placed.complaint == "belongs in T0.y, landed in T1.y"


def test_an_offset_within_its_home_is_told_and_is_fine(repo: Repo) -> None:
    (placed,) = place(repo, f"{T0}\n\n{T1}", f"{T0}\n\n{fixed(T1)}", f"import a\nimport b\n\n{T1}")
    assert summary((placed,)) == [(8, "T1.y")]
    assert placed.placement is not None
    assert (placed.placement.wanted_line, placed.placement.offset) == (18, -10)


TOP = "import a\nimport b\nimport c\n\nONE = 1\nTWO = 2\nTHREE = 3\nFOUR = 4\n\n\n"
WHOLE = f"{TOP}{T0}\n\n{T1}"


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("old", "new", "home"),
    [
        ("        a = 1\n", "        a = 11\n", "T0.y"),
        # A new method has the home that it was put into, and so has a new class.
        ("    def y", "    def new(self):\n        pass\n\n    def y", "T0"),
        ("class T1", "class New:\n    n = 1\n\n\nclass T1", ""),
        # A method and a class that the patch renames.
        ("    def y", "    def renamed", "T0"),
        ("class T0", "class Renamed", ""),
        # Code of the module.
        ("TWO = 2\n", "TWO = 22\n", ""),
        ("THREE = 3\n", "", ""),
        # A decorator is its function's.
        ("    def y", "    @deco\n    def y", "T0.y"),
        # Python 2.
        ("        c = 3\n", "        print c\n", "T0.y"),
        # Only a blank line.
        ("        c = 3\n", "        c = 3\n\n", "T0.y"),
    ],
)
def test_what_is_at_home(repo: Repo, old: str, new: str, home: str, known: bool) -> None:
    (placed,) = place(repo, WHOLE, fixed(WHOLE, old, new), f"# more\n{WHOLE}", known=known)
    assert placed.complaint == ""
    assert placed.placement is not None
    assert placed.placement.home == home
    assert placed.placement.offset == 1


def test_a_new_method_in_another_class_is_not_at_home(repo: Repo) -> None:
    before = f"{T0}\n\n{T1}"
    after = fixed(before, "    def y", "    def new(self):\n        return 1\n\n    def y")
    (placed,) = place(repo, before, after, f"{T1}\n\nx = 1\n", "-U1")
    assert placed.complaint == "belongs in T0, landed in T1"


def test_a_class_with_another_name_is_another_home(repo: Repo) -> None:
    (placed,) = place(repo, T0, fixed(T0), T0.replace("T0", "Renamed"))
    assert placed.complaint == "belongs in T0.y, landed in Renamed.y"


def test_a_hunk_over_several_scopes_is_compared_line_by_line(repo: Repo) -> None:
    before = "class A:\n    def f(self):\n        a = 1\n\n"
    before += "    def g(self):\n        z = 0\n        b = 2\n"
    after = before.replace("a = 1", "a = 11").replace("b = 2", "b = 22")
    assert summary(place(repo, TOP + before, TOP + after, f"#\n{TOP}{before}")) == [(11, "A.f")]
    base = before.replace("class A:\n", "class A:\n    x = 1\n").replace("def g", "def h")
    (placed,) = place(repo, before, after, base, merge=True, known=True)
    assert placed.complaint == "belongs in A.g, landed in A.h"


def test_a_hunk_that_left_its_class_for_the_module_is_not_at_home(repo: Repo) -> None:
    before = "class A:\n    x = 1\n\n    y = 2\n\n    z = 3\n"
    base = "if True:\n    x = 1\n\n    y = 2\n\n    z = 3\n"
    (placed,) = place(repo, before, before.replace("y = 2", "y = 22"), base, "-U2")
    assert placed.complaint == "belongs in A, landed in the module itself"


LISTS = "".join(f"def {n}():\n    pass\n\n\nregister(\n    1,\n    2,\n    3)\n\n\n" for n in "abc")


def test_look_alikes_of_a_module_are_told_apart_by_what_is_around_them(repo: Repo) -> None:
    end = "def e():\n    pass\n"
    (placed,) = place(
        repo,
        LISTS + end,
        fixed(LISTS + end, "    2,\n", "    2, 2,\n"),
        LISTS.split("def b")[1].join(["def b", end]),
    )
    assert placed.complaint == "belongs in the lines after a, landed in the lines after b"
    (placed,) = place(repo, LISTS, fixed(LISTS, "    2,\n", "    2, 2,\n"), f"import a\n{LISTS}")
    assert placed.complaint == ""
    assert placed.placement is not None
    assert placed.placement.lookalikes == (15, 25)


def test_code_of_a_module_may_move_where_nothing_looks_like_it(repo: Repo) -> None:
    head = "import a\n\nONE = 1\nTWO = 2\nTHREE = 3\n\n\n"
    (placed,) = place(
        repo, f"{T0}\n\n{head}{T1}", f"{T0}\n\n{fixed(head, 'TWO = 2', 'TWO = 22')}{T1}", head
    )
    assert placed.complaint == ""


def test_look_alikes_in_the_same_function_are_named(repo: Repo) -> None:
    block = "        if x:\n            a = 1\n            b = 2\n            c = 3\n"
    body = "class A:\n    def f(self):\n" + block * 3 + "\n    def g(self):\n" + block
    (placed,) = place(repo, body, fixed(body, "b = 2", "b = 22"), f"# more\n{body}", "-U1")
    assert placed.placement is not None
    assert placed.placement.landed_line == 5
    assert placed.placement.lookalikes == (9, 13)  # and not that of A.g


NUMBERED = "".join(f"    x{n} = {n}\n" for n in range(30))
LONG = f"class A:\n{NUMBERED}"


def test_a_hunk_that_is_in_already_has_no_landing(repo: Repo) -> None:
    after = LONG.replace("x2 = 2\n", "x2 = 22\n").replace("x25 = 25\n", "x25 = 225\n")
    base = LONG.replace("x2 = 2\n", "x2 = 22\n")
    first, second = place(repo, LONG, after, base, merge=True)
    assert first.placement is None
    assert second.placement is not None
    assert (second.placement.landed_line, second.placement.home) == (24, "A")
    everything = place(repo, LONG, after, after, merge=True)
    assert [one.placement for one in everything] == [None, None]


def test_a_hunk_of_which_a_part_is_in_already_has_landed(repo: Repo) -> None:
    after = LONG.replace("x2 = 2\n", "x2 = 22\n").replace("x5 = 5\n", "x5 = 55\n")
    base = "# new\n" + LONG.replace("x2 = 2\n", "x2 = 22\n")
    assert summary(place(repo, LONG, after, base, merge=True)) == [(2, "A")]


def test_an_insertion_that_is_in_already_is_not_taken_for_a_later_one(repo: Repo) -> None:
    after = LONG.replace("x2 = 2\n", "x2 = 2\n\n").replace("x25 = 25\n", "x25 = 25\n\n")
    base = LONG.replace("x2 = 2\n", "x2 = 2\n\n")
    first, second = place(repo, LONG, after, base, merge=True)
    assert first.placement is None
    assert second.placement is not None
    assert second.placement.landed_line == 26


def test_hunks_that_a_merge_brings_together_are_told_apart(repo: Repo) -> None:
    after = LONG.replace("x5 = 5\n", "x5 = 55\n").replace("x15 = 15\n", "x15 = 115\n")
    base = LONG
    for n in range(7, 14):
        base = base.replace(f"    x{n} = {n}\n", "")
    assert summary(place(repo, LONG, after, base, merge=True)) == [(4, "A"), (7, "A")]


def test_hunks_that_git_put_in_another_order_are_found_out(repo: Repo) -> None:
    first, second = (LONG.replace("class A", f"class {name}").replace("x5 =", f"{name} =")
                     for name in "BC")  # fmt: skip
    before = first + second
    after = before.replace("B = 5", "B = 55").replace("C = 5", "C = 55")
    base = second.replace("class C", "class B") + first.replace("class B", "class C")
    hunks = hunks_of(repo, before, after, "x.py", "-U1")
    changed = base.replace("B = 5", "B = 55").replace("C = 5", "C = 55")
    target, source = (
        Versions(a.encode(), b.encode()) for a, b in ((base, changed), (before, after))
    )
    assert follow(pieces_of(hunks), split_lines(target.before), split_lines(target.after)) is None
    assert [one.complaint for one in place_hunks("x.py", hunks, target, source)] == [
        "belongs in B, landed in C",
        "belongs in C, landed in B",
    ]
    unknown = place_hunks("x.py", hunks, target)
    assert [one.complaint for one in unknown] == [
        f"belongs in {UNTOLD}, landed in C",
        f"belongs in {UNTOLD}, landed in B",
    ]


SECTIONS = "".join(
    f"{name}\n  a: 1\n  b: 2\n  c: 3\n  d: 4\n" for name in ("alpha", "beta", "gamma")
)


@pytest.mark.parametrize("known", [True, False])
def test_other_files_are_told_apart_by_their_headings(repo: Repo, known: bool) -> None:
    after = fixed(SECTIONS, "c: 3", "c: 33")
    base = SECTIONS[SECTIONS.index("beta") :]
    (placed,) = place(repo, SECTIONS, after, base, "-U1", path="x.yaml", known=known)
    assert placed.complaint == "belongs in alpha, landed in beta"
    (placed,) = place(repo, SECTIONS, after, "zeta\n" + SECTIONS, "-U1", path="x.yaml", known=known)
    assert placed.complaint == ""


def test_the_sections_of_ini_files_are_homes(repo: Repo) -> None:
    text = "".join(f"[{name}]\nname = x\nvalue = 1\nother = 2\n\n" for name in ("api", "db", "vnc"))
    after = fixed(text, "value = 1", "value = 11")
    (placed,) = place(repo, text, after, text[text.index("[db]") :], "-U1", path="nova.conf")
    assert placed.complaint == "belongs in [api], landed in [db]"
    (placed,) = place(repo, text, after, f"# more\n{text}", "-U1", path="nova.conf")
    assert placed.placement is not None
    assert (placed.complaint, placed.placement.home) == ("", "[api]")


def test_the_titles_of_prose_are_homes(repo: Repo) -> None:
    text = "".join(
        f"{title}\n{'-' * len(title)}\n\nIt changed\nthe API.\n\n  Code\n\n"
        for title in ("2.1", "2.2")
    )
    after = fixed(text, "  Code", "  Code 1")
    (placed,) = place(repo, text, after, text[text.index("2.2") :], "-U1", path="history.rst")
    assert placed.complaint == "belongs in 2.1, landed in 2.2"
    base = f"2.0\n---\n\n{text}".replace("changed\nthe API", "changed a\nlot", 1)
    (placed,) = place(repo, text, after, base, "-U1", path="history.rst")
    assert summary((placed,)) == [(9, "2.1")]


def test_a_flat_list_has_no_homes_to_mistake(repo: Repo) -> None:
    before = "".join(f"package{n}>=1.{n}\n" for n in range(20))
    after = before.replace("package12>=1.12", "package12>=1.13")
    base = before.replace("package8>=1.8\n", "package8>=1.7\n").replace("package3>=1.3\n", "")
    (placed,) = place(repo, before, after, base, path="requirements.txt")
    assert placed.complaint == ""


def test_a_heading_that_was_reworded_is_the_same_home(repo: Repo) -> None:
    before = "int\nf(int a)\n{\n    int b;\n    b = 1;\n    b = 2;\n    b = 3;\n    return b;\n}\n"
    base = before.replace("f(int a)", "f(int a, int c)")
    (placed,) = place(repo, before, before.replace("b = 3", "b = 33"), base, path="x.c")
    assert placed.complaint == ""


def test_python_that_cannot_be_read_is_told_apart_by_its_headers(repo: Repo) -> None:
    broken = "<<<<<<< ours\n"
    before = f"{broken}{T0}\n\n{T1}"
    (placed,) = place(repo, before, f"{broken}{fixed(T0)}\n\n{T1}", f"{broken}{T1}")
    assert placed.complaint == "belongs in T0.y, landed in T1.y"
    (placed,) = place(repo, f"{broken}{T0}", f"{broken}{fixed(T0)}", f"{broken}{broken}{T0}")
    assert summary((placed,)) == [(7, "T0.y")]


@pytest.mark.parametrize(
    ("heading", "complaint"),
    [
        ("", ""),
        ("class T1(object):", ""),
        ("class T1(object, Reworded):", ""),
        ("    def y(self):", ""),
        ("def y(self, more):", ""),
        ("class T0(object):", "belongs in T0, landed in T1.y"),
        ("    def z(self):", "belongs in z, landed in T1.y"),
        ("async def z():", "belongs in z, landed in T1.y"),
        ("CONF = cfg.CONF", "belongs in CONF = cfg.CONF, landed in T1.y"),
        ("import a", "belongs in import a, landed in T1.y"),
    ],
)
def test_headings_of_any_make(repo: Repo, heading: str, complaint: str) -> None:
    base = f"import a\n{T1}"
    (hunk,) = hunks_of(repo, base, fixed(base), "x.py")
    hunk = Hunk(hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count, heading, hunk.lines)
    (placed,) = place_hunks("x.py", [hunk], Versions(base.encode(), fixed(base).encode()))
    assert placed.complaint == complaint


def test_a_heading_above_code_of_the_module_says_little(repo: Repo) -> None:
    base = f"{T1}\n\nONE = 1\nTWO = 2\n\n\n{T0}"
    (hunk,) = hunks_of(repo, base, base.replace("TWO = 2", "TWO = 22"), "x.py", "-U1")
    hunk = Hunk(
        hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count, "class Z:", hunk.lines
    )
    target = Versions(base.encode(), base.replace("TWO = 2", "TWO = 22").encode())
    assert place_hunks("x.py", [hunk], target)[0].complaint == ""


def test_files_without_hunks_and_new_files_are_fine(repo: Repo) -> None:
    assert place_hunks("x.py", (), Versions(b"a\n", b"a\n")) == ()
    hunks = hunks_of(repo, "", T0, "x.py")
    assert summary(place_hunks("x.py", hunks, Versions(b"", T0.encode()))) == [(1, "")]
    hunks = hunks_of(repo, T0, "", "x.py")
    source = Versions(T0.encode(), b"")
    assert summary(place_hunks("x.py", hunks, source, source)) == [(1, "")]


@pytest.mark.parametrize(
    "text",
    [
        fixed(T0).removesuffix("\n"),
        fixed(T0).replace("\n", "\r\n"),
        fixed(T0).replace("b = 2", "b = '\x0c \u2028 ü'"),
    ],
    ids=["no newline", "crlf", "odd line ends"],
)
def test_lines_are_those_of_git(repo: Repo, text: str) -> None:
    before = text.replace("44", "4")
    assert summary(place(repo, before, text, before)) == [(5, "T0.y")]


WORDS = ["x = 1", "y = 2", "return x", "", "# c", "call(x)", "z = x + y"]


def some_module(rng: random.Random) -> list[str]:
    lines = ["import os", ""]
    for c in range(rng.randint(1, 3)):
        lines += [f"class C{c}(object):", "    attr = 1", ""]
        for f in range(rng.randint(1, 4)):
            lines += some_function(rng, f"f{f}")
    return lines


def some_function(rng: random.Random, name: str) -> list[str]:
    body = [f"        {rng.choice(WORDS)}".rstrip() for _ in range(rng.randint(1, 7))]
    return [f"    def {name}(self):", *body, "        return 1", ""]


def edited(rng: random.Random, lines: list[str], often: int) -> list[str]:
    lines = list(lines)
    for _ in range(often):
        at = rng.randrange(2, len(lines))
        plain = [n for n, line in enumerate(lines) if line.startswith("        ")]
        starts = [n for n, line in enumerate(lines) if line.startswith("    def")]
        what = rng.choice(["insert", "delete", "replace", "function"])
        if what == "insert" and lines[at].startswith("        "):
            lines[at:at] = [f"        {rng.choice(WORDS)}".rstrip()]
        elif what == "delete" and len(plain) > 5:
            del lines[rng.choice(plain)]
        elif what == "replace":
            lines[rng.choice(plain)] = f"        {rng.choice(WORDS)}  # {rng.random():.1f}"
        elif what == "function":
            at = rng.choice(starts)
            lines[at:at] = some_function(rng, f"n{rng.randint(0, 2)}")
    return lines


def compared(repo: Repo, before: str, after: str, *how: str) -> tuple[Hunk, ...]:
    """Have git compare two versions, quicker."""
    repo.write({"p": before, "q": after})
    text = repo.git("diff", "--no-index", *how, "p", "q", check=False) + "\n"
    patch = text.replace("a/p", "a/x.py").replace("b/q", "b/x.py")
    return parse_patch(patch.encode(), Path("x.patch")).files[0].hunks


def gains(before: str, after: str) -> Counter[tuple[str, str]]:
    """Count which lines there are more of, after than before, in which home."""
    count: Counter[tuple[str, str]] = Counter()
    for text, by in ((after, 1), (before, -1)):
        found = outline(text.encode())
        assert found is not None
        for number, line in enumerate(text.split("\n"), start=1):
            count[line.strip(), found.home(number)] += by
    return count


RANDOM = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
HOW = st.sampled_from([(), ("--patience",), ("--no-indent-heuristic",), ("-U1",)])


@RANDOM
@given(st.integers(0, 2**32), HOW)
def test_a_patch_is_at_home_where_it_was_made(repo: Repo, seed: int, how: tuple[str, ...]) -> None:
    rng = random.Random(seed)
    lines = some_module(rng)
    before, after = ("\n".join(each) + "\n" for each in (lines, edited(rng, lines, 4)))
    if before == after:
        return
    hunks = compared(repo, before, after, *how)
    source = Versions(before.encode(), after.encode())
    for known in (source, None):
        for one in place_hunks("x.py", hunks, source, known):
            assert one.complaint == ""
            assert one.placement is not None
            assert one.placement.offset == 0


@RANDOM
@given(st.integers(0, 2**32), HOW)
def test_no_line_changes_its_home_without_a_complaint(
    repo: Repo, seed: int, how: tuple[str, ...]
) -> None:
    """Counted, not followed, what git merged is where it was changed, or is complained about."""
    rng = random.Random(seed)
    lines = some_module(rng)
    before, after, base = (
        "\n".join(each) + "\n" for each in (lines, edited(rng, lines, 3), edited(rng, lines, 3))
    )
    if before == after:
        return
    hunks = compared(repo, before, after, *how)
    repo.write({"t": base})
    result = repo.git("merge-file", "-p", "--quiet", "t", "p", "q", check=False) + "\n"
    if "<<<<<<<" in result:
        return
    target, source = (
        Versions(old.encode(), new.encode()) for old, new in ((base, result), (before, after))
    )
    placed = place_hunks("x.py", hunks, target, source)
    wanted = gains(before, after)
    misplaced = [
        (line, home)
        for (line, home), gain in gains(base, result).items()
        if line and not min(wanted[line, home], 0) <= gain <= max(wanted[line, home], 0)
    ]
    assert bool(misplaced) == any(one.complaint for one in placed)
