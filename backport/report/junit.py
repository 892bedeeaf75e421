"""``junit.xml``: the proof for tools that know nothing of proofs.

A suite for each cell, a case for each test. Such tools hold that a test that fails is bad, so

* where a cell must be red and is, its failing tests are passed cases, with what they said in
  their ``system-out``;
* a failure that the base has too is a skipped case, since nobody is blamed for it;
* each suite has one more case, named after its cell, which fails if the cell did not come out
  as the proof wants it (a red cell that is not red), and is an error if it cannot be believed.

So the file is all green exactly if every cell is as it must be. The form is the one that
Jenkins' and GitLab's readers share: properties, then cases, then output.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from backport.report import wording
from backport.report.document import CellFacts, Report, Result, TestFacts
from backport.report.text import clean, exception_line, one_line, shorten
from backport.runner.results import CellKind, Status

_OUTPUT = 20_000  # characters of a test's output
_BAD_RESULTS = {Result.BROKEN, Result.UNPROVEN, Result.CONFLICT, Result.NOT_DONE}


def render_junit(report: Report) -> str:
    """Return the file, as XML 1.0 without the characters that it forbids."""
    root = ElementTree.Element("testsuites", name=_attribute(f"backport {_name(report)}"))
    known = frozenset(report.proof.failing_on_base) if report.proof else frozenset[str]()
    for cell in report.proof.cells if report.proof else ():
        root.append(_suite(report, cell, known))
    if not len(root):
        root.append(_lone_suite(report))
    _count(root, list(root))
    ElementTree.indent(root)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return head + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(report: Report, cell: CellFacts, known: frozenset[str]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=_attribute(f"{cell.label} {cell.interpreter}"))
    suite.set("timestamp", report.started.strftime("%Y-%m-%dT%H:%M:%S"))
    properties = ElementTree.SubElement(suite, "properties")
    for name in ("tree", "command", "interpreter", "environment", "log"):
        value = _attribute(str(getattr(cell, name) or ""))
        ElementTree.SubElement(properties, "property", name=name, value=value)
    suite.append(_cell_case(cell))
    for test in cell.tests:
        suite.append(_test_case(cell, test, known))
    _count(suite, [suite])
    suite.set("time", f"{cell.seconds:.3f}")
    return suite


def _lone_suite(report: Report) -> ElementTree.Element:
    # A file without any case is an error to Jenkins; here it is what happened.
    suite = ElementTree.Element("testsuite", name="backport")
    case = _case(suite, "backport", _name(report), report.seconds)
    if report.result in _BAD_RESULTS:
        _say(case, "failure", report.sentence)
    elif report.result in (Result.CANNOT_TELL, Result.REFUSED):
        _say(case, "error", report.sentence)
    elif report.result is not Result.ALREADY_IN:
        _say(case, "skipped", report.sentence)
    _count(suite, [suite])
    return suite


def _cell_case(cell: CellFacts) -> ElementTree.Element:
    case = _case(None, "backport.proof", f"{cell.label} is as it must be", 0.0)
    sentence = wording.cell_sentence(cell)
    if cell.problem:
        _say(case, "error", sentence, cell.reason)
    elif not cell.ok:
        _say(case, "failure", sentence, cell.reason)
    else:
        ElementTree.SubElement(case, "system-out").text = clean(sentence)
    return case


def _test_case(cell: CellFacts, test: TestFacts, known: frozenset[str]) -> ElementTree.Element:
    group, name = wording.splits(test.id)
    case = _case(None, group or "tests", name, test.seconds)
    said = shorten(clean(test.detail), _OUTPUT)
    message = exception_line(test.detail) or test.status.value
    if test.status is Status.SKIPPED:
        _say(case, "skipped", one_line(test.detail) or "skipped")
    elif test.status.passed or (wording.must_fail(cell) and test.status.red):
        if said:
            ElementTree.SubElement(case, "system-out").text = said
    elif test.id in known or cell.kind is CellKind.BASE:
        _say(case, "skipped", f"fails on the base too: {message}")
    elif cell.ok:
        _say(case, "skipped", f"not blamed: {message}")
    else:
        kind = "failure" if test.status is Status.FAILED else "error"
        _say(case, kind, message, said)
    return case


def _case(
    suite: ElementTree.Element | None, group: str, name: str, seconds: float
) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_attribute(group), name=_attribute(name))
    case.set("time", f"{seconds:.3f}")
    if suite is not None:
        suite.append(case)
    return case


def _say(case: ElementTree.Element, kind: str, message: str, text: str = "") -> None:
    element = ElementTree.SubElement(case, kind, message=_attribute(message))
    if text:
        element.text = clean(text)


def _attribute(text: str) -> str:
    return one_line(text)


def _count(element: ElementTree.Element, suites: Iterable[ElementTree.Element]) -> None:
    cases = [case for suite in suites for case in suite.iter("testcase")]
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(tag) is not None for case in cases)))
    element.set("tests", str(len(cases)))
    element.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")


def _name(report: Report) -> str:
    return report.series.name if report.series else "no series"
