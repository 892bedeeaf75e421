"""The command line: exit codes, one clear line, help with examples, and never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import jsonschema
import pytest

from backport.cli import cli
from backport.commands import GROUPS
from backport.report.document import json_schema
from backport.resources import data_folder
from project import Project

TEN = "".join(f"line {n}\n" for n in range(1, 11))


def small_series(project: Project) -> str:
    repo = project.repo
    base = repo.commit("base", {"a": TEN})
    patch = repo.diff(base, repo.commit("after", {"a": TEN.replace("5", "V")}))
    repo.git("checkout", "-q", "-B", "stable/ocata", base)
    return project.patch_series(patch)


@pytest.mark.parametrize("name", GROUPS)
def test_every_command_has_help_with_examples(project: Project, name: str) -> None:
    ran = project.run(name, "--help")
    assert ran.code == 0
    assert f"backport {name}" in ran.out
    assert "Example" in ran.out
    assert "\\b" not in ran.out


def test_help_lists_all_commands_and_the_exit_codes(project: Project) -> None:
    ran = project.run("--help")
    assert ran.code == 0
    assert all(f"  {name} " in ran.out for name in GROUPS)
    assert "130 interrupted" in ran.out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((), "Usage"),
        (("rnu",), "Did you mean 'run'?"),
        (("run",), "Missing argument"),
        (("run", "ocata/nothing"), "ocata/bug-1"),
        (("run", "../../etc"), "series"),
        (("run", "ocata/bug-1", "--onto"), "--onto"),
        (("run", "ocata/bug-1", "--jobs", "0"), "--jobs"),
        (("run", "ocata/bug-1", "--accept-moved", "x"), "FILE:LINE"),
        (("run", "ocata/bug-1", "--checkout", "/nowhere"), "there is no folder /nowhere"),
        (("run", "ocata/bug-1", "--checkout", "/dev/null"), "/dev/null is no folder"),
        (("run", "ocata/bug-1", "--checkout", ""), "--checkout names nothing"),
        (("run", "ocata/bug-1", "--checkout", "\x1b[31mred"), "there is no folder red"),
        (("run", "ocata/bug-1", "--checkout", "ext::sh -c id"), "no URL"),
        (("run", "ocata/bug-1"), "there is no built-in checkout"),
        (("test", "HEAD", "--branch", "okata"), "ocata"),
        (("env", "--branch", "ocata"), "does not say how tests are run"),
        (("continue",), "no conflict is pending"),
        (("verify", "ocata/bug-1", "--checkout", "checkout"), "has no branch"),
    ],
)
def test_bad_usage_is_one_clear_complaint(
    project: Project, args: tuple[str, ...], says: str
) -> None:
    small_series(project)
    ran = project.run(*args)
    assert ran.code == (2 if args else 0) or not args
    assert says in ran.err + ran.out
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("onto", ["--output=x", "nowhere", "HEAD:a", "", "@{upstream}"])
def test_a_base_that_is_no_commit_is_refused(project: Project, onto: str) -> None:
    ran = project.apply(small_series(project), f"--onto={onto}")
    assert ran.code == 2
    assert "has no commit" in ran.err


def test_all_errors_of_a_manifest_come_at_once_with_their_lines(project: Project) -> None:
    small_series(project)
    manifest = project.root / "patches/ocata/bug-1/series.yaml"
    manifest.write_text(manifest.read_text().replace("kind: fix", "kind: fixx\n  colour: red"))
    ran = project.run("show", "ocata/bug-1")
    assert ran.code == 2
    assert "series.yaml:4: kind" in ran.err
    assert "series.yaml:5: unknown key 'colour'" in ran.err


def test_a_checkout_without_the_branch_names_what_was_looked_for(project: Project) -> None:
    series = small_series(project)
    project.repo.git("branch", "-m", "stable/ocata", "main")
    ran = project.apply(series)
    assert ran.code == 2
    for name in ("stable/ocata", "<remote>/stable/ocata", "ocata-eol"):
        assert name in ran.err


def test_another_project_s_checkout_is_refused(project: Project) -> None:
    series = small_series(project)
    project.repo.git("checkout", "-q", "stable/ocata")
    review = "[gerrit]\nhost=review.opendev.org\nproject=openstack/neutron.git\n"
    project.repo.commit("review", {".gitreview": review})
    ran = project.apply(series)
    assert ran.code == 2
    assert "openstack/neutron" in ran.err


def test_show_prints_the_messages_and_needs_no_checkout(project: Project) -> None:
    series = small_series(project)
    ran = project.run("show", series)
    assert ran.code == 0
    assert "Closes-Bug: #1" in ran.out
    names = dict(line.split() for line in project.run("show").out.splitlines())
    assert names[series] == str(project.root / "patches")
    assert names["ocata/bug-1783613"] == str(data_folder("patches"))


def test_the_schema_describes_what_json_prints(project: Project) -> None:
    import jsonschema

    report = project.apply(small_series(project)).report
    jsonschema.validate(report, json.loads(project.run("schema").out))


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("run", "ocata/nothing"), 2),
        (("run",), 2),
        (("run", "ocata/bug-1", "--checkout", "/nowhere"), 2),
        (("verify", "ocata/bug-1", "--checkout", "patches"), 2),
        (("continue",), 2),
        (("run", "ocata/bug-1", "--checkout", "file:///nowhere/at/all"), 4),
        (("test", "HEAD", "--branch", "okata"), 2),
    ],
)
def test_an_error_before_anything_is_known_is_a_document_too(
    project: Project, args: tuple[str, ...], code: int
) -> None:
    small_series(project)
    ran = project.run(*args, "--json")
    assert ran.code == code
    assert ran.report["exit_code"] == code
    assert ran.report["problem"]["message"]
    assert ran.report["problem"]["message"].splitlines()[0] in ran.err
    jsonschema.validate(ran.report, json_schema())


@pytest.mark.parametrize(("error", "code"), [(ZeroDivisionError, 70), (KeyboardInterrupt, 130)])
def test_a_bug_and_an_interrupt_are_documents_too(
    project: Project, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], code: int
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("backport.commands.run.run", fail)
    ran = project.run("run", small_series(project), "--json")
    assert (ran.code, ran.report["exit_code"]) == (code, code)
    jsonschema.validate(ran.report, json_schema())


def test_a_report_that_cannot_be_written_is_in_the_document(project: Project) -> None:
    (project.root / "there").touch()
    ran = project.apply(small_series(project), "--report", "there/report")
    assert (ran.code, ran.report["exit_code"]) == (4, 4)
    assert ran.report["branch"]["action"] == "created"
    assert ran.report["problem"]["message"] in ran.err
    jsonschema.validate(ran.report, json_schema())


def test_no_password_is_shown_or_kept(project: Project) -> None:
    """Not of a URL on the command line: in progress, in reports, in errors."""
    name = small_series(project)
    url = "https://ann:s3cret@localhost:1/nova"
    for command in (("run", name), ("verify", name), ("test", "HEAD")):
        for checkout in (("--checkout", url), (f"--checkout={url}",)):
            ran = project.run(*command, *checkout, "--json")
            assert ran.code in (2, 4)
            assert "s3cret" not in ran.out + ran.err
            assert "ann@localhost" in ran.err
    for file in (*project.root.rglob("*"), *Path(os.environ["HOME"]).rglob("*")):
        assert not file.is_file() or b"s3cret" not in file.read_bytes(), file


def test_a_bug_of_ours_is_a_line_and_a_log(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("backport.commands.show.find_series", broken)
    ran = project.run("show", "ocata/bug-1")
    assert ran.code == 70
    assert "Traceback" not in ran.err
    (log,) = (Path(os.environ["HOME"]) / ".local/state/backport/log").glob("bug-*.txt")
    assert "ZeroDivisionError: oops" in log.read_text()
    assert str(log) in ran.err.replace("\n", "")


def test_without_an_identity_the_run_ends_with_the_remedy(project: Project) -> None:
    series = small_series(project)
    for key in ("name", "email"):
        project.repo.git("config", "--unset", f"user.{key}")
    project.repo.git("config", "user.useConfigOnly", "true")
    ran = project.apply(series)
    assert ran.code == 2
    assert "git config --global user.name" in ran.err + ran.out


def test_a_closed_pipe_is_no_error(project: Project) -> None:
    series = small_series(project)
    command = f"{sys.executable} -m backport show {series} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=project.root, capture_output=True, check=False, env=os.environ
    )
    assert done.returncode == 0
    assert b"Error" not in done.stderr


def test_whoever_stops_listening_to_progress_does_not_change_the_result(project: Project) -> None:
    series = small_series(project)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "backport", "run", series, "--checkout", "checkout", "--skip-tests"],
        cwd=project.root,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=write,
        check=False,
    )
    os.close(write)
    assert done.returncode == 0
    assert b"created" in done.stdout


@pytest.mark.parametrize("name", ["ocata/bug-1/", "patches/ocata/bug-1/"])
def test_a_series_may_be_named_as_a_shell_completes_it(project: Project, name: str) -> None:
    small_series(project)
    assert project.run("show", name).code == 0


@pytest.mark.parametrize("test", ["", ".", "/etc/passwd", "../x", "a/b", "-x"])
def test_what_is_no_name_of_a_test_is_refused(project: Project, test: str) -> None:
    small_series(project)
    project.branch_yaml(tests={"python": ["2.7"], "requirements": "r.txt", "paths": ["tests/"]})
    (project.root / "patches/ocata/r.txt").touch()
    ran = project.run("test", "HEAD", "--checkout", "checkout", "--", test)
    assert ran.code == 2
    assert "is no dotted name" in ran.err


def test_commands_are_known_to_click() -> None:
    context = click.Context(cli)
    assert [name for name in GROUPS if cli.get_command(context, name) is None] == []


def test_verify_without_tests_settings_says_so(project: Project) -> None:
    series = small_series(project)
    assert project.apply(series).code == 0
    ran = project.run("verify", series, "--checkout", str(project.repo.path))
    assert ran.code == 2
    assert "does not say how tests are run" in ran.err + ran.out
