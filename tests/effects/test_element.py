"""Element types: the width table of the machine and what follows from it."""

import pytest

from ptosim.effects.element import ELEMENTS, element
from tables import table


@table(
    "name, bytes_, lanes, granularity",
    ("i8", 1, 256, "b8"),
    ("ui8", 1, 256, "b8"),
    ("f8E4M3FN", 1, 256, "b8"),
    ("f4E2M1x2", 1, 256, "b8"),
    ("f16", 2, 128, "b16"),
    ("bf16", 2, 128, "b16"),
    ("hif8x2", 2, 128, "b16"),
    ("si32", 4, 64, "b32"),
    ("f32", 4, 64, "b32"),
    ("bf16x2", 4, 64, "b32"),
    ("ui64", 8, 32, "b32"),
)
def test_widths(name: str, bytes_: int, lanes: int, granularity: str) -> None:
    e = element(name)
    assert (e.name, e.bytes, e.bits, e.lanes, e.mask_granularity) == (name, bytes_, 8 * bytes_, lanes, granularity)
    assert e.bytes * e.lanes == 256


def test_kinds() -> None:
    assert element("i32").kind == element("si32").kind == element("index").kind == "signed"
    assert element("ui32").kind == "unsigned"
    assert [n for n in ELEMENTS if element(n).is_float] == ["f16", "bf16", "f32", "f64"]
    assert element("i1").bits == 1
    assert [(element(name).bits, element(name).bytes) for name in ("i4", "si4")] == [(4, 1), (4, 1)]
    assert all(e.is_integer + e.is_float + (e.kind == "lowprecision") == 1 for e in ELEMENTS.values())


def test_unknown_name() -> None:
    with pytest.raises(KeyError):
        element("f80")
