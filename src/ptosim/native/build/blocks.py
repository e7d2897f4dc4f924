"""Blocks one after the other without leaving compiled code: the function that takes the next block, makes everything
as new for it and runs its program.

It is for kernels whose blocks have one core and do not meet. The run time gets control back when no block is left, when
one has failed, and at the pauses that it asked for (runtime.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptosim.native.ir.context import REGISTER_ROOM, WORD_BYTES, ContextWord, Status
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import I32, I64, PTR, Value


def build_blocks(module: ObjectModule, name: str) -> None:
    """The function, under this name."""
    f = module.function(name)

    def run(_: list[Value]) -> Sequence[Value]:
        _make_new(f)
        f.leave_with(f.status_of(f.base(ContextWord.PROGRAM).text, f.context))
        f.leave_with(_pause(f))
        return ()

    f.while_loop((), lambda _: (_take(f), ()), run)
    f.finish()


def _take(f: FunctionBuilder) -> Value:
    """The next block becomes this thread's; whether it may begin.

    The end of a run lowers the last block and then looks which ones are running. In one order or the other, so
    either it sees this block or this sees the new limit.
    """
    handout = f.base(ContextWord.HANDOUT)
    block = f.emit(I64, f"atomicrmw add {handout}, i64 1 seq_cst")
    f.do(f"store atomic {block}, {f.word(ContextWord.BLOCK)} seq_cst, align {WORD_BYTES}")
    last = f.emit(I64, f"load atomic i64, {handout.at(WORD_BYTES)} seq_cst, align {WORD_BYTES}")
    return block <= last


def _make_new(f: FunctionBuilder) -> None:
    """Memories, sync words, registers and steps as every block finds them."""
    table = f.base(ContextWord.CLEARED)
    with f.each(f.word(ContextWord.CLEARED_NUM).load(I64, WORD_BYTES)) as index:
        stretch = table.at(index * (2 * WORD_BYTES))
        stretch.load(PTR, WORD_BYTES).fill(0, stretch.at(WORD_BYTES).load(I64, WORD_BYTES))
    f.word(ContextWord.REGISTERS).copy_from(f.base(ContextWord.RESET), REGISTER_ROOM * WORD_BYTES)
    f.word(ContextWord.STEPS).store(f.word(ContextWord.MAX_STEPS).load(I64, WORD_BYTES), WORD_BYTES)


def _pause(f: FunctionBuilder) -> Value:
    """PAUSED where the run time wants to be heard after this block, otherwise DONE."""
    word = f.word(ContextWord.PAUSE)
    left = word.load(I64, WORD_BYTES) - 1
    word.store(left, WORD_BYTES)
    pause = (left == 0) | (f.word(ContextWord.ATTENDED).load(I64, WORD_BYTES) != 0)
    return pause.select(f.constant(I32, Status.PAUSED), Status.DONE)
