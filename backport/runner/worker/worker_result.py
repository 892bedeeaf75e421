"""How one test ended, told from where its exception came. For Python 2.7 and 3.

Part of :mod:`backport.runner.worker`. Nothing here is given type annotations: Python 2 has none.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import absolute_import

import sys
import time
import traceback
import unittest

clock = getattr(time, "monotonic", time.time)  # taken now: tests replace what is in the module

# Worst first: a test that fails and whose cleaning up breaks too is an error.
STATUSES = (
    "timed out",
    "crashed",
    "set-up error",
    "error",
    "failed",
    "unexpected success",
    "skipped",
    "expected failure",
    "passed",
)

# The functions that unittest (2.7 to 3.13), unittest2 and testtools call a part of a test by. The
# first of them in a traceback tells the part; where there is none, it is the test's own body.
_SET_UP = ("_run_setup", "_callSetUp", "setUp", "asyncSetUp", "setUpClass", "setUpModule")
_BODY = ("_run_test_method", "_callTestMethod")
_AFTER = ("_run_teardown", "_callTearDown", "tearDown", "_run_cleanups", "_callCleanup")


def as_text(value):
    """Return bytes or text as text that any encoding can carry."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    # Lone surrogates (PEP 383) cannot be written to a report; in Python 2 they can, and stay.
    return value.encode("utf-8", "backslashreplace").decode("utf-8", "replace")


def shortened(text, limit):
    """Return the beginning and the end of a text that is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    gap = "\n[... %d characters left out ...]\n" % (len(text) - 2 * half)
    return text[:half] + gap + text[-half:]


def in_set_up(trace):
    """Tell whether the traceback is one of setting the test up: its own body was not reached."""
    while trace is not None:
        name = trace.tb_frame.f_code.co_name
        if name in _SET_UP:
            return True
        if name in _BODY or name in _AFTER:
            return False
        trace = trace.tb_next
    return False


def is_time_out(error):
    """Tell whether a test's own time-out, ``fixtures.Timeout``, has raised the exception.

    How fast a machine is says nothing about the code, so this is neither an error nor a failure.
    """
    kind = getattr(sys.modules.get("fixtures"), "TimeoutException", None)
    return isinstance(kind, type) and isinstance(error[1], kind)


def exception_text(error):
    """Return an exception, as ``sys.exc_info()`` gives it, with its traceback."""
    return as_text("".join(as_text(line) for line in traceback.format_exception(*error)))


def details_text(details, limit):
    """Return testtools' details: the traceback first, what is no text by its size."""
    parts = []
    for name in sorted(details, key=lambda name: (not name.startswith("traceback"), name)):
        data = b"".join(details[name].iter_bytes())
        kind = details[name].content_type
        said = as_text(data) if kind.type == "text" else "(%s, %d bytes)" % (kind, len(data))
        if said.strip():
            parts.append("%s:\n%s" % (as_text(name), shortened(said.rstrip(), limit)))
    return "\n\n".join(parts)


class Collector(unittest.TestResult):
    """A result that both unittest and testtools can report to; hands on one record a test.

    :param send: is called with ``{"id", "status", "seconds", "detail"}``
    :param starts: is called with the id of a test that starts
    :param limit: characters of each section of the details that are kept
    """

    def __init__(self, send, starts, limit):
        super(Collector, self).__init__()
        self._send = send
        self._starts = starts
        self._limit = limit
        self.reported = []  # ids
        self.outside = []  # records of class and module fixtures, which belong to no one test
        self._running = False
        self._begin()

    def _begin(self):
        self._began = clock()
        self._outcomes = []
        self._set_up_failed = False
        self._timed_out = False

    def startTest(self, test):
        """Begin a test."""
        self._begin()
        self._running = True
        self.testsRun += 1
        self._starts(test.id())
        if hasattr(test, "addOnException"):  # testtools: hands out texts, never the exception
            test.addOnException(self._saw)

    def _saw(self, error):
        self._set_up_failed = self._set_up_failed or in_set_up(error[2])
        self._timed_out = self._timed_out or is_time_out(error)

    def stopTest(self, test):
        """End a test: report the worst of what it said."""
        self._running = False
        outcomes = self._outcomes or [("error", "the test reported nothing")]
        status = min((status for status, _ in outcomes), key=STATUSES.index)
        if self._timed_out and status in ("error", "failed"):
            status = "timed out"
        elif self._set_up_failed and status in ("error", "failed"):
            status = "set-up error"
        detail = "" if status == "passed" else "\n\n".join(said for _, said in outcomes if said)
        self.report(test.id(), status, detail, clock() - self._began)

    def report(self, test_id, status, detail, seconds=0.0):
        """Hand on a record."""
        self.reported.append(test_id)
        self._send({"id": as_text(test_id), "status": status, "seconds": seconds, "detail": detail})

    def _add(self, status, test, error=None, details=None, reason=None):
        if error is not None:
            said = shortened(self._describe(error, test), self._limit)
            self._saw(error)
        else:
            said = details_text(details, self._limit) if details else as_text(reason or "")
        if self._running:
            self._outcomes.append((status, said))
        else:  # unittest's _ErrorHolder: "setUpClass (module.Class)"
            self.outside.append((as_text(test.id()), status, said))

    def _describe(self, error, test):
        try:
            # unittest's own, which leaves its frames out; it is there in 2.7 to 3.13.
            return as_text(self._exc_info_to_string(error, test))  # type: ignore[attr-defined]
        except Exception:
            return exception_text(error)

    def addSuccess(self, test, details=None):
        """The test passed."""
        self._add("passed", test)

    def addError(self, test, err=None, details=None):
        """Something other than an assertion."""
        self._add("error", test, err, details)

    def addFailure(self, test, err=None, details=None):
        """An assertion did not hold."""
        self._add("failed", test, err, details)

    def addSkip(self, test, reason=None, details=None):
        """The test does not apply here."""
        self._add("skipped", test, None, details, reason)

    def addExpectedFailure(self, test, err=None, details=None):
        """It failed, and says that it would."""
        self._outcomes.append(("expected failure", ""))

    def addUnexpectedSuccess(self, test, details=None):
        """It passed, and says that it would not."""
        self._add("unexpected success", test, None, details)

    def addSubTest(self, test, subtest, err):
        """A part of a test ended; only failures count, the test itself reports success."""
        if err is not None:
            failed = issubclass(err[0], test.failureException)
            self._add("failed" if failed else "error", test, err)
            status, said = self._outcomes.pop()
            self._outcomes.append((status, "%s\n%s" % (as_text(subtest.id()), said)))
