"""As many tokens as cores, shared by all runs that go on side by side.

Each import and each test is done while a token is held. The tokens are kept here, in the tool,
so none is lost with a process that dies.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable


class Claim:
    """The wish for a token, then the token, until it is given back."""

    def __init__(self, tokens: Tokens, granted: Callable[[], None]) -> None:
        self._tokens = tokens
        self._granted = granted
        self.held = False
        self._over = False

    def give_back(self) -> None:
        """Return the token, or withdraw the wish; once is enough."""
        self._tokens.settle(self)


class Tokens:
    """Gives each token to the claim that weighs most; of equal ones, to the oldest.

    The longest piece of work goes first, whichever run it is of: that keeps all cores
    busy until the end (longest processing time first; Graham, 1969). Work that needs one more
    process waits for work that does not: in nova the first functional test of a process
    takes twice as long as the second.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()
        self._order = itertools.count()
        self._waiting: list[tuple[bool, float, int, Claim]] = []

    def ask(self, weight: float, granted: Callable[[], None], extra: bool = False) -> Claim:
        """Ask for a token.

        :param weight: seconds that the work will take, as far as is known
        :param granted: is called, in whichever thread, when the claim holds a token; it
            must neither wait nor ask for anything here
        :param extra: whether another process is started for it
        """
        claim = Claim(self, granted)
        with self._lock:
            heapq.heappush(self._waiting, (extra, -weight, next(self._order), claim))
        self._grant()
        return claim

    def settle(self, claim: Claim) -> None:
        """End a claim, whatever its state; see :meth:`Claim.give_back`."""
        with self._lock:
            self._free += 1 if claim.held else 0
            claim.held, claim._over = False, True
        self._grant()

    def _grant(self) -> None:
        with self._lock:
            while self._waiting and self._free:
                claim = heapq.heappop(self._waiting)[3]
                if not claim._over:
                    self._free -= 1
                    claim.held = True
                    claim._granted()  # under the lock: never for a claim that was settled
