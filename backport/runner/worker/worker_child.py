"""The forked process that runs tests, as it sees itself. For Python 2.7 and 3.

Part of :mod:`backport.runner.worker`. What tests may replace is taken before any test is imported.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import absolute_import

import copy
import ctypes
import errno
import fcntl
import json
import os
import random
import signal
import sys
import traceback

import worker_result  # type: ignore[import-not-found]
import worker_tests  # type: ignore[import-not-found]

try:
    import faulthandler
except ImportError:  # Python 2
    faulthandler = None  # type: ignore[assignment]

_read, _write, _fstat = os.read, os.write, os.fstat
_getpid, _chdir, _exit = os.getpid, os.chdir, os._exit
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_HIGH = 300  # pipes get numbers from here on: tests close the low ones
LOST_PIPE = 99  # the exit status of a worker whose pipe a test has closed
DETAIL = 32768  # characters of each section of a test's details that are kept
# Nobody else's signal: "say where you are", sent to a worker that is about to be killed.
ASK = signal.SIGRTMAX - 1 if hasattr(signal, "SIGRTMAX") else signal.SIGUSR2


def prctl(option, value):
    """Set an attribute of this process, where there is such a thing (Linux)."""
    try:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def send(fd, record):
    """Write a record, a JSON object on a line, ASCII only."""
    data = json.dumps(record).encode("ascii") + b"\n"
    while data:
        try:
            data = data[_write(fd, data) :]
        except OSError as error:
            if error.errno != errno.EINTR:  # Python 2 does not try again by itself
                raise


def receive(fd):
    """Return the bytes that are there: none at the end, None if nothing is there yet."""
    try:
        return _read(fd, 65536)
    except OSError as error:
        return None if error.errno in (errno.EAGAIN, errno.EINTR) else b""


def set_nonblocking(fd):
    """Make reads return at once."""
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)


class Keepsake(object):
    """What the project's fixtures work out once a process, and keep in an attribute of a module.

    :param spec: ``{"name", "module", "attribute", "value"}``; the value is one that ``news()``
        of an earlier process returned, or None
    """

    def __init__(self, spec):
        self._module = sys.modules.get(spec["module"])
        self._attribute = spec["attribute"]
        self.name = spec["name"]
        self._before = copy.copy(self._value())
        self.given = self.put(spec["value"])

    def _value(self):
        return getattr(self._module, self._attribute, None)

    def put(self, kept):
        """Take over a kept value, if it is one that this process could have made; tell whether."""
        mine = self._value()
        if not kept or kept["sqlite"] != _sqlite() or not _alike(mine, kept["value"]):
            return False
        if isinstance(mine, dict):  # the same object: others may have it by reference
            for key in mine:
                mine[key] = kept["value"][key]
        else:
            setattr(self._module, self._attribute, kept["value"])
        self._before = copy.copy(self._value())
        return True

    def news(self):
        """Return the value to keep if it is another than before, else None."""
        value = self._value()
        if value == self._before or not _alike(value, value):
            return None
        self._before = copy.copy(value)
        return {"sqlite": _sqlite(), "value": value}


def _alike(mine, other):
    """Tell whether values are of one shape: texts, numbers, dictionaries with the same keys."""
    if isinstance(mine, dict):
        same = isinstance(other, dict) and set(mine) == set(other)
        return same and all(_alike(mine[key], other[key]) for key in mine)
    text = type(b"".decode("ascii"))  # Python 2 has two kinds of them
    kinds = ((text, str), (int, float))
    return any(isinstance(mine, kind) and isinstance(other, kind) for kind in kinds)


def _sqlite():
    try:
        import sqlite3
    except ImportError:
        return ""
    return sqlite3.sqlite_version


class Pipes(object):
    """The three pipes between the hub and a worker; each side closes what is the other's."""

    def __init__(self):
        self.orders, self.results, self.output = os.pipe(), os.pipe(), os.pipe()

    def close(self, ends):
        """Close the worker's ends (0) or the hub's (1)."""
        for fd in [self.orders[ends], self.results[1 - ends], self.output[1 - ends]]:
            os.close(fd)

    def become_worker(self):
        """Take over the worker's ends, out of the way of tests; return ``(orders, results)``."""
        self.close(1)
        for number in (1, 2):
            os.dup2(self.output[1], number)
        os.close(self.output[1])
        moved = []
        for fd in (self.orders[0], self.results[1]):
            moved.append(fcntl.fcntl(fd, fcntl.F_DUPFD, _HIGH))
            fcntl.fcntl(moved[-1], fcntl.F_SETFD, fcntl.FD_CLOEXEC)
            os.close(fd)
        return moved


def settle():
    """Make a freshly forked process one of its own."""
    os.setpgid(0, 0)
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    random.seed()  # or every worker would draw the same "random" port
    hubs = sys.modules.get("eventlet.hubs")
    if hubs is not None and hasattr(hubs._threadlocal, "hub"):
        hubs.use_hub()  # an epoll descriptor must not be shared (as oslo.service does after a fork)
    if faulthandler is not None:
        faulthandler.register(ASK, file=2, all_threads=True)
    else:
        signal.signal(ASK, _say_where)


def _say_where(number, frame):
    _write(2, ("It was here:\n" + "".join(traceback.format_stack(frame))).encode("utf-8"))


class Worker(object):
    """Runs units of tests in this process, as they are ordered.

    :param units: lists of tests; see :func:`backport.runner.worker.worker_tests.load`
    :param kept: keepsakes and patterns, of which there may be news
    :param root: the folder that every test finds as its current one
    """

    def __init__(self, units, kept, root, orders, results):
        self._units, self._root = units, root
        self._keepsakes, self._patterns = kept
        self._orders, self._results = orders, results
        self._pid, self._pipe = _getpid(), _fstat(results)[:3]

    def serve(self):
        """Run what is ordered, until there are no more orders."""
        waiting = b""
        while True:
            data = receive(self._orders)
            if data == b"":
                _exit(0)
            waiting += data or b""
            whole, _, waiting = waiting.rpartition(b"\n")
            for line in whole.splitlines():
                order = json.loads(line.decode("ascii"))
                self._run(order["run"], order["without"])
                self._send({"event": "done"})

    def _send(self, record):
        # A child that a test forked comes here too, where an exception takes it out of the test.
        if _getpid() != self._pid:
            _exit(1)
        try:  # the number of a pipe that a test closed may be another file's by now
            lost = _fstat(self._results)[:3] != self._pipe
        except OSError:
            lost = True
        if lost:
            _exit(LOST_PIPE)
        send(self._results, record)

    def _run(self, number, without):
        unit = [test for test in self._units[number] if worker_tests.ids([test])[0] not in without]
        expected = worker_tests.ids(unit)
        starts = self._starts if len(expected) > 1 else lambda test_id: None
        collector = worker_result.Collector(self._result, starts, DETAIL)
        began = worker_result.clock()
        try:
            worker_tests.framework().TestSuite(unit)(collector)
        except BaseException:  # KeyboardInterrupt passes through every runner
            said = worker_result.exception_text(sys.exc_info())
            for name in [name for name in expected if name not in collector.reported][:1]:
                collector.report(name, "error", said, worker_result.clock() - began)
        _report_fixtures(collector, expected)
        self._units[number] = None  # as a suite does: frees what the tests hold
        try:
            _chdir(self._root)
        except OSError:
            pass

    def _result(self, record):
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            try:
                stream.flush()  # type: ignore[union-attr]
            except Exception:
                pass
        for keepsake in self._keepsakes if record["status"] == "passed" else ():
            news = keepsake.news()
            if news is not None:
                self._send({"event": "kept", "name": keepsake.name, "value": news})
        self._send(dict(record, event="result"))
        keys = self._patterns.news()
        if keys is not None:
            self._send({"event": "patterns", "keys": keys})

    def _starts(self, test_id):
        self._send({"event": "started", "id": worker_result.as_text(test_id)})


def _report_fixtures(collector, expected):
    """Report class and module fixtures that failed on the tests that they kept from running."""
    for name, status, detail in collector.outside:
        missing = [test for test in expected if test not in collector.reported]
        for test in missing:
            kept_from = "skipped" if status == "skipped" else "set-up error"
            collector.report(test, kept_from, detail)
        if not missing and status != "skipped":
            collector.report(name, "error", detail)
