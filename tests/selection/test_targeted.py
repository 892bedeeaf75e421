"""From patches to tests, read from sources that are never imported."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backport.selection.targeted import ChangedFile, changed_tests
from backport.selection.test_classes import Sources, holding_by_reading

API = "nova/tests/unit/test_api.py"
CELLS = "nova/tests/unit/test_cells.py"

TREE = {
    "nova/__init__.py": "",
    "nova/test.py": """
        import testtools

        class TestCase(testtools.TestCase):
            def setUp(self):
                pass

            def flags(self, **kw):
                pass

        class NoDBTestCase(TestCase):
            USES_DB = False
        """,
    "nova/tests/__init__.py": "",
    "nova/tests/unit/__init__.py": "",
    "nova/tests/unit/base.py": """
        from nova import test

        class Base(test.TestCase):
            def setUp(self):
                super(Base, self).setUp()

            def _helper(self):
                return 1
        """,
    API: """
        # Copyright
        import mock

        from nova.tests.unit import (base,  # why
                                     base as the_base)
        from nova import test

        FAKE = {'a': 1,
                'b': 2}
        OTHER = FAKE['a']


        def make_one(x):
            return x


        def make_two():
            print make_one(2)


        class FakeThing(object):
            def one(self):
                return 1


        class _MixIn(object):
            size = 1

            def setUp(self):
                super(_MixIn, self).setUp()

            def _create(self):
                return 1

            def test_shared(self):
                try:
                    self._create()
                except (A, B), e:
                    raise

            @mock.patch('a.b')
            def test_other(self, patched):
                self.assertEqual(1, FAKE['a'])


        class APITestCase(_MixIn, test.NoDBTestCase):
            def test_own(self):
                make_two()


        class CellsTestCase(_MixIn, the_base.Base):
            def test_other(self):
                self.skipTest('no')


        class DerivedTestCase(APITestCase):
            def test_other(self):
                super(DerivedTestCase, self).test_other()
        """,
    CELLS: """
        from nova.tests.unit import test_api

        class FarTestCase(test_api.APITestCase):
            def test_far(self):
                pass
        """,
}
MODULE = "nova.tests.unit.test_api"
FAR = "nova.tests.unit.test_cells.FarTestCase"
ALL = (f"{MODULE}.APITestCase", f"{MODULE}.CellsTestCase", f"{MODULE}.DerivedTestCase")
DERIVED = (f"{MODULE}.APITestCase", f"{MODULE}.DerivedTestCase", FAR)  # and itself


def each(test: str) -> tuple[str, ...]:
    return tuple(f"{case}.{test}" for case in DERIVED)


def here(test: str) -> tuple[str, ...]:
    """The same, where what is in another module than the change is only touched."""
    return (*each(test)[:-1], *touched(each(test)[-1]))


def tree(**changed: str) -> dict[str, bytes]:
    return {path: textwrap.dedent(text).encode() for path, text in {**TREE, **changed}.items()}


def sources(files: dict[str, bytes]) -> Sources:
    tests = [path for path in files if path.startswith("nova/tests/")]
    return Sources(files.get, holding_by_reading(files.get, tests))


def selected(before: dict[str, bytes], after: dict[str, bytes]) -> tuple[str, ...]:
    """Return the tests of a change; those that it only touches with a "~" in front."""
    paths = [path for path in {**before, **after} if before.get(path) != after.get(path)]
    files = {path: ChangedFile(before.get(path), after.get(path)) for path in paths}
    found = changed_tests(files, sources(after))
    return (*found.own, *touched(*found.touched))


def touched(*tests: str) -> tuple[str, ...]:
    return tuple(f"~{test}" for test in tests)


def edit(old: str, new: str, path: str = API) -> tuple[str, ...]:
    """Select the tests of an edit of one file."""
    before = tree()
    text = before[path].decode()
    assert old in text
    return selected(before, {**before, path: text.replace(old, new, 1).encode()})


@pytest.mark.parametrize(
    ("old", "new", "tests"),
    [
        # A test of one class, and of the classes that are derived from it in other modules.
        ("        make_two()", "        make_two(1)",
         each("test_own")),
        # A test of a mixin: in each class that looks it up there.
        ("self._create()\n", "self._create(1)\n",
         (*(f"{test}.test_shared" for test in ALL), f"{FAR}.test_shared")),
        # Not where the class has another; but where that calls it.
        ("FAKE['a'])", "FAKE['b'])",
         each("test_other")),
        # Its decorators are its own.
        ("@mock.patch('a.b')", "@mock.patch('a.c')",
         each("test_other")),
        ("    def test_own", "    def test_new(self):\n        pass\n\n    def test_own",
         each("test_new")),
        # What all tests of a class may depend on.
        ("super(_MixIn, self).setUp()", "super(_MixIn, self).setUp(1)", touched(*ALL, FAR)),
        ("size = 1", "size = 2", touched(*ALL, FAR)),
        ("size = 1", "size = 1\n    more = 2", touched(*ALL, FAR)),
        ("class CellsTestCase(_MixIn, the_base.Base)", "class CellsTestCase(the_base.Base)",
         touched(f"{MODULE}.CellsTestCase")),
        # A helper: the tests that call it; those of other modules are only touched.
        ("        return 1\n\n    def test_shared", "        return 2\n\n    def test_shared",
         (*(f"{test}.test_shared" for test in ALL), f"~{FAR}.test_shared")),
        # A method that is new to it and its bases: only who uses it has changed.
        ("    def _create", "    def _new(self):\n        pass\n\n    def _create", ()),
        ("    def test_own", "    def flags(self):\n        pass\n\n    def test_own",
         touched(*DERIVED)),
        ("    def test_own", "    def tearDown(self):\n        pass\n\n    def test_own",
         touched(*DERIVED)),
        # A function of the module: the tests that name it, or a function that does.
        ("    return x", "    return x + 1",
         here("test_own")),
        ("'b': 2", "'b': 3",
         here("test_other")),
        # One that no test names may be used in ways that nobody sees, unless it is new.
        ("        return 1\n\n\nclass _MixIn", "        return 2\n\n\nclass _MixIn", touched(*ALL)),
        ("OTHER = FAKE['a']", "OTHER = 7", touched(*ALL)),
        ("OTHER =", "NEW = 1\nOTHER =", ()),
        ("def make_one", "def make_new():\n    pass\n\n\ndef make_one", ()),
        ("def make_one", "def load_tests(*args):\n    pass\n\n\ndef make_one", touched(*ALL)),
        # Other code of the module.
        ("OTHER =", "mock.configure()\nOTHER =", touched(*ALL)),
        # What changes no test.
        ("import mock", "import mock\nimport os", ()),
        ("import mock", "try:\n    import mock\nexcept ImportError:\n    from os import mock", ()),
        ("    def test_own(self):", "    # why\n    def test_own(self):\n        '''Doc.'''", ()),
        ("\n\n\nclass CellsTestCase", "\n\n\n\nclass CellsTestCase", ()),
        ("    size = 1", "    '''Doc.'''\n\n    size = 1  # why", ()),
        ("# Copyright", "# Copyright\n'''Doc.'''", ()),
    ],
)  # fmt: skip
def test_an_edit_selects_its_tests(old: str, new: str, tests: tuple[str, ...]) -> None:
    assert edit(old, new) == tuple(sorted(tests))


def test_a_base_in_another_module_selects_what_is_derived_from_it() -> None:
    found = edit("return 1", "return 2", "nova/tests/unit/base.py")
    assert found == (f"~{MODULE}.CellsTestCase",)  # and not the base, which has no tests


def test_a_helper_that_a_set_up_calls_touches_all_tests() -> None:
    before = tree()
    text = before[API].replace(b"super(_MixIn, self).setUp()", b"self._create()")
    after = text.replace(b"return 1\n\n    def test_shared", b"return 2\n\n    def test_shared")
    found = selected({**before, API: text}, {**before, API: after})
    own = [f"{test}.test_shared" for test in ALL]
    assert found == (*own, *touched(*ALL, FAR))


BASES = {
    "no tests": "class {base}(test.TestCase):\n    def helper(self):\n        return 1\n",
    "tests of a base": "class {base}(test_api.APITestCase):\n    def helper(self): return 1\n",
    "unknown elsewhere": "class {base}(other.Tests):\n    def helper(self): return 1\n",
}


@pytest.mark.parametrize(
    ("text", "is_target"), zip(BASES.values(), (0, 1, 1), strict=True), ids=BASES
)
def test_a_shared_base_class_is_a_target_only_if_it_has_tests(text: str, is_target: int) -> None:
    path = "nova/tests/unit/shared.py"
    user = b"class User(shared.Base):\n    def test_it(self):\n        self.helper()\n"
    head = "from nova import test\nfrom nova.tests.unit import test_api\n\n"
    base = (head + text.format(base="Base")).encode()
    files = tree() | {path: base, "nova/tests/unit/test_user.py": b"import shared\n\n" + user}
    found = selected(files, {**files, path: base.replace(b"return 1", b"return 2")})
    assert "~nova.tests.unit.test_user.User.test_it" in found
    new = selected({name: files[name] for name in files if name != path}, files)
    assert ("nova.tests.unit.shared.Base" in new) == bool(is_target)


def test_what_is_taken_away_selects_nothing_unless_others_used_it() -> None:
    text = textwrap.dedent(TREE[API])
    test = text[text.index("    @mock.patch") : text.index("class APITestCase")]
    assert edit(test, "") == ()
    helper = text[text.index("    def _create") : text.index("    def test_shared")]
    assert edit(helper, "") == (
        *(f"{test}.test_shared" for test in ALL),
        f"~{FAR}.test_shared",
    )


def test_what_is_only_moved_selects_nothing() -> None:
    before = tree()
    text = before[API].decode()
    start, end = text.index("class APITestCase"), text.index("class CellsTestCase")
    moved = text[:start] + text[end:] + "\n\n" + text[start:end]
    assert selected(before, {**before, API: moved.encode()}) == ()


def test_a_new_file_selects_its_test_cases() -> None:
    before = tree()
    path = "nova/tests/functional/test_new.py"
    new = b"from nova import test\n\nclass NewTest(test.TestCase):\n    def test_a(self): pass\n"
    helpers = (
        b"\n\nclass Helper(object):\n    pass\n\n\ndef helper():\n    pass\n\n\nX = helper()\n"
    )
    assert selected(before, {**before, path: new + helpers}) == (
        "nova.tests.functional.test_new.NewTest",
    )


def test_files_that_are_gone_or_no_modules_select_nothing() -> None:
    before = tree()
    after = {path: text for path, text in before.items() if path != CELLS}
    assert selected(before, after) == ()
    assert selected(before, {**before, "nova/tests/data.yaml": b"a: 1\n"}) == ()
    assert selected(before, {**before, "nova/tests/template.py": b"{{ no python }\n"}) == ()


def test_a_module_that_cannot_be_read_is_selected_as_a_whole() -> None:
    before = tree()
    broken = before[API] + b"\nx = (\n"
    assert selected(before, {**before, API: broken}) == (MODULE,)
    assert set(selected({**before, API: broken}, before)) == {*ALL, f"~{FAR}"}


def test_tests_that_ddt_makes_are_selected_by_their_class() -> None:
    text = TREE[API].replace("class APITestCase", "@ddt.ddt\n        class APITestCase")
    text = text.replace("def test_own(self):", "@ddt.data(1, 2)\n            def test_own(self):")
    before = tree(**{API: text})
    changed = before[API].replace(b"data(1, 2)", b"data(1, 3)")
    assert selected(before, {**before, API: changed}) == DERIVED


@pytest.mark.parametrize(
    ("imports", "base"),
    [
        ("import nova.tests.unit.base", "nova.tests.unit.base.Base"),
        ("import nova.tests.unit.base as b", "b.Base"),
        ("from nova.tests.unit.base import Base", "Base"),
        ("from nova.tests.unit.base import Base as B", "B"),
        ("from nova.tests.unit.base import *", "Base"),
        ("from nova.tests.unit import \\\n    base as b", "b.Base"),
        ("from . import base", "base.Base"),
        ("from .base import Base", "Base"),
        ("from ..unit import base", "base.Base"),
        ("import base", "base.Base"),  # Python 2: beside the module
        ("from nova.tests.unit.again import Base", "Base"),
        ("import six\nfrom nova.tests.unit import base", "six.with_metaclass(Meta, base.Base)"),
        ("if True:\n    from nova.tests.unit import base", "base.Base"),
    ],
)
def test_bases_are_found_by_whatever_import(imports: str, base: str) -> None:
    path = "nova/tests/unit/test_more.py"
    text = f"{imports}\n\nclass MoreTestCase({base}):\n    def test_more(self):\n        pass\n"
    before = tree(**{"nova/tests/unit/again.py": "from nova.tests.unit.base import Base\n"})
    before[path] = text.encode()
    changed = before["nova/tests/unit/base.py"].replace(b"return 1", b"return 2")
    found = selected(before, {**before, "nova/tests/unit/base.py": changed})
    assert "~nova.tests.unit.test_more.MoreTestCase" in found


def test_imports_and_bases_in_circles_come_to_an_end() -> None:
    files = tree(
        **{
            "nova/tests/a.py": "from nova.tests.b import T\nfrom nova.tests.b import *\n",
            "nova/tests/b.py": "from nova.tests.a import T\nfrom nova.tests.a import *\n",
            "nova/tests/test_c.py": """
                from nova.tests import a

                class One(a.T, Two):
                    def test_one(self):
                        pass

                class Two(One):
                    pass
                """,
        }
    )
    changed = files["nova/tests/test_c.py"].replace(b"pass", b"return", 1)
    assert selected(files, {**files, "nova/tests/test_c.py": changed}) == ()


def test_methods_are_looked_up_as_python_does() -> None:
    files = tree(
        **{
            "nova/tests/test_d.py": """
                import unittest

                class Top(unittest.TestCase):
                    def test_it(self):
                        return 1

                class Left(Top):
                    pass

                class Right(Top):
                    def test_it(self):
                        return 2

                class Both(Left, Right):
                    pass
                """,
        }
    )
    changed = files["nova/tests/test_d.py"].replace(b"return 1", b"return 3")
    assert selected(files, {**files, "nova/tests/test_d.py": changed}) == (
        "nova.tests.test_d.Left.test_it",
        "nova.tests.test_d.Top.test_it",
    )


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_any_edit_gives_names_of_this_tree(data: st.DataObject) -> None:
    """Whatever is cut out or doubled: no error, and ids that a test case of the tree has."""
    before = tree()
    lines = before[API].split(b"\n")
    start = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    again = data.draw(st.booleans())
    after = [*lines[:end], *lines[start:]] if again else [*lines[:start], *lines[end:]]
    for test in selected(before, {**before, API: b"\n".join(after)}):
        assert test.removeprefix("~").startswith((MODULE, FAR))
