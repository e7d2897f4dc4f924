"""The configuration registers: what writes each of them, its fields, and what these hold at the start of a block.

`pto.set_NAME` writes the register NAME. An instruction is issued with the fields that it finds: a pass gives them to it
as operands (language/passes/register_operands.py), so that engines deal with registers only where they are written
and read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ptosim.effects.burst import COUNT_LIMIT, GM_STRIDE_LIMIT, SHORT_LIMIT, UB_STRIDE_LIMIT
from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, required, table
from ptosim.effects.requirement import Requirements, fits

LOW_BITS = 40
"""The width of a GM stride in a word with two strides, and of the first of two operands that make a word."""
COUNT_BITS = 21


def as_written(*operands: Any) -> tuple[Any, ...]:
    """One operand for each field."""
    return operands


def packed_sizes(word: Any) -> tuple[Any, Any]:
    """The sizes of the two loops in a word of GM to L1."""
    return word & COUNT_LIMIT, word >> COUNT_BITS & COUNT_LIMIT


def packed_strides(word: Any) -> tuple[Any, Any]:
    """The strides of source and destination in a word of GM to L1."""
    return word & (1 << LOW_BITS) - 1, word >> LOW_BITS & (1 << 64 - LOW_BITS) - 1


def group_fields(word: Any) -> tuple[Any, Any, Any, Any]:
    """The repeats of the matrix of older layout-converting copies, and its strides in L1, 16 bits each."""
    return word & SHORT_LIMIT, word >> 16 & SHORT_LIMIT, word >> 32 & SHORT_LIMIT, word >> 48 & SHORT_LIMIT


def both_halves(low: Any, high: Any) -> tuple[Any]:
    """A word in two operands: its low 40 bits and its high 24."""
    return (low & (1 << LOW_BITS) - 1 | (high & (1 << 64 - LOW_BITS) - 1) << LOW_BITS,)


@dataclass(frozen=True)
class ConfigurationRegister:
    """A register that outlives the instruction that writes it."""

    name: str
    operands: tuple[str, ...]
    """The roles of the operands of that instruction."""
    fields: tuple[str, ...]
    start: tuple[int, ...]
    """The fields at the start of a block."""
    unpack: Callable[..., tuple[Any, ...]] = as_written
    """The fields from the operands, on Python ints and IR values alike."""
    requires: Requirements = ()
    """The rules of the operands, by role; of a packed word those of its fields, by `parts`."""
    parts: tuple[str, ...] = ()
    """The names of the fields of a packed word in requirements."""

    verb: str = "set"
    """The beginning of that instruction's name."""

    @property
    def setter(self) -> str:
        return f"pto.{self.verb}_{self.name}"


DIRECTIONS = ("outtoub", "ubtoout", "outtol1")
LOOP_SIZES = fits("loop1 loop2", COUNT_LIMIT, low=1)
_PACKED = ("packed",)
_SIZES = ("loop1", "loop2")
_STRIDES = ("source_stride", "dest_stride")


def _size_fields(direction: str) -> tuple[str, ...]:
    return tuple(f"{direction}_loop{loop}_size" for loop in (1, 2))


def _stride_fields(direction: str, loop: int) -> tuple[str, ...]:
    return tuple(f"{direction}_loop{loop}_{side}" for side in ("source", "destination"))


def _loops(direction: str, source_limit: int, dest_limit: int) -> tuple[ConfigurationRegister, ...]:
    """The hardware loops around the copies between GM and UB of one direction."""
    limits = *fits("source_stride", source_limit), *fits("dest_stride", dest_limit)
    sizes = f"loop_size_{direction}", _SIZES, _size_fields(direction), (1, 1), as_written, LOOP_SIZES
    strides = (
        (f"loop{loop}_stride_{direction}", _STRIDES, _stride_fields(direction, loop), (0, 0), as_written, limits)
        for loop in (1, 2)
    )
    return ConfigurationRegister(*sizes), *(ConfigurationRegister(*each) for each in strides)


def _packed_loops(direction: str) -> tuple[ConfigurationRegister, ...]:
    """The loops around copies from GM to L1, each register a packed word."""
    sizes = f"loop_size_{direction}", _PACKED, _size_fields(direction), (1, 1), packed_sizes, LOOP_SIZES, _SIZES
    strides = (
        (f"loop{loop}_stride_{direction}", _PACKED, _stride_fields(direction, loop), (0, 0), packed_strides)
        for loop in (1, 2)
    )
    return ConfigurationRegister(*sizes), *(ConfigurationRegister(*each) for each in strides)


GROUPS = ("groups", "loop2_stride", "loop3_stride", "loop4_stride")
"""The fields of the register of layout-converting copies, as the spelling with clauses calls them."""
_HALVES = ("low", "high")
FIXPIPE = ("loop3_para", "channel_para", "quant_pre", "relu_alpha", "fix_clip_relu", "fpc")
"""The registers of the raw fixpipe stores, each one field."""

DIMENSIONS = ("dim_z", "dim_y", "dim_x")
SIMT_FIELDS = tuple(f"simt_{role}" for role in DIMENSIONS)
"""The registers of launches that are written as calls: nothing is stored before the first write."""

CONFIGURATION: dict[str, ConfigurationRegister] = {
    register.name: register
    for register in (
        *_loops("outtoub", GM_STRIDE_LIMIT, UB_STRIDE_LIMIT),
        *_loops("ubtoout", UB_STRIDE_LIMIT, GM_STRIDE_LIMIT),
        *_packed_loops("outtol1"),
        ConfigurationRegister("mov_pad_val", ("value",), ("pad",), (0,)),
        ConfigurationRegister("mte2_nz_para", _PACKED, tuple(f"nz_{each}" for each in GROUPS), (0,) * 4, group_fields),
        # At the start, raw fixpipe stores have one pass and take every row.
        ConfigurationRegister("loop3_para", _HALVES, ("loop3_para",), (1,), both_halves),
        ConfigurationRegister("channel_para", _HALVES, ("channel_para",), (1 << 48,), both_halves),
        *(ConfigurationRegister(name, _PACKED, (name,), (0,)) for name in FIXPIPE[2:]),
        ConfigurationRegister("vfsimt_info", DIMENSIONS, SIMT_FIELDS, (0, 0, 0), verb="store"),
    )
}
"""By name."""

FIELDS: dict[str, tuple[ConfigurationRegister, int]] = {
    field: (register, number) for register in CONFIGURATION.values() for number, field in enumerate(register.fields)
}
"""Each field: its register, and its number in it."""

EFFECTS: dict[str, Effects] = {
    register.setter: Effects(
        register.setter, Pipe.S, "scalar", requires=required(*(() if register.parts else register.requires))
    )
    for register in CONFIGURATION.values()
} | table(Pipe.S, Taint.NONE, {"scalar": "set_pad_val_outtol1 set_store_atomic_cfg", "rename": "sim.register"})
