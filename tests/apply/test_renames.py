"""Functions and files that the branch knows by another name: followed where that can be told."""

from __future__ import annotations

import pytest

from project import Project

HEADER = "class Driver(object):\n    def {}(self, xml):\n"
BODY = [f"        step_{n} = self.take({n})\n" for n in range(1, 13)]
ALIEN = [f"        other_{n} = self.put({n})\n" for n in range(1, 6)] + BODY[4:9]
END = "        return step_9\n\n    def last(self):\n        return 1\n"


def driver(name: str, body: list[str], more: str = "") -> str:
    """Return a module with one long function of that name."""
    return HEADER.format(name) + "".join(body) + END + more


def series(project: Project, newer: dict[str, str], fixed: dict[str, str]) -> str:
    """Pick a fix from a newer branch that has ``newer`` files where the branch has its own."""
    repo = project.repo
    branch = repo.git("rev-parse", "HEAD")
    gone: dict[str, bytes | str | None] = dict.fromkeys(project.files("HEAD"))
    repo.git("checkout", "-q", "-b", "stable/pike")
    repo.commit("the newer branch's own", {**gone, **newer})
    fix = repo.commit(f"Mend it\n\nChange-Id: I{'a' * 40}", dict(fixed))
    repo.git("checkout", "-q", "-B", "stable/ocata", branch)
    return project.series([{"commit": fix, "subject": None, "change-id": None}])


@pytest.mark.parametrize(
    ("here", "there", "code"),
    [
        pytest.param(driver("_info", BODY), driver("_info_from", BODY), 0, id="another name"),
        pytest.param(driver("_info", ALIEN), driver("_info_from", BODY), 3, id="another body"),
        pytest.param(
            driver("_info", BODY),
            driver("_info_from", BODY, HEADER.format("_info").split("\n", 1)[1] + "".join(BODY)),
            3,
            id="the change knows the other, too",
        ),
        pytest.param(
            driver("_info", BODY, "\n    def _twin(self, xml):\n" + "".join(BODY)),
            driver("_info_from", BODY),
            3,
            id="two that are alike",
        ),
    ],
)
def test_a_function_of_another_name_is_known_by_its_body(
    project: Project, here: str, there: str, code: int
) -> None:
    project.repo.commit("base", {"driver.py": here})
    fixed = there.replace("self.take(7)", "self.take(7, exact=True)", 1)
    ran = project.apply(series(project, {"driver.py": there}, {"driver.py": fixed}))
    assert ran.code == code, ran.out
    if code == 0:
        (hunk,) = ran.report["changes"][0]["files"][0]["hunks"]
        assert (hunk["home"], hunk["known_as"]) == ("Driver._info", "Driver._info_from")
        assert b"take(7, exact=True)" in project.files()["driver.py"]


def text(name: str, words: range = range(0)) -> str:
    """Return forty lines, some of them in other words."""
    return "".join(f"{name} {'words' if n in words else 'text'} {n}\n" for n in range(40))


REWRITTEN = range(25, 38)  # a third


@pytest.mark.parametrize(
    ("here", "code"),
    [
        pytest.param(
            {"man/manage.rst": text("manage"), "man/api.rst": text("api")}, 0, id="folder"
        ),
        pytest.param({"man/admin.rst": text("manage"), "c": "c\n"}, 0, id="the only one by far"),
        pytest.param(
            {"man/admin.rst": text("manage"), "man/other.rst": text("manage", range(5, 12))},
            3,
            id="two that are alike",
        ),
    ],
)
def test_a_rewritten_file_is_followed_where_something_speaks_for_it(
    project: Project, here: dict[str, str], code: int
) -> None:
    project.repo.commit("base", dict(here))
    newer = {"cli/manage.rst": text("manage", REWRITTEN), "cli/api.rst": text("api", REWRITTEN)}
    fixed = newer["cli/manage.rst"].replace("manage text 20\n", "manage text twenty\n")
    ran = project.apply(series(project, newer, {"cli/manage.rst": fixed}))
    assert ran.code == code, ran.out
    if code == 0:
        assert b"manage text twenty" in project.files()[next(iter(here))]
