"""Circles: pipes or cores of which each waits for what another one does later.

In a loop they are not primed: a signal that a loop waits for before it sets it wants a set in front of the loop, and
a wait behind it, all of them at once. Elsewhere a wait stands too early: it goes behind a set of its own program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from xdsl.ir import Operation

from ptosim.language.edits import Edit
from ptosim.language.micro.sync import SetFlagDyn, WaitFlagDyn
from ptosim.language.operation import core_of
from ptosim.repair.balance import Balance
from ptosim.repair.possible_values import possible
from ptosim.repair.proposal import Proposal
from ptosim.repair.written import SIGNAL_WAITS, WrittenSync, flag_words
from ptosim.sanitize.program import outermost_loop

_Flag = tuple[str, str, int]
_OUTWARD = {"FIX": 0, "MTE3": 1}


def circles(balance: Balance, blamed: Collection[Operation]) -> Iterator[Proposal]:
    """Proposals that may end a deadlock; `blamed`: the waits that it stands at."""
    yield from _later(balance, blamed)
    yield from _primed_flags(balance)
    yield from _primed_signals(balance, blamed)


# --- a wait that stands too early -------------------------------------------------------------------------------------


def _later(balance: Balance, blamed: Collection[Operation]) -> Iterator[Proposal]:
    """A wait moved behind the set of its own flag, or behind a signal that its core sends."""
    for wait in blamed:
        own = balance.written.get(wait)
        if own is None or own.sign > 0 or outermost_loop(wait) is not None:
            continue
        for op, words in balance.written.items():
            is_signal = words.mechanism == own.mechanism == "semaphore"
            is_set = words.mechanism == "flag" and words.partner() == own
            if words.sign > 0 and (is_signal or is_set) and wait.is_before_in_block(op):
                yield Proposal((balance.program.moved(wait, "after", op),))


# --- flags that a loop waits for first --------------------------------------------------------------------------------


def _primed_flags(balance: Balance) -> Iterator[Proposal]:
    flags = [(op, words) for op, words in balance.written.items() if words.mechanism == "flag"]
    loops = dict.fromkeys(loop for op, _ in flags if (loop := outermost_loop(op)) is not None)
    edits = list(chain.from_iterable(_around(balance, loop, flags) for loop in loops))
    if edits:
        yield Proposal(tuple(edits))


def _around(balance: Balance, loop: Operation, flags: list[tuple[Operation, WrittenSync]]) -> Iterator[Edit]:
    """Primes and drains of one loop, for the flags that have none."""
    inside = [(op, words) for op, words in flags if outermost_loop(op) is loop]
    line, core = balance.program.first_line(loop), core_of(loop)
    outside = [(op, words) for op, words in flags if outermost_loop(op) is not loop and core_of(op) is core]
    sets = {key for op, words in outside if balance.program.first_line(op) < line for key in _keys(op, words, 1)}
    waits = {key for op, words in outside if balance.program.first_line(op) > line for key in _keys(op, words, -1)}
    again = {key for op, words in inside for key in _keys(op, words, 1)}
    carried: list[_Flag] = []
    seen: set[_Flag] = set()
    for op, words in inside:
        carried += [key for key in _keys(op, words, -1) if key in again - seen - sets]
        seen.update(_keys(op, words, words.sign))
    for key in carried:
        yield balance.program.before(loop, f"{flag_words(*key)[0]}  // prime")
    for key in carried:
        if key not in waits:
            yield balance.program.after(loop, f"{flag_words(*key)[1]}  // drain")


def _keys(op: Operation, words: WrittenSync, sign: int) -> Iterator[_Flag]:
    """The flags that an instruction may set, or wait for."""
    if words.sign == sign:
        computed = possible(op.event) if isinstance(op, SetFlagDyn | WaitFlagDyn) else None
        ids = computed or (() if words.number is None else (words.number,))
        source, destination = words.pipes
        yield from ((source, destination, id_) for id_ in sorted(ids))


# --- signals between cores that both run in loops ---------------------------------------------------------------------


def _primed_signals(balance: Balance, blamed: Collection[Operation]) -> Iterator[Proposal]:
    """Each signal that is waited for, with all that belongs to it: a vector core has two names on the cube core.
    Signals that free a slot come first."""
    signals = [op for op in blamed if op in balance.written and balance.written[op].name in SIGNAL_WAITS]
    for wait in sorted(signals, key=lambda op: _OUTWARD.get(balance.written[op].pipes[0], len(_OUTWARD))):
        loops = {op: outermost_loop(op) for op in _group(balance, wait)}
        sets = {op: loop for op, loop in loops.items() if balance.written[op].sign > 0}
        waits = {op: loop for op, loop in loops.items() if op not in sets}
        if not sets or None in sets.values():
            continue
        edits = [balance.program.before(loop, f"{balance.written[op]}  // prime") for op, loop in sets.items() if loop]
        if None not in waits.values():
            edits += [
                balance.program.after(loop, f"{balance.written[op]}  // drain") for op, loop in waits.items() if loop
            ]
        yield Proposal(tuple(dict.fromkeys(edits)))


def _group(balance: Balance, wait: Operation) -> list[Operation]:
    """The sets and waits of the keys of a wait, and of theirs in turn."""
    signals = [op for op, words in balance.written.items() if words.mechanism == "semaphore"]
    group, keys = [wait], set(balance.named(wait))
    while more := [op for op in signals if op not in group and keys & balance.named(op)]:
        group += more
        keys = keys.union(*map(balance.named, more))
    return group
