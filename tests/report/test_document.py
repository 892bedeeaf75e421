"""The one model: what goes in comes out, as JSON that its schema describes."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest

import report_samples as samples
from backport.apply.outcome import Outcome
from backport.errors import BackportError, CannotTellError, ConflictError, RefusedError, UsageError
from backport.report.build import DETAIL_LIMIT, build_report, conclude
from backport.report.document import (
    Action,
    BranchFacts,
    Report,
    Result,
    from_json,
    json_schema,
    to_json,
)
from backport.runner.results import Proof, Status, Verdict


@pytest.mark.parametrize("kind", samples.EVERY_KIND)
def test_a_report_survives_json_and_fits_its_schema(kind: str) -> None:
    report = samples.EVERY_KIND[kind]()
    text = to_json(report)
    assert from_json(text) == report
    jsonschema.Draft202012Validator(json_schema()).validate(json.loads(text))


def test_the_schema_is_a_schema_and_names_itself() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == "backport-report/1"
    assert json.loads(to_json(samples.proven()))["schema"] == "backport-report/1"


@pytest.mark.parametrize(
    "damage",
    [
        {"schema": "backport-report/2"},
        {"result": "fine"},
        {"exit_code": "zero"},
        {"colour": "blue"},
    ],
)
def test_the_schema_refuses_what_is_no_report(damage: dict[str, object]) -> None:
    document = {**json.loads(to_json(samples.proven())), **damage}
    with pytest.raises(ValueError, match="validation error"):
        from_json(json.dumps(document))
    assert list(jsonschema.Draft202012Validator(json_schema()).iter_errors(document))


def test_a_report_says_which_commits_and_how_they_went_in() -> None:
    first, fix = samples.proven().changes
    assert (first.number, first.commit, first.parent) == (1, samples.COMMITS[0], samples.BASE)
    assert fix.subject == "[stable only] Handle quota usage during create/delete races"
    assert fix.message.endswith("\n\nChange-Id: I4d492dcad193ff0b1202dcae97954cc65b75c109\n")
    hunk = fix.files[0].hunks[1]
    assert (hunk.wanted_line, hunk.landed_line, hunk.offset) == (1761, 1760, -1)
    assert hunk.lookalikes == (1834,)
    assert fix.diff == samples.FIX_DIFF


def test_a_report_holds_every_run_with_all_that_is_needed_to_believe_it() -> None:
    proof = samples.proven().proof
    assert proof is not None
    assert [cell.label for cell in proof.cells] == ["green 1/1", "green 2/2", "red 2/1", "flip 1/2"]
    green, red = proof.cells[1], proof.cells[2]
    assert green.counts == {Status.PASSED: 712, Status.SKIPPED: 2}
    assert len(green.tests) == 714
    assert red.counts == {Status.FAILED: 8}
    assert red.cut
    assert red.ok
    for cell in proof.cells:
        assert all((cell.command, cell.interpreter, cell.environment, cell.tree, cell.log))


def test_bytes_and_surrogates_from_tests_do_not_break_the_json() -> None:
    cell = samples.cells()[2]
    results = tuple(replace(r, detail="\udcff \x00 \ud800") for r in cell.run.results)
    proof = Proof(Verdict.PROVEN, "so", (replace(cell, run=replace(cell.run, results=results)),))
    report = samples.of_proof(proof)
    assert from_json(to_json(report)).proof == report.proof
    assert (
        "\\xff \x00 \\ud800"
        in json.loads(to_json(report))["proof"]["cells"][0]["tests"][0].values()
    )


def test_a_diff_of_bytes_that_are_no_text_is_kept_readable() -> None:
    report = build_report(
        invocation=samples.invocation(),
        series=samples.series(),
        outcome=samples.outcome(),
        diffs={1: b"+caf\xe9\n"},
    )
    assert report.changes[0].diff == "+caf\\xe9\n"
    assert report.changes[1].diff == ""


def test_huge_output_is_cut_but_its_end_stays() -> None:
    cell = samples.cells()[2]
    results = (replace(cell.run.results[0], detail="x" * 5_000_000 + "\nthe end"),)
    proof = Proof(Verdict.PROVEN, "so", (replace(cell, run=replace(cell.run, results=results)),))
    found = samples.of_proof(proof).proof
    assert found is not None
    detail = found.cells[0].tests[0].detail
    assert len(detail) < DETAIL_LIMIT + 200
    assert detail.endswith("the end")


@pytest.mark.parametrize(
    ("kind", "result", "part"),
    [
        ("proven", Result.PROVEN, "All 714"),
        ("broken", Result.BROKEN, "2 of the 714"),
        ("unproven", Result.UNPROVEN, "No test fails without the fix"),
        ("could-not-tell", Result.CANNOT_TELL, "could not be found out"),
        ("conflict", Result.CONFLICT, "Change 2 does not apply on top of change 1: 2 files need"),
        ("already-in", Result.ALREADY_IN, "Both changes are on the base already, recognised by"),
        ("not-tested", Result.NOT_TESTED, "2 changes applied, but no test ran: --skip-tests"),
        ("no-environment", Result.CANNOT_TELL, "no working Python 2.7"),
    ],
)
def test_the_result_is_said_in_one_sentence(kind: str, result: Result, part: str) -> None:
    report = samples.EVERY_KIND[kind]()
    assert report.result is result
    assert part in report.sentence
    assert "\n" not in report.sentence


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (CannotTellError("no"), Result.CANNOT_TELL),
        (RefusedError("no"), Result.REFUSED),
        (UsageError("no"), Result.NOT_DONE),
        (ConflictError("no"), Result.CONFLICT),
    ],
)
def test_an_error_is_not_mistaken_for_a_verdict(error: BackportError, result: Result) -> None:
    assert conclude(samples.outcome(), None, "", error) == (result, "no")


def test_a_proof_counts_for_more_than_an_error_after_it() -> None:
    result, _ = conclude(samples.outcome(), samples.proof(), "", RefusedError("the branch moved"))
    assert result is Result.PROVEN


def test_all_of_three_changes_in_already_are_counted() -> None:
    one = samples.already_in()
    applied = (samples.applied(1),) * 2
    assert "Both" in one.sentence
    found = conclude(Outcome(samples.BASE, applied), None)
    assert found[0] is Result.NOT_TESTED


def _commands(report: Report) -> list[str]:
    return [step.command for step in report.next_steps]


def test_after_publishing_the_next_steps_are_to_read_and_to_send() -> None:
    read, send = _commands(samples.proven())
    assert read.startswith("git -C /home/ana/src/nova log --patch --reverse 77ece76a70..")
    assert send.endswith(
        "push gerrit backport/ocata/bug-1783613:refs/for/stable/ocata%topic=bug/1783613"
    )


def test_after_a_conflict_the_next_steps_are_those_of_a_conflict() -> None:
    report = samples.conflict()
    assert _commands(report) == [
        f"backport {word} ocata/bug-1783613 --checkout /home/ana/src/nova"
        for word in ("status", "continue", "abort")
    ]
    assert report.conflict is not None
    assert report.conflict.next == report.next_steps
    assert report.conflict.work_tree == "build/conflicts/ocata-bug-1783613"


def test_after_broken_one_command_runs_what_failed_again() -> None:
    (again,) = _commands(samples.broken())
    assert again.startswith(
        f"backport test {samples.BASE} --series ocata/bug-1783613 --change 2 --branch ocata"
        " --checkout /home/ana/src/nova nova.tests.unit."
    )
    failed = samples.broken().proof
    assert failed is not None
    assert len(again.split()) == 11 + failed.cells[1].counts[Status.ERROR]


def test_an_unproven_fix_is_tried_with_all_its_tests() -> None:
    (again,) = _commands(samples.unproven())
    assert again.endswith("--checkout /home/ana/src/nova --full-red")


def test_nothing_is_sent_to_review_that_is_not_proven_or_has_nowhere_to_go() -> None:
    assert not any("push" in command for command in _commands(samples.not_tested()))
    nowhere = samples.checkout().model_copy(update={"gerrit": None})
    report = build_report(
        invocation=samples.invocation(),
        series=samples.series(),
        checkout=nowhere,
        outcome=samples.outcome(),
        proof=samples.proof(),
        branch=samples.published(),
    )
    assert report.next_steps[-1].command == ""
    assert "a remote named gerrit" in report.next_steps[-1].why


def test_every_property_of_the_schema_is_described() -> None:
    schema = json_schema()
    models = [schema, *(each for each in schema["$defs"].values() if "properties" in each)]
    assert len(models) > 15
    for model in models:
        for name, each in model["properties"].items():
            assert each.get("description"), (model["title"], name)


@pytest.mark.parametrize(
    ("branch", "part"),
    [
        (BranchFacts(name="b", action=Action.REFUSED, old="0" * 40), "log 77ece"),
        (BranchFacts(name="b", action=Action.DRY_RUN), "backport run ocata/bug-1783613 --checkout"),
    ],
)
def test_the_next_step_depends_on_what_became_of_the_branch(branch: BranchFacts, part: str) -> None:
    assert part in _commands(samples.of_proof(samples.proof(), branch, 5))[0]


def test_paths_are_quoted_in_commands() -> None:
    report = build_report(
        invocation=samples.invocation(),
        series=samples.series(),
        checkout=samples.checkout().model_copy(update={"path": "/tmp/it's here"}),
        outcome=samples.outcome(),
        proof=samples.proof(),
        branch=samples.published(),
    )
    assert _commands(report)[0].startswith("""git -C '/tmp/it'"'"'s here' log""")
