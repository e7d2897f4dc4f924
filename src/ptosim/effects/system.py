"""Queries, CTRL, and the special registers of the vector unit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named, table
from ptosim.effects.requirement import fits

WORD = 4


def _store(name: str, unit: int) -> Effects:
    """A 32-bit store, `offset` units behind the pointer; the post-update form stores at the pointer."""

    def accesses(static: Static) -> tuple[Access, ...]:
        def extent(operands: Any) -> Extent:
            low = 0 if "next" in static.present else operands.offset * unit
            return low, low + WORD

        return (Access("write", Space.UB, "dest", extent, WORD),)

    return Effects(f"pto.{name}", Pipe.V, "store", Taint.ALL_TO_ALL, accesses, reads=("AR",))


_SCALAR = table(
    Pipe.S,
    Taint.NONE,
    {
        "scalar": "get_block_idx get_block_num get_subblock_idx get_subblock_num get_ctrl set_ctrl "
        "get_vms4_sr trap print sprclr",
    },
)
_SCALAR["pto.get_vms4_sr"] = replace(_SCALAR["pto.get_vms4_sr"], reads=("VMS4_SR",))
_SCALAR["pto.sprclr"] = replace(_SCALAR["pto.sprclr"], writes=("AR",))

EFFECTS: dict[str, Effects] = {
    **_SCALAR,
    **table(Pipe.S, Taint.NONE, {"scalar": "sbitset0 sbitset1"}, *fits("bit", 63)),
    **named(_store("sprsti", WORD), _store("sprsts", 1)),
}
