"""Queries, votes, shuffles and reductions of a warp."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from workitem_programs import both, lanes, section

RANDOM = np.random.default_rng(3)
X = RANDOM.integers(-1000, 1000, 32).astype("i4")


def query(name: str, sizes: str, count: int) -> list[int]:
    """What a query gives each workitem, by number."""
    text = f"""
      %y = pto.get_tid_y : i32
      %z = pto.get_tid_z : i32
      %dx = pto.get_block_dim_x : i32
      %dy = pto.get_block_dim_y : i32
      %yz = arith.muli %z, %dy : i32
      %row = arith.addi %y, %yz : i32
      %rows = arith.muli %row, %dx : i32
      %n = arith.addi %t, %rows : i32
      %place = arith.index_cast %n : i32 to index
      %q = pto.{name} : i32
      pto.store %q, %out[%place] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(count, "i4")
    both([], out, section(text, ["%out: !pto.ptr<i32, gm>"], sizes))
    return out.tolist()


def test_coordinates_and_dimensions() -> None:
    numbers = range(60)
    assert query("get_tid_x", "5, 4, 3", 60) == [t % 5 for t in numbers]
    assert query("get_tid_y", "5, 4, 3", 60) == [t // 5 % 4 for t in numbers]
    assert query("get_tid_z", "5, 4, 3", 60) == [t // 20 for t in numbers]
    for name, size in (("get_block_dim_x", 5), ("get_block_dim_y", 4), ("get_block_dim_z", 3)):
        assert query(name, "5, 4, 3", 60) == [size] * 60
    assert query("get_laneid", "5, 4, 3", 60) == [t % 32 for t in numbers]


@pytest.mark.parametrize(
    "name",
    "get_grid_dim_x get_grid_dim_y get_grid_dim_z get_block_idx_x get_block_idx_y get_block_idx_z "
    "get_veccoreid".split(),
)
def test_numbers_of_the_grid_are_zero(name: str) -> None:
    assert query(name, "4, 1, 1", 4) == [0] * 4


def test_lane_masks() -> None:
    masks = {"eq": lambda own: 1 << own, "lt": lambda own: (1 << own) - 1, "le": lambda own: (2 << own) - 1}
    for name, mask in masks.items():
        assert [each & 0xFFFFFFFF for each in query(f"get_lanemask_{name}", "32, 1, 1", 32)] == [
            mask(own) for own in range(32)
        ]
    above = [0xFFFFFFFF & ~((2 << lane) - 1) for lane in range(32)]
    assert [each & 0xFFFFFFFF for each in query("get_lanemask_gt", "32, 1, 1", 32)] == above
    from_here = [0xFFFFFFFF & ~((1 << lane) - 1) for lane in range(32)]
    assert [each & 0xFFFFFFFF for each in query("get_lanemask_ge", "32, 1, 1", 32)] == from_here


def test_clocks_count_the_questions() -> None:
    text = "%x = pto.get_clock32 : i32\n%w = pto.get_clock64 : i64\n%n = arith.trunci %w : i64 to i32\n"
    text += "%h = pto.get_clock32 : i32\n%s = arith.addi %x, %n : i32\n%r = arith.addi %s, %h : i32"
    assert lanes(text, [], "i32", 96).tolist() == [3] * 96


def vote(name: str, condition: np.ndarray, count: int = 32) -> list[int]:
    type_ = "i32" if name == "vote_ballot" else "i1"
    widen = "" if type_ == "i32" else "\n%r = arith.extui %v : i1 to i32"
    result = "%r" if type_ == "i32" else "%v"
    text = f"%p = arith.trunci %a : i32 to i1\n{result} = pto.{name} %p : i1 -> {type_}{widen}"
    return lanes(text, [("i32", condition.astype("i4"))], "i32", count).tolist()


def test_votes() -> None:
    some, none, every = np.arange(32) % 3 == 0, np.zeros(32, bool), np.ones(32, bool)
    assert vote("vote_any", some)[0] == 1 and vote("vote_any", none)[0] == 0
    assert vote("vote_all", some)[0] == 0 and vote("vote_all", every)[0] == 1
    assert vote("vote_uni", some)[0] == 0 and vote("vote_uni", none)[0] == 1 and vote("vote_uni", every)[0] == 1
    ballot = sum(1 << lane for lane in range(32) if lane % 3 == 0)
    assert [each & 0xFFFFFFFF for each in vote("vote_ballot", some)] == [ballot] * 32
    assert vote("vote_all", np.ones(5), 5) == [1] * 5 and vote("vote_ballot", np.ones(5), 5) == [31] * 5


def expected_source(name: str, lane: int, control: int, width: int) -> int:
    first, b = lane - lane % width, control & 31
    if name == "idx":
        return first + b % width
    if name == "up":
        return lane if lane - b < first else lane - b
    other = lane + b if name == "down" else lane ^ b
    return lane if other > first + width - 1 else other


@pytest.mark.parametrize("name", ["shuffle_idx", "shuffle_up", "shuffle_down", "shuffle_bfly"])
@pytest.mark.parametrize("width", [16, 32])
def test_shuffles(name: str, width: int) -> None:
    control = RANDOM.integers(-40, 40, 32).astype("i4")
    text = f"%r = pto.{name} %a, %b {{width = {width} : i32}} : i32, i32 -> i32"
    found = lanes(text, [("i32", X), ("i32", control)], "i32")
    sources = [expected_source(name.partition("_")[2], lane, int(control[lane]), width) for lane in range(32)]
    assert found.tolist() == X[sources].tolist()


@pytest.mark.parametrize("type_", ["i64", "f16", "f32", "vector<2xf16>"])
def test_shuffles_of_every_type_reverse(type_: str) -> None:
    bytes_ = {"i64": 8, "f16": 2}.get(type_, 4)
    data = RANDOM.integers(0, 100, 32 * bytes_).astype("u1")
    given = data if type_.startswith("vector") else data.view({"i64": "i8", "f16": "f2", "f32": "f4"}[type_])
    text = "%c31 = arith.constant 31 : i32\n"
    text += f"%r = pto.shuffle_bfly %a, %c31 : {type_}, i32 -> {type_}"
    found = lanes(text, [(type_, given)], type_).view("u1").reshape(32, -1)
    assert np.array_equal(found, data.reshape(32, -1)[::-1])


def test_a_shuffle_from_a_sleeping_lane_keeps_the_own_value() -> None:
    text = """
      %c1 = arith.constant 1 : i32
      %c8 = arith.constant 8 : i32
      %low = arith.cmpi slt, %t, %c8 : i32
      %r = scf.if %low -> (i32) {
        %s = pto.shuffle_down %a, %c1 : i32, i32 -> i32
        scf.yield %s : i32
      } else {
        scf.yield %a : i32
      }
    """
    found = lanes(text, [("i32", X)], "i32")
    assert found.tolist() == [*X[1:8], *X[7:]]


def test_reductions_of_integers() -> None:
    assert lanes("%r = pto.redux_add %a : i32 -> i32", [("i32", X)], "i32").tolist() == [int(X.sum())] * 32
    assert lanes("%r = pto.redux_max %a signed : i32 -> i32", [("i32", X)], "i32")[0] == X.max()
    assert lanes("%r = pto.redux_min %a signed : i32 -> i32", [("i32", X)], "i32")[0] == X.min()
    unsigned = X.view("u4")
    assert lanes("%r = pto.redux_max %a unsigned : i32 -> i32", [("i32", X)], "i32").view("u4")[0] == unsigned.max()
    assert lanes("%r = pto.redux_min %a unsigned : i32 -> i32", [("i32", X)], "i32").view("u4")[0] == unsigned.min()


def tree(values: list[np.generic]) -> np.generic:
    while len(values) > 1:
        values = [values[i] + values[i + 1] if i + 1 < len(values) else values[i] for i in range(0, len(values), 2)]
    return values[0]


@pytest.mark.parametrize("count", [32, 7])
@pytest.mark.parametrize(("type_", "dtype"), [("f32", np.float32), ("f16", np.float16)])
def test_sums_of_floats_go_by_neighbours(count: int, type_: str, dtype: type) -> None:
    x = RANDOM.normal(size=32).astype(dtype) * dtype(100)
    found = lanes(f"%r = pto.redux_add %a : {type_} -> {type_}", [(type_, x)], type_, count)
    assert found[0] == tree(list(x[:count])) and len(set(found.tolist())) == 1
    x[3] = np.nan
    assert lanes(f"%r = pto.redux_max %a : {type_} -> {type_}", [(type_, x)], type_)[0] == np.nanmax(x)
    assert lanes(f"%r = pto.redux_min %a : {type_} -> {type_}", [(type_, x)], type_)[0] == np.nanmin(x)


def test_grid_numbers_are_remarked_on() -> None:
    text = "%q = pto.get_grid_dim_x : i32\npto.store %q, %out[%i] : !pto.ptr<i32, gm>, i32"
    report = ptosim.check(ptosim.load(section(text, ["%out: !pto.ptr<i32, gm>"])).kernel(), np.zeros(32, "i4"))
    assert [found.kind for found in report.findings] == ["lint"] and "pto.get_block_num" in report.findings[0].message
