"""The quantisation modes of the fixpipe: code in the raw word, accumulator type and kind of destination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Family = Literal[
    "f16", "bf16", "f32", "8-bit float", "8-bit integer", "16-bit integer", "32-bit integer", "4-bit integer"
]

FAMILIES: dict[Family, frozenset[str]] = {
    "f16": frozenset({"f16"}),
    "bf16": frozenset({"bf16"}),
    "f32": frozenset({"f32"}),
    "8-bit float": frozenset({"f8E4M3FN", "f8E5M2", "hif8", "hif8x2"}),
    "8-bit integer": frozenset({"i8", "si8", "ui8"}),
    "16-bit integer": frozenset({"i16", "si16"}),
    "32-bit integer": frozenset({"i32", "si32", "ui32"}),
    "4-bit integer": frozenset({"i4", "si4"}),
}
"""The element types of each kind of destination."""


@dataclass(frozen=True)
class QuantMode:
    """One word of `mode =`."""

    code: int
    source: Literal["f32", "i32"] | None
    """The accumulator; None takes any, which then is what the destination holds."""
    dest: Family | None
    payload: Literal["vector", "scalar", "any"]
    """An fb pointer with a word for each channel, a scalar, or whatever (it is not read)."""

    def joins(self, source: str, dest: str) -> bool:
        """Whether it leads from an accumulator of one element type to a destination of the other."""
        if self.dest is None:
            return source == dest or {source, dest} <= FAMILIES["32-bit integer"]
        return self.source == source and dest in FAMILIES[self.dest]


_PAIRS: tuple[tuple[str, int, Literal["f32", "i32"], Family], ...] = (
    ("qf322hif8_pre", 2, "f32", "8-bit float"),
    ("qf322hif8_pre_hybrid", 4, "f32", "8-bit float"),
    ("deqs32_int", 6, "i32", "32-bit integer"),
    ("req8", 8, "i32", "8-bit integer"),
    ("deqf16", 10, "i32", "f16"),
    ("qf322fp8_pre", 12, "f32", "8-bit float"),
    ("qf322f32_pre", 14, "f32", "f32"),
    ("qf162b8_pre", 17, "f32", "8-bit integer"),
    ("qf162s4_pre", 19, "f32", "4-bit integer"),
    ("req4", 21, "i32", "4-bit integer"),
    ("qf322b8_pre", 23, "f32", "8-bit integer"),
    ("qf322s4_pre", 25, "f32", "4-bit integer"),
    ("deqs16", 27, "i32", "16-bit integer"),
    ("qf162s16_pre", 29, "i32", "16-bit integer"),
    ("qf322f16_pre", 31, "f32", "f16"),
    ("qf322bf16_pre", 33, "f32", "bf16"),
    ("qs322bf16_pre", 35, "i32", "bf16"),
)
"""Modes that exist with a word for each channel (the code given) and with one scalar (the next code)."""

QUANT_MODES: dict[str, QuantMode] = {
    "no_convert": QuantMode(0, None, None, "any"),
    "f32_f16": QuantMode(1, "f32", "f16", "scalar"),
    "f32_bf16": QuantMode(16, "f32", "bf16", "scalar"),
    **{f"{name}_vec": QuantMode(code, source, dest, "vector") for name, code, source, dest in _PAIRS},
    **{f"{name}_scalar": QuantMode(code + 1, source, dest, "scalar") for name, code, source, dest in _PAIRS},
}
