"""How an execution looks: lanes, masks, scalars, pointers, streams and the bytes touched."""

from typing import Any

import ml_dtypes
import numpy as np

from ptosim.diagnostics import Location
from ptosim.effects.element import element
from ptosim.effects.names import Space
from ptosim.effects.vector_stream import StoreStream
from ptosim.machine.entry import Site
from ptosim.machine.memory import pointer
from ptosim.reference.memory.stream import LoadAlign, StoreAlign
from ptosim.reference.numeric.mask import Mask, of_lanes
from ptosim.reference.observed.watch import Execution, WatchedAccess, WatchedValue
from ptosim.report.execution import describe
from tables import table

SITE = Site("pto.vadd", Location("k.pto", 7, 3))


def value(type_: str, content: Any, name: str = "%v", role: str = "input") -> WatchedValue:
    inner = type_.removeprefix("!pto.vreg<").removeprefix("!pto.ptr<").partition(",")[0].removesuffix(">")
    name_of = inner.rpartition("x")[2] if type_.startswith("!pto.vreg") else inner
    no_element = type_.startswith(("!pto.mask", "!pto.align"))
    return WatchedValue(role, name, type_, None if no_element else element(name_of), content)


def lines(
    *operands: WatchedValue, results: tuple[WatchedValue, ...] = (), accesses: tuple[WatchedAccess, ...] = ()
) -> list[str]:
    execution = Execution(SITE, "b0.aiv0", (), operands, results, accesses, {0: "x", 1: "y"})
    return describe(execution).splitlines()[1:]


def test_the_head_line() -> None:
    execution = Execution(SITE, "b3.aiv1", (4, 64), (), (), (), {})
    assert describe(execution) == "k.pto:7:3: pto.vadd on b3.aiv1, loop indices 4, 64"


@table(
    "type_, lanes, shown",
    ("!pto.vreg<64xf32>", np.array([0.1, 2, *[0] * 61, -0.0], np.float32), "0.1  2.0  0.0 ×61  -0.0"),
    ("!pto.vreg<128xf16>", np.array([1.5, np.inf, *[np.nan] * 2, *[7] * 124], np.float16), "1.5  inf  nan ×2"),
    ("!pto.vreg<128xbf16>", np.full(128, 0x3FC0, np.uint16), "1.5 ×128"),
    ("!pto.vreg<256xf8E4M3FN>", np.full(256, 0x38, np.uint8), "1 ×256"),
    ("!pto.vreg<64xi32>", np.array([-1, *[5] * 63], np.int32), "-1  5 ×63"),
    ("!pto.vreg<256xui8>", np.full(256, 200, np.uint8), "200 ×256"),
    ("!pto.vreg<256xhif8>", np.full(256, 0x6E, np.uint8), "0x6e ×256"),
    ("!pto.vreg<32xi64>", np.full(32, -(2**62), np.int64), "-4611686018427387904 ×32"),
)
def test_lanes(type_: str, lanes: np.ndarray, shown: str) -> None:
    head, first, *_ = lines(value(type_, lanes))
    assert head == f"    input %v  {type_.removeprefix('!pto.')}"
    assert first.startswith(f"        0:  {shown}")


def test_every_line_of_lanes_begins_with_its_lane() -> None:
    _, *rows = lines(value("!pto.vreg<64xi32>", np.arange(1_000_000, 1_000_064, dtype=np.int32)))
    assert len(rows) > 1
    for row in rows:
        lane, _, numbers = row.partition(":")
        assert int(numbers.split()[0]) == 1_000_000 + int(lane)
    assert max(map(len, rows)) <= 120


@table(
    "granularity, active, shown",
    ("b32", range(64), "lanes 0-63 of 64"),
    ("b32", [], "no lane of 64"),
    ("b32", [0, 1, 2, 7, 9, 10], "lanes 0-2, 7, 9-10 of 64"),
    ("b16", [127], "lanes 127 of 128"),
    ("b8", range(0, 256, 128), "lanes 0, 128 of 256"),
)
def test_masks(granularity: str, active: Any, shown: str) -> None:
    stride = {"b8": 1, "b16": 2, "b32": 4}[granularity]
    lanes = np.zeros(256 // stride, np.bool_)
    lanes[list(active)] = True
    (line,) = lines(value(f"!pto.mask<{granularity}>", of_lanes(lanes, stride)))
    assert line == f"    input %v  mask<{granularity}>  {shown}"


def test_bits_between_the_lanes_are_counted() -> None:
    bits = np.zeros(256, np.bool_)
    bits[[0, 1, 3]] = True
    (line,) = lines(value("!pto.mask<b32>", Mask(bits)))
    assert line.endswith("lanes 0 of 64, and 2 bits between the lanes")


@table(
    "type_, content, shown",
    ("i32", -5, "-5"),
    ("index", 7, "7"),
    ("i1", True, "1"),
    ("f32", 0x3FC00000, "1.5"),
    ("f16", 0xFC00, "-inf"),
    ("bf16", int(np.array(0.1, ml_dtypes.bfloat16).view(np.uint16)), "0.100098"),
    ("!pto.ptr<f32, ub>", 4096, "address 4096"),
    ("!pto.ptr<f32, gm>", pointer(1, 128), "y + 128 bytes"),
    ("!pto.ptr<f32, gm>", 0, "no argument + 0 bytes"),
)
def test_scalars_and_pointers(type_: str, content: int, shown: str) -> None:
    (line,) = lines(value(type_, content))
    assert line == f"    input %v  {type_.removeprefix('!pto.')}  {shown}"


def test_streams() -> None:
    pending = StoreAlign(StoreStream(64, 5), np.zeros(5, np.uint8))
    shown = lines(value("!pto.align", LoadAlign(96)), value("!pto.align", StoreAlign()), value("!pto.align", pending))
    assert [line.partition("align  ")[2] for line in shown] == [
        "a load stream that has read ahead the granule at ub 96",
        "a store stream, nothing pending",
        "a store stream, 5 bytes pending up to ub 69",
    ]


def access(verb: Any, space: Space, starts: list[int], data: np.ndarray, core: str = "b0.aiv0") -> WatchedAccess:
    return WatchedAccess(verb, space, core, np.array(starts), data.view(np.uint8).reshape(len(starts), -1))


UB = value("!pto.ptr<i32, ub>", 0, "%p", "dest")


def test_results_have_an_arrow() -> None:
    assert lines(UB, results=(value("i32", 3, "%n", ""),)) == [
        "    dest %p  ptr<i32, ub>  address 0",
        "    -> %n    i32  3",
    ]


def test_touched_bytes_are_joined_and_in_order() -> None:
    accesses = (
        access("writes", Space.UB, [8], np.array([30], np.int32)),
        access("writes", Space.UB, [0, 4], np.array([10, 20], np.int32)),
        access("writes", Space.UB, [100], np.array([40], np.int32)),
    )
    assert lines(UB, accesses=accesses)[1:] == ["    writes ub[0:12], ub[100:104]", "        0:  10  20  30  40"]


def test_many_ranges_and_numbers_are_cut() -> None:
    starts = list(range(0, 8 * 50, 8))
    head, *rows = lines(UB, accesses=(access("reads", Space.UB, starts, np.arange(50, dtype=np.int32)),))[1:]
    assert head == "    reads ub[0:4], ub[8:12], ub[16:20], ub[24:28] and 46 more"
    assert rows[-1].endswith("31  ...")


def test_memory_of_arguments_and_of_other_cores() -> None:
    accesses = (
        access("reads", Space.GM, [pointer(0, 64)], np.array([1.0], np.float32)),
        access("writes", Space.UB, [32], np.array([7], np.int32), "b0.aiv1"),
        access("writes", Space.L1, [0], np.array([1, 255], np.uint8)),
    )
    shown = lines(value("!pto.ptr<f32, gm>", pointer(0)), UB, accesses=accesses)
    assert [line.strip() for line in shown[2:]] == [
        "reads x[64:68]",
        "0:  1.0",
        "writes ub[32:36] of b0.aiv1",
        "0:  7",
        "writes l1[0:2]",
        "0:  0x01  0xff",
    ]


def test_arrays_and_structures_of_scalars() -> None:
    array = WatchedValue("array", "%a", "!pto.local_array<3xf32>", element("f32"), [0x3F800000, 0, 0])
    struct = WatchedValue("struct", "%s", "!pto.struct<i32, f32>", None, [7, 0x3F800000])
    assert [line.strip() for line in lines(array, struct)] == [
        "array %a   local_array<3xf32>",
        "0:  1.0  0.0 ×2",
        "struct %s  struct<i32, f32>",
        "0:  0x7  0x3f800000",
    ]
