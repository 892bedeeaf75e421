"""Runs tests inside the branch's own Python, 2.7 or 3; started by :mod:`backport.runner.runner`.

    python worker.py SPEC CONTROL EVENTS

SPEC is a JSON file. CONTROL and EVENTS are file descriptors: orders come in and records go out,
a JSON object a line. This process (the hub) imports the named tests once, then forks a worker for
each slot that is given a unit of tests to run. A worker that dies takes only its test with it, and
when CONTROL is closed, as it is when the tool is killed, everything here ends.

Orders: ``{"run": UNIT, "without": [IDS], "slot": SLOT}``, ``{"kill": SLOT}``, and ``{"retire":
SLOT}`` for a worker that is idle and will not be needed again.
Records, by their ``event``: ``importing`` (name), ``loaded`` (units, problems, facts), ``started``
(slot, id), ``result`` (slot, id, status, seconds, detail, output), ``done`` (slot), ``died``
(slot, how, output), ``kept`` (name, value).

Nothing is given type annotations, for Python 2 has none. Functions of modules that tests replace
(eventlet patches ``os`` and ``select``) are taken before any test is imported.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import absolute_import

import fcntl
import gc
import json
import os
import resource
import select
import signal
import sys
import time
import traceback

_OURS = sys.path[0]  # the script's folder
sys.dont_write_bytecode, _kept = True, sys.dont_write_bytecode  # not beside the tool's sources
import worker_child  # type: ignore[import-not-found] # noqa: E402
import worker_patterns  # type: ignore[import-not-found] # noqa: E402
import worker_result  # type: ignore[import-not-found] # noqa: E402
import worker_tests  # type: ignore[import-not-found] # noqa: E402

sys.dont_write_bytecode = _kept

_poll, _POLLIN, _select_error = select.poll, select.POLLIN, select.error
_fork, _waitpid, _kill, _killpg, _close = os.fork, os.waitpid, os.kill, os.killpg, os.close
_sleep, _clock = time.sleep, worker_result.clock
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_KEPT = 16384  # bytes of a test's standard output and error that are kept, at either end
_TICK = 100  # milliseconds between looks at the workers
_FAREWELL = 0.5  # seconds that a worker gets to say where it is before it is killed


class Slot(object):
    """A worker, as the hub sees it."""

    def __init__(self, pid, pipes):
        self.pid = pid
        self.orders, self.results, self.output = pipes.orders[1], pipes.results[0], pipes.output[0]
        self.doomed = None  # when it will be killed
        self.status = None  # how it ended
        self.buffer = b""
        self.forget()

    def forget(self):
        """Begin the output anew: another test begins."""
        self._head, self._tail = b"", b""
        self._size = 0

    def listen(self):
        """Take in output that is there, a flood bit by bit; False once it is closed."""
        for _ in range(16):
            data = worker_child.receive(self.output)
            if not data:
                return data is None
            self._size += len(data)
            room = max(_KEPT - len(self._head), 0)
            self._head += data[:room]
            self._tail = (self._tail + data[room:])[-_KEPT:]
        return True

    def said(self):
        """Return the output of the test, as text, the middle of a long one left out."""
        missing = self._size - len(self._head) - len(self._tail)
        gap = "\n[... %d bytes left out ...]\n" % missing if missing else ""
        return worker_result.as_text(self._head) + gap + worker_result.as_text(self._tail)

    def lines(self):
        """Return the records that are there, and whether the pipe is at its end."""
        data = worker_child.receive(self.results)
        self.buffer += data or b""
        whole, _, self.buffer = self.buffer.rpartition(b"\n")
        return [json.loads(line.decode("ascii")) for line in whole.splitlines()], data == b""

    def over(self, now, look):
        """Tell whether the worker's time is up, or (``look``) its process has ended.

        A child that a test forked may hold the pipes open, so their end is not enough.
        """
        if look and self.status is None:
            ended, status = _waitpid(self.pid, os.WNOHANG)
            self.status = status if ended else None
        return self.status is not None or (self.doomed is not None and now > self.doomed)

    def reap(self):
        """Return the wait status of the worker; if it lives on, it is killed."""
        for _ in range(100):
            if self.over(0, look=True):
                break
            _sleep(0.002)
        _end_group(self.pid)
        return _waitpid(self.pid, 0)[1] if self.status is None else self.status

    def retire(self):
        """Let the worker go once it is idle."""
        if self.orders is not None:
            _close(self.orders)
            self.orders = None

    def close(self):
        """Close the hub's ends."""
        self.retire()
        for fd in (self.results, self.output):
            _close(fd)


class Hub(object):
    """Takes orders, keeps the workers, passes on what they report."""

    def __init__(self, spec, control, events):
        self._root, self._control, self._events = spec["root"], control, events
        self._orders = b""
        self._slots = {}
        self._keepsakes = []
        self._patterns = worker_patterns.Patterns(spec["patterns"])
        self._units = []

    def _say(self, event, **record):
        worker_child.send(self._events, dict(record, event=event))

    def load(self, spec):
        """Import the named tests, and say what there is."""
        gc.disable()  # there is nothing to collect while modules are made
        self._units, problems = worker_tests.load(
            spec["names"], self._root, lambda name: self._say("importing", name=name)
        )
        self._keepsakes = [worker_child.Keepsake(kept) for kept in spec["keepsakes"]]
        gc.collect()
        gc.enable()
        # The default of 700 made for smaller programs: five full collections, a second and more in
        # all, in the first functional test of a process. It says when cycles go, not whether.
        gc.set_threshold(20000)
        if hasattr(gc, "freeze"):
            gc.freeze()  # the workers share these pages
        facts = {
            "python": "%d.%d.%d" % sys.version_info[:3],
            "runner": "testtools.run" if "testtools" in sys.modules else "unittest",
            "given": [keepsake.name for keepsake in self._keepsakes if keepsake.given],
        }
        units = [worker_tests.ids(unit) for unit in self._units]
        self._say("loaded", units=units, problems=problems, facts=facts)

    def serve(self):
        """Work until the control pipe is closed."""
        poller = _poll()
        poller.register(self._control, _POLLIN)
        while True:
            ready = self._ready(poller)
            for fd in ready:
                if fd != self._control:
                    self._hear(fd, poller)
                elif not self._take_orders(poller):
                    return
            for number, slot in list(self._slots.items()):
                if slot.over(_clock(), look=not ready):
                    self._bury(number, poller)

    def _ready(self, poller):
        try:
            return [fd for fd, _ in poller.poll(_TICK if self._slots else None)]
        except _select_error:  # a signal came in between, Python 2
            return []

    def _take_orders(self, poller):
        data = worker_child.receive(self._control)
        if data == b"":
            return False
        whole, _, self._orders = (self._orders + (data or b"")).rpartition(b"\n")
        for line in whole.splitlines():
            order = json.loads(line.decode("ascii"))
            if "kill" in order:
                self._doom(order["kill"])
            elif "retire" in order:
                if order["retire"] in self._slots:
                    self._slots[order["retire"]].retire()
            else:
                self._run(order, order["slot"], poller)
        return True

    def _run(self, order, number, poller):
        if number not in self._slots:
            self._slots[number] = slot = self._hire()
            poller.register(slot.results, _POLLIN)
            poller.register(slot.output, _POLLIN)
        self._slots[number].forget()
        try:
            worker_child.send(self._slots[number].orders, order)
        except OSError:  # it died while it was idle
            self._bury(number, poller)

    def _hire(self):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        pipes = worker_child.Pipes()
        pid = _fork()
        if pid:
            pipes.close(0)
            slot = Slot(pid, pipes)
            for fd in (slot.results, slot.output):
                worker_child.set_nonblocking(fd)
            return slot
        try:
            _close(self._control)
            _close(self._events)
            for slot in self._slots.values():
                slot.close()
            orders, results = pipes.become_worker()
            worker_child.settle()
            kept = (self._keepsakes, self._patterns)
            worker_child.Worker(self._units, kept, self._root, orders, results).serve()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(1)

    def _hear(self, fd, poller):
        for number, slot in list(self._slots.items()):
            if fd == slot.output:
                if not slot.listen():  # it closed its output: that would be news for ever
                    poller.unregister(fd)
            elif fd == slot.results:
                records, ended = slot.lines()
                for record in records:
                    self._pass_on(number, slot, record)
                if ended:
                    self._bury(number, poller)

    def _pass_on(self, number, slot, record):
        event = record.pop("event")
        if event == "patterns":
            name, value = worker_patterns.NAME, self._patterns.put(record["keys"])
            event, record = "kept", {"name": name, "value": value}
        elif event == "kept":
            for keepsake in self._keepsakes:
                if keepsake.name == record["name"]:
                    keepsake.put(record["value"])  # for workers to come
        if event == "result":
            slot.listen()
            record["output"] = "" if record["status"] == "passed" else slot.said()
        if event in ("result", "started"):
            slot.forget()
        self._say(event, slot=number, **record)

    def _doom(self, number):
        """Ask a worker where it is; it is killed a little later."""
        slot = self._slots.get(number)
        if slot is not None and slot.doomed is None:
            slot.doomed = _clock() + _FAREWELL
            _kill(slot.pid, worker_child.ASK)

    def _bury(self, number, poller):
        slot = self._slots.pop(number)
        status = slot.reap()
        slot.listen()
        for fd in (slot.results, slot.output):
            try:
                poller.unregister(fd)
            except KeyError:
                pass
        slot.close()
        self._say("died", slot=number, how=_how(status), output=slot.said())

    def end(self):
        """End the workers, and what tests have left: orphans come to this process (subreaper)."""
        for slot in self._slots.values():
            slot.retire()  # an idle one goes by itself
        for slot in self._slots.values():
            slot.reap()
        for _ in range(20):
            orphans = _children()
            for pid in orphans:
                _kill(pid, signal.SIGKILL)
            if not orphans:
                break
            _sleep(0.01)


def _end_group(pid):
    for end in (_killpg, _kill):  # the group is there only once the worker has made it
        try:
            end(pid, signal.SIGKILL)
        except OSError:
            pass


def _how(status):
    if os.WIFSIGNALED(status):
        return "signal %d" % os.WTERMSIG(status)
    if os.WEXITSTATUS(status) == worker_child.LOST_PIPE:
        return "it closed the pipe that results go through"
    return "exit status %d" % os.WEXITSTATUS(status)


def _children():
    """Return the living children of this process, where ``/proc`` tells."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        try:
            with open("/proc/%s/stat" % name, "rb") as stat:
                state, parent = stat.read().rpartition(b")")[2].split()[:2]
        except (IOError, OSError, ValueError):
            continue
        if int(parent) == os.getpid() and state not in (b"Z", b"X"):
            found.append(int(name))
    return found


def main(arguments):
    """Load, then serve."""
    with open(arguments[0], "rb") as file:
        spec = json.loads(file.read().decode("utf-8"))
    # The tool's folder came first on the path; the project's modules may have the same names.
    sys.path.remove(_OURS)
    sys.argv[:] = ["run.py"]
    worker_child.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    for fd in arguments[1:3]:
        fcntl.fcntl(int(fd), fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hub = Hub(spec, int(arguments[1]), int(arguments[2]))
    try:
        hub.load(spec)
        hub.serve()
    finally:
        hub.end()
    os._exit(0)  # no atexit of the project's


if __name__ == "__main__":
    main(sys.argv[1:])
