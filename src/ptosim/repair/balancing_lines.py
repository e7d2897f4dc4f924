"""Lines to add with which all sums of a run become zero: in whichever block they are executed as often as is missing.

A flag that is primed or drained in a loop of its own, beside others, is found in this way. A set goes behind the work
of its pipe and a wait in front of it; where the block has none, behind what else is synchronised there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.ir import Block, Operation

from ptosim.effects.names import PIPES_OF, CoreKind, Pipe
from ptosim.language.edits import Edit
from ptosim.language.micro.sync import SetFlag, SetFlagDyn, WaitFlag
from ptosim.language.operation import core_of
from ptosim.repair.balance import Balance, Token, induction
from ptosim.repair.places import works
from ptosim.repair.proposal import Proposal
from ptosim.repair.signals import SIGNALLING
from ptosim.repair.written import WrittenSync


@dataclass(frozen=True)
class _Missing:
    """A possible instruction, by its effect on keys of one mechanism."""

    mechanism: str
    sign: int
    ids: frozenset[int]
    ends: tuple[str, str]
    core: CoreKind


def additions(balance: Balance) -> Iterator[Proposal]:
    """The places at which one kind of instruction is missing."""
    missing = _missing(balance.off)
    if missing is None:
        return
    blocks: dict[Block, list[Operation]] = {}
    for op in balance.issued:
        block = op.parent_block()
        if block is not None and core_of(op) in (missing.core, None):
            blocks.setdefault(block, []).extend([op] if op in balance.written else [])
    for block, ops in sorted(blocks.items(), key=lambda item: not item[1]):
        for words in _worded(balance, block, ops, missing):
            if balance.rank(balance.foretold(words, block)) == 0:
                yield from (Proposal((edit,)) for edit in _places(balance, block, ops, words))


def _missing(off: Mapping[Token, int]) -> _Missing | None:
    kinds = {(token.mechanism, count < 0) for token, count in off.items()}
    ends = [(token.source, token.destination) for token in off]
    if len(kinds) != 1:
        return None
    ((mechanism, is_put),) = kinds
    if mechanism != "semaphore" and len(set(ends)) > 1:
        return None
    ids = frozenset(token.id for token in off)
    owner = ends[0][0 if is_put else 1] if mechanism == "semaphore" else next(iter(off)).role
    core = CoreKind.AIC if owner == "aic" else CoreKind.AIV
    return _Missing(mechanism, 1 if is_put else -1, ids, ends[0], core)


def _worded(balance: Balance, block: Block, ops: list[Operation], missing: _Missing) -> Iterator[WrittenSync]:
    """The instruction with ids that are at hand in a block."""
    around = induction(balance.program, block)
    computed = [balance.written[op].id for op in ops if balance.written[op].id.startswith("%")]
    is_signal = missing.mechanism == "semaphore" and missing.core is CoreKind.AIC and balance.direct
    numbers = [number + offset for offset in ((0, balance.offset) if is_signal else (0,)) for number in missing.ids]
    words = dict.fromkeys((*computed, *([around[0]] if around else ()), *map(str, sorted(numbers))))
    shapes = dict.fromkeys(_shapes(balance, block, missing))
    for shape in shapes:
        takes_numbers = shape.name in (SetFlag.name, WaitFlag.name)
        for word in words:
            if missing.mechanism != "flag" or takes_numbers is not word.startswith("%"):
                yield shape.with_id(f'"EVENT_ID{word}"' if takes_numbers else word)


def _shapes(balance: Balance, block: Block, missing: _Missing) -> Iterator[WrittenSync]:
    """The instruction as others are written, still with their ids. A semaphore may have its only other line on the
    other core, whose pipes are not these; then pipes with work to tell of come first."""
    if missing.mechanism == "flag":
        ends = (f'"PIPE_{missing.ends[0]}"', f'"PIPE_{missing.ends[1]}"', "")
        for name in (SetFlag.name, SetFlagDyn.name):
            shape = WrittenSync(name, ends, "[", "]")
            yield shape if missing.sign > 0 else shape.partner()
        return
    alike = [(op, other) for op, other in balance.written.items() if other.mechanism == missing.mechanism]
    own = [(op, other) for op, other in alike if core_of(op) in (missing.core, None)]
    for _, other in own or (alike if missing.mechanism == "semaphore" else ()):
        shape = other.with_id("") if other.sign == missing.sign else other.with_id("").partner()
        if missing.mechanism == "buffer":
            yield shape.with_pipe(f'"PIPE_{missing.ends[0]}"')
            continue
        if own:
            yield shape
        pipes = sorted(
            SIGNALLING & set(PIPES_OF[missing.core]), key=lambda pipe: (not own and not works(block, pipe), pipe)
        )
        yield from (shape.with_pipe(f"<PIPE_{pipe}>") for pipe in pipes)


def _places(balance: Balance, block: Block, ops: list[Operation], words: WrittenSync) -> Iterator[Edit]:
    program, text = balance.program, str(words)
    is_put = words.sign > 0 if words.mechanism != "buffer" else words.sign < 0
    pipe = Pipe(words.pipes[0 if is_put or words.mechanism != "flag" else 1])
    found = works(block, pipe)
    for work in reversed(found) if is_put else found:
        yield program.after(work, text) if is_put else program.before(work, text)
    for op in reversed(ops) if not found else ():
        yield program.after(op, text)
