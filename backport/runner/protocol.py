"""The talk with one worker process: orders out, records in, and nothing waited for too long.

What can happen to a test is told here from what can happen to its process: a worker that
dies takes one test with it, a test that does not end is ended, and a run that cannot go on
says why.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import selectors
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backport.process import Bounded, Running
from backport.runner.cpu_tokens import Claim, Tokens
from backport.runner.messages import Terms, Told
from backport.runner.order import Line, Next
from backport.runner.results import Status, TestResult

_TICK = 0.2  # seconds between looks at the clock
_PATIENCE = 10.0  # seconds for a worker to die after it was told to be killed
_IMPORT = 1e6  # weight: imports go before all tests


@dataclass
class _Busy:
    """A unit that a worker runs: what of it is still to be told."""

    unit: Next
    left: list[str]
    claim: Claim
    since: float
    current: str | None
    told: int = 0
    doomed: bool = False


class Dialogue:
    """One run: see :meth:`hold`.

    :param control: file descriptor that orders are written to; is closed at the end
    :param events: file descriptor that records are read from; is closed at the end
    """

    def __init__(self, control: int, events: int, tokens: Tokens, terms: Terms) -> None:
        self._control, self._events = control, events
        self._tokens, self._terms = tokens, terms
        self._wake_out, self._wake_in = os.pipe()
        for fd in (self._wake_out, self._wake_in):
            os.set_blocking(fd, False)
        self._claims: list[Claim] = []
        self._units: list[list[str]] | None = None
        self._line = Line((), terms.expected)
        self._busy: dict[int, _Busy] = {}
        self._idle: dict[int, Next] = {}  # by slots: what they ran last
        self._retired: set[int] = set()
        self._importing = ""
        self._buffer = b""
        self.output = Bounded(20_000)
        self.told = Told()

    def hold(self, start: Callable[[], Running], log: Callable[[bytes], None]) -> Told:
        """Start the process once there is a token for it, and talk until all is told."""
        try:
            if not self._wait_for_token():
                return self.told
            with start() as process, selectors.DefaultSelector() as selector:
                for fd in (self._events, self._wake_out, process.output_fd):
                    selector.register(fd, selectors.EVENT_READ)
                silent_since = math.inf
                while not self._over():
                    self._ask()
                    for key, _ in selector.select(_TICK):
                        if key.fd == process.output_fd:
                            if not self._overhear(process, log):
                                selector.unregister(key.fd)
                        elif not self._hear(key.fd):
                            selector.unregister(key.fd)
                            silent_since = time.monotonic()
                    self._look(process)
                    if time.monotonic() - silent_since > _PATIENCE:
                        self.told.problem = "the test process closed its pipe"
                self._say_goodbye(process)
                self._overhear(process, log)
        finally:
            self._close()
        self._settle_rest()
        return self.told

    # -- tokens ----------------------------------------------------------------------------

    def _granted(self) -> None:
        with suppress(BlockingIOError):  # full: it will be heard anyway
            os.write(self._wake_in, b"!")

    def _wait_for_token(self) -> bool:
        self._claims.append(self._tokens.ask(_IMPORT, self._granted))
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_out, selectors.EVENT_READ)
            while not self._claims[0].held:
                selector.select(_TICK)
                self._drain()
                if reason := self._terms.broken_off():
                    self.told.problem = reason
                    return False
        return True

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._wake_out, 4096):
                pass

    def _ask(self) -> None:
        """Ask for as many tokens as there is work for and places to do it."""
        if self._units is None:
            return
        room = min(self._terms.jobs - len(self._busy), len(self._line)) - len(self._claims)
        for ahead in range(room):
            # A worker that is idle, or else the first one, can take as many as this.
            group = self._line.group()
            ready = max(sum(last.group == group for last in self._idle.values()), not self._busy)
            extra = len(self._claims) >= ready
            self._claims.append(self._tokens.ask(self._line.weight(ahead), self._granted, extra))

    def _use_tokens(self) -> None:
        self._drain()
        for claim in [claim for claim in self._claims if claim.held]:
            if self._units is None:
                return  # the one for the import
            self._claims.remove(claim)
            if self._line:
                self._order(claim)
            else:
                claim.give_back()

    def _order(self, claim: Claim) -> None:
        one = self._line.take()
        assert self._units is not None
        slot = self._worker_for(one)
        whole = self._units[one.unit]
        single = one.tests[0] if len(whole) == 1 else None
        self._busy[slot] = _Busy(one, list(one.tests), claim, time.monotonic(), single)
        without = [test for test in whole if test not in one.tests]
        self._send({"run": one.unit, "without": without, "slot": slot})

    def _worker_for(self, one: Next) -> int:
        """Return the slot of a worker that has run nothing which comes later, or is kept apart."""
        for slot, last in list(self._idle.items()):
            if last.group != one.group:
                self._send({"retire": slot})
                self._retired.add(slot)
                del self._idle[slot]
        ready = [slot for slot, last in self._idle.items() if last.place < one.place]
        if ready:
            del self._idle[ready[-1]]
            return ready[-1]
        taken = {*self._busy, *self._idle, *self._retired}
        return next(number for number in itertools.count() if number not in taken)

    def _send(self, order: dict[str, Any]) -> None:
        try:
            os.write(self._control, json.dumps(order).encode("ascii") + b"\n")
        except OSError:
            return  # it has died; _look finds out how

    # -- records ---------------------------------------------------------------------------

    def _hear(self, fd: int) -> bool:
        """Take in what there is; False at the end of the records."""
        if fd == self._wake_out:
            self._use_tokens()
            return True
        data = os.read(self._events, 1 << 20)
        whole, _, self._buffer = (self._buffer + data).rpartition(b"\n")
        try:
            for line in whole.splitlines():
                record = json.loads(line)
                getattr(self, "_on_" + record["event"])(record)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self.told.problem = f"the test process sent a record that makes no sense: {error!r}"
        return bool(data)

    def _overhear(self, process: Running, log: Callable[[bytes], None]) -> bool:
        data = process.read()
        if data:
            self.output.add(data)
            log(data)
        return data is not None

    def _on_importing(self, record: dict[str, Any]) -> None:
        self._importing = record["name"]

    def _on_loaded(self, record: dict[str, Any]) -> None:
        self._units, self.told.facts = record["units"], record["facts"]
        self._importing = ""
        self._line = Line(record["units"], self._terms.expected, self._terms.apart)
        self._claims.pop().give_back()
        self._terms.loaded(sum(map(len, record["units"])) + len(record["problems"]))
        for problem in record["problems"]:
            self._tell(problem["id"], Status(problem["status"]), 0.0, problem["detail"])

    def _on_started(self, record: dict[str, Any]) -> None:
        busy = self._busy[record["slot"]]
        busy.current, busy.since = record["id"], time.monotonic()

    def _on_result(self, record: dict[str, Any]) -> None:
        busy = self._busy[record["slot"]]
        test = record["id"]
        # testscenarios makes "test(scenario)" of "test" while it runs.
        plain = test if test in busy.left else test.partition("(")[0]
        busy.left = [one for one in busy.left if one != plain]
        busy.told += 1
        busy.current = None
        said = [record["detail"], _output(record["output"])]
        detail = "\n\n".join(filter(None, said))
        self._tell(test, Status(record["status"]), record["seconds"], detail)

    def _on_done(self, record: dict[str, Any]) -> None:
        busy = self._busy.pop(record["slot"])
        for test in busy.left:
            self._tell(test, Status.NOT_RUN, 0.0, "it reported nothing")
        self._idle[record["slot"]] = busy.unit
        self._ask()  # before the token goes back: another run's claim may weigh less
        busy.claim.give_back()

    def _on_kept(self, record: dict[str, Any]) -> None:
        self._terms.kept(record["name"], record["value"])

    def _on_died(self, record: dict[str, Any]) -> None:
        self._idle.pop(record["slot"], None)
        self._retired.discard(record["slot"])
        busy = self._busy.pop(record["slot"], None)
        if busy is None:
            return
        busy.claim.give_back()
        now = time.monotonic()
        if busy.doomed:
            status, said = Status.TIMED_OUT, f"ended after {now - busy.since:.0f} s"
        else:
            status, said = Status.CRASHED, f"the test's process died: {record['how']}"
        detail = "\n\n".join(filter(None, [said, _output(record["output"])]))
        # Where no test had begun it is the fixture of the class or module: it concerns them all.
        dead = [busy.current] if busy.current else list(busy.left)
        for test in dead:
            self._tell(test, status, now - busy.since, detail)
        rest = [test for test in busy.left if test not in dead]
        if rest:
            self._line.put_back(busy.unit, rest)

    def _tell(self, test: str, status: Status, seconds: float, detail: str) -> None:
        result = TestResult(test, status, seconds, detail)
        self.told.results.append(result)
        self._terms.heard(result)
        if self._terms.fail_fast and not status.passed and status is not Status.SKIPPED:
            self.told.stopped = True

    # -- ending ----------------------------------------------------------------------------

    def _over(self) -> bool:
        if self.told.problem or self.told.stopped:
            return True
        return self._units is not None and not self._line and not self._busy

    def _look(self, process: Running) -> None:
        """Look at the clock, and whether the process still lives."""
        now = time.monotonic()
        for slot, busy in self._busy.items():
            late = now - busy.since - self._terms.test_timeout
            if late > 0 and not busy.doomed:
                busy.doomed = True
                self._send({"kill": slot})
            elif busy.doomed and late > _PATIENCE:
                self.told.problem = f"{busy.current or 'a test'} could not be ended"
        if now > self._terms.deadline:
            self.told.problem = f"the time for the run was up{self._where()}"
        if reason := self._terms.broken_off():
            self.told.problem = reason
        status = process.poll()
        if status is not None and not self._over():
            how = f"signal {-status}" if status < 0 else f"exit status {status}"
            self.told.problem = f"the test process ended with {how}{self._where()}"

    def _where(self) -> str:
        return f" while it imported {self._importing}" if self._importing else ""

    def _settle_rest(self) -> None:
        """Say of each test that has no result yet why it has none."""
        if self.told.stopped:
            return
        for busy in self._busy.values():
            for test in [busy.current] if busy.current else []:
                self._tell(test, Status.TIMED_OUT, time.monotonic() - busy.since, "it was running")
                busy.left = [one for one in busy.left if one != test]
        waiting = [test for busy in self._busy.values() for test in busy.left]
        for test in waiting + self._line.rest():
            self._tell(test, Status.NOT_RUN, 0.0, self.told.problem)

    def _say_goodbye(self, process: Running) -> None:
        """Let a process that has nothing left to do end by itself."""
        os.close(self._control)
        self._control = -1
        asked = time.monotonic()
        while not self._busy and process.poll() is None and time.monotonic() - asked < 1.0:
            time.sleep(0.002)

    def _close(self) -> None:
        for claim in [*self._claims, *(busy.claim for busy in self._busy.values())]:
            claim.give_back()
        for fd in (self._control, self._events, self._wake_in, self._wake_out):
            if fd >= 0:
                os.close(fd)


def _output(text: str) -> str:
    return f"output:\n{text.rstrip()}" if text.strip() else ""
