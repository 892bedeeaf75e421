"""Tokens go to the heaviest claim, and none is lost."""

from __future__ import annotations

from backport.runner.cpu_tokens import Claim, Tokens


def ask(tokens: Tokens, got: list[str], name: str, weight: float, extra: bool = False) -> Claim:
    return tokens.ask(weight, lambda: got.append(name), extra)


def test_no_more_claims_hold_a_token_than_there_are_tokens() -> None:
    got: list[str] = []
    tokens = Tokens(2)
    first = ask(tokens, got, "first", 1)
    ask(tokens, got, "second", 1)
    third = ask(tokens, got, "third", 1)
    assert got == ["first", "second"]
    assert (first.held, third.held) == (True, False)
    first.give_back()
    assert got == ["first", "second", "third"]
    assert (first.held, third.held) == (False, True)


def test_the_heaviest_goes_first_and_of_equal_ones_the_oldest() -> None:
    got: list[str] = []
    tokens = Tokens(1)
    holder = ask(tokens, got, "holder", 0)
    claims = {
        name: ask(tokens, got, name, weight) for name, weight in (("a", 1), ("b", 5), ("c", 5))
    }
    holder.give_back()
    claims["b"].give_back()
    claims["c"].give_back()
    assert got == ["holder", "b", "c", "a"]


def test_what_needs_another_process_waits_for_what_does_not() -> None:
    got: list[str] = []
    tokens = Tokens(1)
    holder = ask(tokens, got, "holder", 0)
    ask(tokens, got, "extra", 9, extra=True)
    small = ask(tokens, got, "small", 1)
    holder.give_back()
    assert got == ["holder", "small"]
    small.give_back()
    assert got == ["holder", "small", "extra"]


def test_a_claim_that_was_withdrawn_gets_nothing() -> None:
    got: list[str] = []
    tokens = Tokens(1)
    holder = ask(tokens, got, "holder", 0)
    gone = ask(tokens, got, "gone", 9)
    ask(tokens, got, "next", 1)
    gone.give_back()
    holder.give_back()
    assert got == ["holder", "next"]


def test_giving_back_twice_makes_no_token() -> None:
    got: list[str] = []
    tokens = Tokens(1)
    holder = ask(tokens, got, "holder", 0)
    holder.give_back()
    holder.give_back()
    ask(tokens, got, "a", 1)
    ask(tokens, got, "b", 1)
    assert got == ["holder", "a"]
