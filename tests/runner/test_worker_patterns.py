"""Compiled regular expressions are handed on, and are what they would have been."""

from __future__ import annotations

from pathlib import Path

import pytest

from tinyproject import Project, make_project

MANY = """
# coding: utf-8
import re, sre_compile, unittest
COMPILED = []
ONES = [(u'(?P<a>x%d)\\\\.(\\u00fc|[a-f\\u0400-\\u04ff]+)?' % n, re.I) for n in range(120)]
ONES += [('\\xfc%d' % n, 0) for n in range(20)] + [('(?iu)z%d' % n, re.M) for n in range(20)]
ONES += [('l%d' % n, re.LOCALE) for n in range(3)]
class T(unittest.TestCase):
    def setUp(self):
        real = sre_compile.compile
        self.addCleanup(setattr, sre_compile, 'compile', real)
        sre_compile.compile = lambda p, flags=0: COMPILED.append(p) or real(p, flags)
    def test(self):
        found = [re.compile(*one) for one in ONES]
        self.assertEqual(EXPECTED, len(COMPILED))
        sre_compile.compile = lambda p, flags=0: self.fail()
        for one, (pattern, flags) in zip(found, ONES):
            self.assertEqual((type(pattern), pattern), (type(one.pattern), one.pattern))
        match = found[7].match(u'X7.\\u0430\\u0431')
        self.assertEqual((u'X7', {'a': u'X7'}), (match.group('a'), match.groupdict()))
        self.assertEqual((2, None), (match.lastindex, match.lastgroup))
        self.assertEqual((2, {'a': 1}), (found[7].groups, found[7].groupindex))
        self.assertEqual(re.I, found[7].flags & re.I)
        self.assertTrue(found[125].match('\\xfc5'))
        self.assertEqual(re.I | re.U | re.M, found[145].flags)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project("2.7", tmp_path)


def text(compiled: int) -> dict[str, str]:
    return {"tests/test_it.py": MANY.lstrip().replace("EXPECTED", str(compiled))}


def test_the_next_process_compiles_nothing_but_what_depends_on_the_locale(project: Project) -> None:
    first = project.run(text(163))
    assert first.green, first.results
    second = project.run(text(3))
    assert second.green, second.results
    assert second.notes == ()


@pytest.mark.parametrize("damage", [b"", b"x\n{}", b"\xff" * 100])
def test_a_damaged_file_is_not_used(project: Project, damage: bytes) -> None:
    project.run(text(163))
    kept = list((project.workshop.cache / "keepsakes").iterdir())
    assert len(kept) == 1
    kept[0].write_bytes(damage)
    assert project.run(text(163)).green


def test_few_new_ones_are_not_told_of(project: Project) -> None:
    project.run({"tests/test_it.py": MANY.lstrip().replace("EXPECTED", "0").replace("120", "9")})
    assert not (project.workshop.cache / "keepsakes").exists()
