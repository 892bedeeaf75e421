"""A candidate is run before it is believed, and what is refused is told with its reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from packaging.tags import Tag

from backport.environment import interpreter as rooms
from backport.environment.interpreter import Interpreter, find_interpreter
from backport.errors import CannotTellError, ExitCode

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
SHIM = 'echo "pyenv: python{0}: command not found" >&2; exit 127'


def program(file: Path, text: str) -> Path:
    """Write an executable shell script."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def real(file: Path) -> Path:
    """Write a script that stands for the Python of these tests, as a shim does."""
    return program(file, f'exec "{sys.executable}" "$@"')


def environment(home: Path, *folders: Path) -> dict[str, str]:
    return {"PATH": ":".join(str(folder) for folder in folders), "HOME": str(home)}


@pytest.fixture(autouse=True)
def no_other_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the places of this machine; those below HOME are the test's own."""
    own = tuple(place for place in rooms._PLACES if place.startswith("{"))
    monkeypatch.setattr(rooms, "_PLACES", own)


def test_the_path_is_looked_through_to_its_end(tmp_path: Path) -> None:
    program(tmp_path / "a" / f"python{OWN}", SHIM.format(OWN))
    real(tmp_path / "b" / f"python{OWN}")
    found = find_interpreter(OWN, None, environment(tmp_path, tmp_path / "a", tmp_path / "b"))
    assert found.version == ".".join(str(part) for part in sys.version_info[:3])
    assert found.short_version == OWN


def test_pyenvs_versions_are_looked_at_when_the_shim_is_not_active(tmp_path: Path) -> None:
    program(tmp_path / ".pyenv" / "shims" / f"python{OWN}", SHIM.format(OWN))
    real(tmp_path / ".pyenv" / "versions" / f"{OWN}.99" / "bin" / f"python{OWN}")
    found = find_interpreter(OWN, None, environment(tmp_path, tmp_path / ".pyenv" / "shims"))
    assert found.short_version == OWN


def test_what_did_not_work_is_asked_last_until_something_changes(tmp_path: Path) -> None:
    shim = program(tmp_path / "a" / f"python{OWN}", f"echo asked >> {tmp_path}/log; exit 127")
    real(tmp_path / "b" / f"python{OWN}")
    env = environment(tmp_path, tmp_path / "a", tmp_path / "b")
    kept = tmp_path / "kept.json"

    def asked(**more: str) -> int:
        (tmp_path / "log").write_text("")
        assert find_interpreter(OWN, None, env | more, kept).short_version == OWN
        return len((tmp_path / "log").read_text().splitlines())

    assert [asked(), asked()] == [1, 0]
    assert [asked(PYENV_VERSION="x"), asked(PYENV_VERSION="x")] == [1, 0]
    (tmp_path / ".pyenv").mkdir()
    (tmp_path / ".pyenv" / "version").write_text("3\n")
    assert [asked(), asked()] == [1, 0]
    shim.write_text(shim.read_text() + "\n")
    assert [asked(), asked()] == [1, 0]
    kept.write_text("damaged")
    assert [asked(), asked()] == [1, 0]


def test_what_did_not_work_before_is_asked_before_it_is_said_that_there_is_none(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a" / f"python{OWN}"
    kept = tmp_path / "kept.json"
    env = environment(tmp_path, tmp_path / "a", tmp_path / "b")
    program(file, f'test -e {tmp_path}/works && exec "{sys.executable}" "$@"; exit 127')
    real(tmp_path / "b" / f"python{OWN}")
    find_interpreter(OWN, None, env, kept)
    (tmp_path / "b" / f"python{OWN}").unlink()
    with pytest.raises(CannotTellError, match="no working Python"):
        find_interpreter(OWN, None, env, kept)
    (tmp_path / "works").touch()
    assert find_interpreter(OWN, None, env, kept).short_version == OWN


def test_pyenv_may_live_elsewhere(tmp_path: Path) -> None:
    real(tmp_path / "root" / "versions" / f"{OWN}.1" / "bin" / f"python{OWN}")
    env = {**environment(tmp_path), "PYENV_ROOT": str(tmp_path / "root")}
    assert find_interpreter(OWN, None, env).short_version == OWN


def test_the_one_that_was_named_goes_before_all(tmp_path: Path) -> None:
    program(tmp_path / "a" / f"python{OWN}", "exit 1")
    named = real(tmp_path / "mine" / "py")
    found = find_interpreter(OWN, named, environment(tmp_path, tmp_path / "a"))
    assert found.short_version == OWN


def test_a_name_without_a_folder_is_looked_for_on_the_path(tmp_path: Path) -> None:
    real(tmp_path / "a" / "mine")
    env = environment(tmp_path, tmp_path / "a")
    assert find_interpreter(OWN, Path("mine"), env).short_version == OWN


REFUSED = {
    "a shim": ("echo 'pyenv: command not found'; exit 127", "pyenv: command not found"),
    "another version": (f'exec "{sys.executable}" "$@"', f"is Python {OWN}"),
    "a crash": ("kill -SEGV $$", "exit status -11"),
    "silence": ("exit 0", "no word"),
    "babble": ("echo '{'; exit 0", "does not work"),
    "no list": ("echo '[1]'; exit 0", "does not work"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_work_is_refused_with_its_reason(tmp_path: Path, case: str) -> None:
    text, reason = REFUSED[case]
    file = program(tmp_path / "a" / "python2.6", text)
    with pytest.raises(CannotTellError) as caught:
        find_interpreter("2.6", None, environment(tmp_path, tmp_path / "a"))
    assert caught.value.exit_code == ExitCode.CANNOT_TELL
    assert "no working Python 2.6" in caught.value.message
    refusals = [line for line in caught.value.hint.splitlines() if str(file) in line]
    assert len(refusals) == 1
    assert reason in refusals[0]


def test_one_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_PATIENCE", 0.3)
    program(
        tmp_path / "a" / "python2.6", f'exec "{sys.executable}" -c "import time; time.sleep(600)"'
    )
    with pytest.raises(CannotTellError) as caught:
        find_interpreter("2.6", None, environment(tmp_path, tmp_path / "a"))
    assert "gave no answer" in caught.value.hint


def test_one_that_lacks_modules_is_refused_and_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "_NEEDED", ("zlib", "no_such_module", "nor_this_one"))
    with pytest.raises(CannotTellError, match="built without no_such_module, nor_this_one"):
        find_interpreter(OWN, Path(sys.executable), environment(tmp_path))


@pytest.mark.parametrize("where", ["/nonexistent/python", "nonexistent-python"])
def test_one_that_was_named_and_is_not_there_ends_the_search(tmp_path: Path, where: str) -> None:
    real(tmp_path / "a" / f"python{OWN}")
    with pytest.raises(CannotTellError, match=f"--python {where} cannot be used"):
        find_interpreter(OWN, Path(where), environment(tmp_path, tmp_path / "a"))


def test_none_at_all_names_the_ways_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(CannotTellError) as caught:
        find_interpreter("2.7", None, environment(tmp_path))
    for way in ("pyenv install 2.7.18", "package", "source", "--python", "--skip-tests"):
        assert way in caught.value.hint


def test_a_folder_of_the_name_and_the_working_directory_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "python2.6").mkdir(parents=True)
    program(tmp_path / "python2.6", "touch run")
    monkeypatch.chdir(tmp_path)
    env = {"PATH": f"{tmp_path / 'a'}::.", "HOME": str(tmp_path)}
    with pytest.raises(CannotTellError):
        find_interpreter("2.6", None, env)
    assert not (tmp_path / "run").exists()


def test_the_same_interpreter_has_the_same_identity_and_fits_its_own_wheels(tmp_path: Path) -> None:
    one = find_interpreter(OWN, Path(sys.executable), environment(tmp_path))
    two = find_interpreter(OWN, Path(sys.executable), environment(tmp_path))
    assert one == two
    from packaging.tags import sys_tags

    assert next(iter(sys_tags())) in one.tags
    assert one.tags[Tag("py3", "none", "any")] > one.tags[next(iter(sys_tags()))]


def test_python_2_takes_wheels_of_its_unicode_width_and_of_no_other() -> None:
    markers = (("python_version", "2.7"),)
    wide = Interpreter(Path("p"), "2.7.18", "CPython", "cp27mu", "linux-x86_64", "3", "i", markers)
    names = {str(tag) for tag in wide.tags}
    assert {"py2.py3-none-any".replace("py2.py3", py) for py in ("py2", "py27", "cp27")} <= names
    assert any(name.startswith("cp27-cp27mu-") for name in names)
    assert not any("cp27m-" in name or name.startswith("py3") for name in names)
