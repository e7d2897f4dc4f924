"""Unit flags order products and stores of one tile in L0C, in both directions."""

import re

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
    found = races(FILL, "store check_only", "mad check_only", engine=engine)
    assert sorted(found) == ["M may write", "M waits until the tile at"]


@ENGINES
@table(
    "steps, message",
    ((FILL, "store check_only", FILL), "M waits until the tile at l0c[0] is free"),
    (("mad", DRAIN), "FIX waits until the tile at l0c[0] is full"),
    ((FILL, DRAIN, "store check_only"), "FIX waits until the tile at l0c[0] is full"),
)
def test_a_flag_that_nothing_changes_hangs(engine: str, steps: tuple[str, ...], message: str) -> None:
    kernel = ptosim.load(program(*steps)).kernel()
    x = np.ones((16, 16), "f2")
    found = ptosim.check(kernel, x, x.copy(), np.zeros((16, 16), "f4"), engine=engine).findings
    (hang,) = (each for each in found if each.kind == "unmatched-wait")
    assert hang.message.startswith(message) and hang.severity == "error"


def test_a_store_may_check_a_tile_whose_flag_no_product_sets() -> None:
    """As a public kernel does."""
    assert races("mad", "store check_only") == ["FIX may read"]


def test_a_proof_does_not_contradict_them() -> None:
    kernel = ptosim.load(program(FILL, DRAIN, FILL, DRAIN)).kernel()
    proof = ptosim.prove(kernel)
    assert proof.findings == () and proof.undecided
    assert any("unit flags are not followed" in note for each in proof.undecided for note in each.notes)
    assert ptosim.prove(ptosim.load(program("mad", "store")).kernel()).findings
