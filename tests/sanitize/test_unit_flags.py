"""Unit flags order products and stores of one tile in L0C, in both directions."""

import re
from itertools import pairwise

import numpy as np
import pytest

import ptosim
from tables import table

LEFT = "!pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 16x16xf16, blayout=row_major, slayout=col_major>"
MAT = "!pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>"
ACC = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
VIEW, PART = "!pto.tensor_view<16x16x{}>", "!pto.partition_tensor_view<16x16x{}>"


def view(name: str, element: str) -> str:
    tensor, part = VIEW.format(element), PART.format(element)
    return f"""
    %{name}v = pto.make_tensor_view %{name}, shape = [%c16, %c16], strides = [%c16, %c1] : {tensor}
    %{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%c16, %c16] : {tensor} -> {part}"""


TILES = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %y: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index{view("a", "f16")}{view("b", "f16")}{view("y", "f32")}
    %am = pto.alloc_tile : {MAT}
    %bm = pto.alloc_tile : {MAT}
    %al = pto.alloc_tile : {LEFT}
    %br = pto.alloc_tile : {RIGHT}
    %c = pto.alloc_tile : {ACC}
    pto.tload ins(%ap : {PART.format("f16")}) outs(%am : {MAT})
    pto.tload ins(%bp : {PART.format("f16")}) outs(%bm : {MAT})
    pto.tmov ins(%am : {MAT}) outs(%al : {LEFT})
    pto.tmov ins(%bm : {MAT}) outs(%br : {RIGHT})
    pto.tmatmul ins(%al, %br : {LEFT}, {RIGHT}) outs(%c : {ACC})
    pto.tstore ins(%c : {ACC}) outs(%yp : {PART.format("f32")})
    return
  }}
}}
"""


def program(*steps: str) -> str:
    """Products and stores one behind the other, with these words and with no flags between M and FIX."""
    text = re.sub(r"    // .*\n", "", ptosim.load(TILES).lowered().source)
    text = re.sub(r' *pto\.(set|wait)_flag\["PIPE_M", "PIPE_FIX".*\n', "", text)
    product = next(line for line in text.split("\n") if "pto.mad " in line)
    store = next(line for line in text.split("\n") if "pto.mte_l0c_gm" in line)
    made = [_step(product, store, step) for step in steps]
    return text.replace(f"{product}\n{store}", "\n".join(made))


def _step(product: str, store: str, step: str) -> str:
    what, _, word = step.partition(" ")
    flag = f"unit_flag({word})" if word else ""
    if what == "mad":
        return product.replace("disable_gemv", f"{flag} disable_gemv")
    return store.replace(", nz2nd", f", {flag}, nz2nd" if flag else ", nz2nd")


def races(*steps: str, engine: str = "native") -> list[str]:
    kernel = ptosim.load(program(*steps)).kernel()
    a, b = (np.random.default_rng(seed).normal(size=(16, 16)).astype("f2") for seed in (1, 2))
    y = np.zeros((16, 16), "f4")
    kernel(a, b, y, engine=engine)
    assert np.allclose(y, a.astype("f4") @ b.astype("f4"), atol=1e-2)
    found = ptosim.check(kernel, a, b, np.zeros_like(y), engine=engine).findings
    assert {each.kind for each in found} <= {"race", "unmatched-wait"}
    return [each.message.partition(" l0c")[0] for each in found if "l0c" in each.message]


ENGINES = pytest.mark.parametrize("engine", ["native", "reference"])
FILL, DRAIN = "mad check_and_set", "store check_and_clear"


@ENGINES
def test_without_them_nothing_orders_the_two(engine: str) -> None:
    assert races("mad", "store", engine=engine) == ["FIX may read"]
    assert races(FILL, "store", engine=engine) == ["FIX may read"]


@ENGINES
@table(
    "steps",
    (FILL, DRAIN),
    (FILL, DRAIN, FILL, DRAIN, FILL, DRAIN),
    ("mad check_only", FILL, "store check_only", DRAIN),
    (FILL, DRAIN, "mad check_only", FILL, "store check_only", "store check_only"),
    ids=["one fill", "fills in turn", "products and stores that only check", "full at the end"],
)
def test_they_order_both_ways(engine: str, steps: tuple[str, ...]) -> None:
    assert races(*steps, engine=engine) == []


@ENGINES
def test_a_product_that_does_not_check_overwrites(engine: str) -> None:
    assert races(FILL, DRAIN, "mad", engine=engine) == ["M may write"]


@ENGINES
@table(
    "steps, message",
    ((FILL, "store check_only", FILL), "M waits until the tile at l0c[0] is free"),
    ((FILL, "store check_only", "mad check_only"), "M waits until the tile at l0c[0] is free"),
    (("mad", DRAIN), "FIX waits until the tile at l0c[0] is full"),
    ((FILL, DRAIN, "store check_only"), "FIX waits until the tile at l0c[0] is full"),
    ((FILL, DRAIN, DRAIN), "FIX waits until the tile at l0c[0] is full"),
)
def test_a_flag_that_nothing_changes_hangs(engine: str, steps: tuple[str, ...], message: str) -> None:
    kernel = ptosim.load(program(*steps)).kernel()
    a, y = np.ones((16, 16), "f2"), np.zeros((16, 16), "f4")
    found = ptosim.check(kernel, a, a, y, engine=engine).findings
    (hang,) = (each for each in found if each.kind == "unmatched-wait")
    assert hang.message.startswith(message) and hang.severity == "error"
    with pytest.raises(ptosim.PTOError, match=re.escape(message)):
        kernel(a, a, y, engine=engine)
    with pytest.raises(ptosim.PTOError, match=re.escape(message)):
        ptosim.profile(kernel, a, a, y, engine=engine)


def apart(*steps: str) -> str:
    """Each product sums over four steps less than the one before, and each store goes to a place of its own."""
    products = stores = 0
    lines: list[str] = []
    for written in program(*steps).split("\n"):
        line = written
        if "pto.mad " in line:
            line = line.replace("%c16_i64 unit", f"%k{products} unit")
            lines.append(f"    %k{products} = arith.constant {16 - 4 * products} : i64")
            products += 1
        elif "pto.mte_l0c_gm" in line:
            line = line.replace("%addptr_2", f"%y{stores}")
            lines.append(f"    %at{stores} = arith.constant {256 * stores} : index")
            type_ = "!pto.ptr<f32, gm>"
            lines.append(f"    %y{stores} = pto.addptr %addptr_2, %at{stores} : {type_} -> {type_}")
            stores += 1
        lines.append(line)
    return "\n".join(lines)


@pytest.mark.parametrize("schedule", ["program", "random:1", "random:2", "delay:M", "delay:FIX", "delay:S"])
@table(
    "steps",
    (FILL, DRAIN, FILL, DRAIN, FILL, DRAIN),
    (DRAIN, FILL, FILL, DRAIN),
    ("store check_only", DRAIN, FILL, "mad check_only", FILL, "store check_only", DRAIN),
    (FILL, FILL, FILL, DRAIN, "store check_only", DRAIN, DRAIN),
    ids=["in turn", "a store before its product", "stores that only check", "products ahead"],
)
def test_runs_keep_the_order_under_every_schedule(schedule: str, steps: tuple[str, ...]) -> None:
    """A store sees the product that its tile is full of, wherever it stands."""
    text = apart(*steps)
    kernel = ptosim.load(text).kernel()
    rng = np.random.default_rng(4)
    a, b = (rng.normal(size=(16, 16)).astype("f2") for _ in range(2))
    fills = [n for n, step in enumerate(each for each in steps if "mad" in each) if step == FILL]
    stores = [n for n, step in enumerate(steps) if "store" in step]
    sums = [16 - 4 * fills[sum(step == DRAIN for step in steps[:place])] for place in stores]
    for engine in ("native", "reference") if schedule == "program" else ("reference",):
        y = np.zeros((len(stores), 16, 16), "f4")
        kernel(a, b, y, engine=engine, schedule=schedule)
        for found, depth in zip(y, sums, strict=True):
            assert np.allclose(found, a[:, :depth].astype("f4") @ b[:depth].astype("f4"), atol=1e-2)


def test_a_profile_waits_as_the_machine_does() -> None:
    """A store starts when its product has ended, and the next product when the store has; both engines say so."""
    kernel = ptosim.load(program(FILL, DRAIN, FILL, DRAIN)).kernel()
    x = np.ones((16, 16), "f2")
    given = (x, x.copy(), np.zeros((16, 16), "f4"))
    profiles = [ptosim.profile(kernel, *given, engine=engine) for engine in ("native", "reference")]
    assert profiles[0].cycles == profiles[1].cycles
    work = [event for event in profiles[0].timeline if event.name in ("pto.mad", "pto.mte_l0c_gm")]
    work.sort(key=lambda event: event.start)
    assert [event.pipe for event in work] == ["M", "FIX", "M", "FIX"]
    assert all(after.start >= before.end for before, after in pairwise(work))
    free = ptosim.profile(ptosim.load(program("mad", "store", "mad", "store")).kernel(), *given)
    assert free.cycles < profiles[0].cycles


def test_tiles_have_flags_of_their_own() -> None:
    """Two tiles take turns, the address of which only the run knows; each store waits for its own."""
    text = program(FILL, DRAIN)
    first, last = (next(line for line in text.split("\n") if name in line) for name in ("pto.mad ", "pto.mte_l0c_gm"))
    body = f"""    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    %c1024 = arith.constant 1024 : index
    %two = arith.constant 2 : index
    scf.for %i = %c0 to %c4 step %c1 {{
      %turn = arith.remui %i, %two : index
      %byte = arith.muli %turn, %c1024 : index
      %word = arith.index_cast %byte : index to i64
      %tile = pto.castptr %word : i64 -> !pto.ptr<f32, l0c>
      %row = arith.muli %i, %c256 : index
      %to = pto.addptr %addptr_2, %row : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
  {first.replace("%c,", "%tile,")}
  {last.replace("%c,", "%tile,").replace("%addptr_2,", "%to,")}
    }}"""
    kernel = ptosim.load(text.replace(f"{first}\n{last}", body)).kernel()
    rng = np.random.default_rng(5)
    a, b = (rng.normal(size=(16, 16)).astype("f2") for _ in range(2))
    assert ptosim.check(kernel, a, b, np.zeros((4, 16, 16), "f4")).findings == ()
    for engine, schedule in (("native", "program"), ("reference", "random:3"), ("reference", "delay:M")):
        y = np.zeros((4, 16, 16), "f4")
        kernel(a, b, y, engine=engine, schedule=schedule)
        assert np.allclose(y, a.astype("f4") @ b.astype("f4"), atol=1e-2)


def test_a_store_may_check_a_tile_whose_flag_no_product_sets() -> None:
    """As a public kernel does."""
    assert races("mad", "store check_only") == ["FIX may read"]


def test_a_proof_does_not_contradict_them() -> None:
    kernel = ptosim.load(program(FILL, DRAIN, FILL, DRAIN)).kernel()
    proof = ptosim.prove(kernel)
    assert proof.findings == () and proof.undecided
    assert any("unit flags are not followed" in note for each in proof.undecided for note in each.notes)
    assert ptosim.prove(ptosim.load(program("mad", "store")).kernel()).findings


@table(
    "steps, waits",
    ((FILL,), ""),  # full at the end is nothing
    ((FILL, DRAIN), ""),
    ((FILL, FILL), "M"),
    ((DRAIN,), "FIX"),
    ((FILL, DRAIN, DRAIN), "FIX"),
    ((FILL, "mad check_only"), "M"),
)
def test_a_proof_does_not_say_that_waits_end_which_may_not(steps: tuple[str, ...], waits: str) -> None:
    """With flags between M and FIX as well, so that nothing but the wait is open."""
    text = program(*steps)
    for name in ("pto.mad ", "pto.mte_l0c_gm"):
        text = re.sub(f"( *{re.escape(name)}.*)", r"\1\n    pto.barrier #pto.pipe<PIPE_ALL>", text)
    proof = ptosim.prove(ptosim.load(text).kernel())
    said = [each.message for each in proof.undecided if each.kind == "unmatched-wait"]
    assert proof.findings == () and len(proof.undecided) == len(said) == bool(waits)
    assert all(message.startswith(f"{waits} may wait for ever") for message in said)
