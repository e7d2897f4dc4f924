"""Cube instructions with sizes, strides, addresses and words of any value: both engines do, or say, the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from both_engines import BothEngines
from cube_programs import Text, pointer_type
from ptosim import PTOError

Random = np.random.Generator
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1
CASES = 40


def size(rng: Random) -> int:
    """Mostly sensible."""
    ranges = [(0, 70), (0, 5000), (0, 1 << 17), (-3, 3), (LOWEST, HIGHEST)]
    low, high = ranges[int(rng.choice(5, p=[0.8, 0.1, 0.04, 0.04, 0.02]))]
    return int(rng.integers(low, high))


def address(rng: Random) -> int:
    return int(rng.integers(0, 64)) * 512 if rng.random() < 0.8 else size(rng)


def signed(word: int) -> int:
    return (word - LOWEST) % (1 << 64) + LOWEST


def pointers(text: Text, **places: tuple[str, str]) -> None:
    """Pointers cast from parameters of the same name."""
    for name, (element, space) in places.items():
        text.line(f"%{name}_p = pto.castptr %{name} : i64 -> {pointer_type(element, space)}")


def parameters(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "i64")


def layout_copies() -> tuple[BothEngines, Callable[[Random], list[Any]]]:
    names = ("dest", "n", "d", "inner", "outer", "groups", "l2", "l3", "l4")
    text = Text(x=pointer_type("f16", "gm"), **parameters(*names), small="i1")
    pointers(text, dest=("f16", "l1"))
    zero = text.number(0)
    for layout in ("nd2nz", "dn2nz"):
        text.line(
            f"pto.mte_gm_l1_frac %x, %dest_p, {layout}, shape(%n, %d), src_layout(%inner, %outer), "
            f"dst_group(%groups, %l2, %l3, %l4), ctrl({zero}, %small) "
            f": {pointer_type('f16', 'gm')}, {pointer_type('f16', 'l1')}, {layout}, "
            "shape i64, i64, src_layout(i64, i64), dst_group i64, i64, i64, i64, ctrl i64, i1"
        )
    return text.kernel(), lambda rng: [
        *(rng.integers(0, 255, 4096, np.uint8).view(np.float16), address(rng)),
        *(*(size(rng) for _ in range(8)), int(rng.integers(2))),
    ]


def loads() -> tuple[BothEngines, Callable[[Random], list[Any]]]:
    names = ("source", "dest", "a", "b", "c", "e", "f", "g")
    text = Text(x=pointer_type("f16", "gm"), **parameters(*names))
    text.plain("%x", 0, "f16", 4096)
    pointers(text, source=("f16", "l1"), dest=("f16", "l0b"))
    kinds = [pointer_type("f16", "l1"), pointer_type("f16", "l0b")]
    fields = [f"%{name}" for name in names[2:]]
    text.op("mte_l1_l0b", ["%source_p", "%dest_p", *fields], [*kinds, *["i64"] * 6], attributes="{transpose = true}")
    text.op("mte_l1_l0b", ["%source_p", "%dest_p", *fields[:2]], [*kinds, "i64", "i64"])
    return text.kernel(), lambda rng: [
        rng.integers(0, 255, 4096, np.uint8).view(np.float16),
        *(address(rng), address(rng), *(size(rng) for _ in range(6))),
    ]


def rows() -> tuple[BothEngines, Callable[[Random], list[Any]]]:
    names = ("source", "dest", "length", "count", "source_gap", "dest_gap")
    text = Text(x=pointer_type("f16", "gm"), **parameters(*names))
    text.line(f"%table = pto.castptr %dest : i64 -> {pointer_type('f32', 'bt')}")
    pointers(text, source=("f16", "l1"), dest=("f32", "fb"))
    for name, dest, space in (("mte_l1_fb", "%dest_p", "fb"), ("mte_l1_bt", "%table", "bt")):
        types = [pointer_type("f16", "l1"), pointer_type("f32", space), *["i64"] * 4]
        text.op(name, ["%source_p", dest, "%length"], types, " nburst(%count, %source_gap, %dest_gap)")
    places = (0, 64, 0x10000, 0x10040, 0x20000)
    return text.kernel(), lambda rng: [
        *(np.zeros(8, np.float16), address(rng)),
        *(int(rng.choice(places)), *(size(rng) for _ in range(4))),
    ]


def products() -> tuple[BothEngines, Callable[[Random], list[Any]]]:
    text = Text(x=pointer_type("f16", "gm"), **parameters("left", "right", "out", "word"))
    kinds = {"left": ("f8E4M3FN", "l0a"), "right": ("f8E5M2", "l0b"), "out": ("f32", "l0c")}
    pointers(text, **kinds)
    types = [pointer_type(*kind) for kind in kinds.values()]
    text.op("mad_mx_raw", [*(f"%{name}_p" for name in kinds), "%word"], [*types, "i64"])

    def word(rng: Random) -> int:
        m, k, n = (size(rng) & 0xFFF for _ in range(3))
        return signed(m | k << 12 | n << 24 | int(rng.integers(8)) << 61)

    return text.kernel(), lambda rng: [
        *(np.zeros(8, np.float16), address(rng), address(rng), 2 * address(rng) % (1 << 62), word(rng)),
    ]


def stores() -> tuple[BothEngines, Callable[[Random], list[Any]]]:
    names = ("source", "first", "second", "loop_low", "loop_high", "channel_low", "channel_high", "rows", "scale")
    text = Text(y=pointer_type("f16", "gm"), **parameters(*names))
    text.op("set_loop3_para", ["%loop_low", "%loop_high"], ["i64", "i64"])
    text.op("set_channel_para", ["%channel_low", "%channel_high"], ["i64", "i64"])
    text.op("set_fpc", ["%rows"], ["i64"])
    text.op("set_quant_pre", ["%scale"], ["i64"])
    pointers(text, source=("f32", "l0c"))
    types = [pointer_type("f32", "l0c"), pointer_type("f16", "gm"), "i64", "i64"]
    text.op("copy_matrix_cc_to_gm", ["%source_p", "%y", "%first", "%second"], types)

    def second(rng: Random) -> int:
        if rng.random() < 0.2:
            return int(rng.integers(LOWEST, HIGHEST))
        code = int(rng.choice([1, 31, 32, 0, 8]))
        layout = [1 << 43, 1 << 62, 0][int(rng.integers(3))]
        fields = (code & 31) << 34 | (code >> 5) << 29 | int(rng.integers(6)) << 39 | int(rng.integers(2)) << 30
        return signed(size(rng) & 0xFFFF | layout | fields)

    def first(rng: Random) -> int:
        return signed((size(rng) & 0xFFF) << 4 | (size(rng) & 0xFFFF) << 16 | (size(rng) & 0xFFFFFFFF) << 32)

    return text.kernel(), lambda rng: [
        *(np.zeros(50000, np.float16), address(rng), first(rng), second(rng)),
        *(size(rng) % 100, size(rng), 0, size(rng), size(rng), size(rng)),
    ]


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("kernel", [layout_copies, loads, rows, products, stores])
def test_any_values(kernel: Callable[[], tuple[BothEngines, Any]], drop: bool, full: bool) -> None:
    both, arguments = kernel()
    rng = np.random.default_rng(7)
    ended: set[str] = set()
    for _ in range(10 * CASES if full else CASES):
        try:
            both(*arguments(rng), oob="drop" if drop else "error")
        except PTOError as error:
            ended.add(error.diagnostics[0].kind)
    assert {"invalid", "out-of-bounds"} <= ended


@pytest.mark.parametrize("op", ["mte_l1_l0b", "mte_l1_l0b_mx"])
def test_an_address_beyond_64_bits(op: str) -> None:
    """The first fractal or fragment lies behind the highest address: an error, and no other end."""
    text = Text(source="i64")
    pointers(text, source=("i8", "l1"))
    types = [pointer_type("i8", "l1"), pointer_type("i8", "l0b"), *["i64"] * 6]
    text.op(op, ["%source_p", text.pointer(0, "i8", "l0b"), *text.integers(1, 1, 1, 1, 1, 1)], types)
    kernel = text.kernel().kernel
    for engine in ("native", "reference"):
        with pytest.raises(PTOError) as raised:
            kernel(HIGHEST - 31, engine=engine)
        assert raised.value.diagnostics[0].kind == "out-of-bounds"


@pytest.mark.parametrize("op", ["mte_l1_l0a", "mte_l1_l0b", "mte_l1_l0a_mx", "mte_l1_l0b_mx"])
@pytest.mark.parametrize(("first", "second"), [(-1, 16), (16, -1), (-15, -15)])
def test_no_extent_is_negative(op: str, first: int, second: int) -> None:
    """Not even one that, rounded up to fractals, is none."""
    space = op.removesuffix("_mx")[-3:]
    text = Text(first="i64", second="i64")
    types = [pointer_type("i8", "l1"), pointer_type("i8", space), "i64", "i64"]
    text.op(op, [text.pointer(0, "i8", "l1"), text.pointer(0, "i8", space), "%first", "%second"], types)
    kernel = text.kernel().kernel
    for engine in ("native", "reference"):
        kernel(0, 16, engine=engine)
        with pytest.raises(PTOError, match="must be at least 0") as raised:
            kernel(first, second, engine=engine)
        assert raised.value.diagnostics[0].kind == "invalid"
