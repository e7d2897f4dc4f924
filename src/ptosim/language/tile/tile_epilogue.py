"""Epilogues of an accumulator on its way into a FIFO: layout, quantisation, relu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ptosim.language.tile.tile_buf import Layout

_BYTES = frozenset({"si8", "ui8"})
MODES: dict[str, dict[str, frozenset[str]]] = {
    "no_convert": {"f32": frozenset({"f32"}), "i32": frozenset({"i32"})},
    "f32_f16": {"f32": frozenset({"f16"})},
    "f32_bf16": {"f32": frozenset({"bf16"})},
    "deqf16_scalar": {"i32": frozenset({"f16"})},
    "deqf16_vec": {"i32": frozenset({"f16"})},
    "req8_scalar": {"i32": _BYTES},
    "req8_vec": {"i32": frozenset({"si8"})},
    "qf322b8_pre_scalar": {"f32": _BYTES},
    "qf322b8_pre_vec": {"f32": frozenset({"si8"})},
    "qf322f16_pre_scalar": {"f32": frozenset({"f16"})},
    "qf322bf16_pre_scalar": {"f32": frozenset({"bf16"})},
    "qs322bf16_pre_scalar": {"i32": frozenset({"bf16"})},
    "qs322bf16_pre_vec": {"i32": frozenset({"bf16"})},
    "qf322hif8_pre_scalar": {"f32": frozenset({"hif8"})},
    "qf322fp8_pre_scalar": {"f32": frozenset({"f8E4M3FN"})},
}
"""The modes of a push, by the elements of the accumulator: the elements that are popped."""
A5_MODES = frozenset(mode for mode in MODES if mode.startswith(("qs322bf16", "qf322hif8", "qf322fp8")))
PAYLOADS = {"a5": ("f16", "bf16", "f32"), "a2a3": ("i64", "si64", "ui64")}
"""Elements of a tile of parameters."""

LAYOUTS: dict[str, Layout] = {"nz2nd": "ND", "nz2dn": "DN", "nz2nz": "NZ"}
"""The layout of the entry that comes out."""
RELUS = ("no_relu", "normal_relu")
_WORDS = {"layout": tuple(LAYOUTS), "quant": tuple(MODES), "relu": RELUS}


@dataclass(frozen=True)
class Epilogue:
    """The words of `#pto.acc_push_epilogue<...>`."""

    layout: str = "nz2nd"
    quant: str = "no_convert"
    relu: str = "no_relu"

    @property
    def results(self) -> frozenset[str]:
        """The elements that an entry may have."""
        return frozenset[str]().union(*MODES[self.quant].values())

    @property
    def parameter(self) -> Literal["vector", "scalar"] | None:
        """The parameter that has to be set before a push, if any: casts and plain copies need none."""
        if self.quant.endswith("_vec"):
            return "vector"
        return "scalar" if self.quant.endswith("_scalar") else None


@irdl_attr_definition
class AccPushEpilogueAttr(Data[Epilogue]):
    """`#pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>`."""

    name = "pto.acc_push_epilogue"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Epilogue:
        given: dict[str, str] = {}
        parser.parse_punctuation("<")
        while True:
            start = parser.pos
            field = parser.parse_identifier(": one of " + ", ".join(_WORDS))
            if field not in _WORDS or field in given:
                problem = "given twice" if field in given else f"unknown; known: {', '.join(_WORDS)}"
                parser.raise_error(f"'{field}' of an acc_push_epilogue is {problem}", start, parser.pos)
            parser.parse_punctuation("=")
            given[field] = _word(parser, field)
            if parser.parse_optional_punctuation(",") is None:
                break
        parser.parse_punctuation(">")
        return Epilogue(**given)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            words = (f"{field} = {getattr(self.data, field)}" for field in _WORDS)
            printer.print_string(", ".join(words))


def _word(parser: AttrParser, field: str) -> str:
    start = parser.pos
    word = parser.parse_identifier()
    if word not in _WORDS[field]:
        parser.raise_error(f"unknown {field} '{word}'; known: {', '.join(_WORDS[field])}", start, parser.pos)
    return word
