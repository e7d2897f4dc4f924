"""Every example at forty sizes, chosen at random, of which a sample takes a few: compiled code passes it as clean, and
the reference engine finds nothing and gives the same profile."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

import ptosim
from example_scripts import script as script_of
from examples.test_examples import EXAMPLES
from native.test_sieve import assert_sound
from timing.same import same

TESTED_ELSEWHERE = ("ranks/", "simt/", "vmi/", "cpp/")
SIZES = {False: 2, True: 40}
"""Of each example, in a sample and in full."""
GRIDS = range(1, 5)
TILES = {"tiles": range(8), "tail": range(1, 1025), "grid": GRIDS}

VECTOR: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "abs": {},
    "add": {"rows": range(1, 80), "columns": range(1, 300), "grid": GRIDS},
    "buffers": {"tiles": range(8), "grid": GRIDS},
    "cast": {"count": range(4, 6000, 2), "grid": GRIDS},
    "flash_attention": {"rows": (64, 128, 192), "keys": (128, 256, 384), "causal": (False, True), "seed": range(9)},
    "flash_attention_f32": {"rows": (64, 128), "keys": (64, 128, 192), "causal": (False, True)},
    "gather": {"tokens": range(1, 300), "vocabulary": range(1, 600), "classes": range(1, 9), "grid": GRIDS},
    "layer_norm": {"rows": range(1, 12), "columns": range(1, 800), "grid": GRIDS},
    "matmul": {"rows": range(1, 200), "depth": range(2, 300, 2)},
    "matmul_int8": {"rows": range(1, 200)},
    "pingpong": TILES,
    "producer_consumer_a2a3": {"rows": range(8), "grid": GRIDS},
    "producer_consumer_a5": {"tiles": range(8), "grid": GRIDS},
    "singlebuffer": TILES,
    "softmax": {"rows": range(1, 120), "grid": GRIDS},
    "topk": {"rows": range(1, 9), "columns": range(20, 512), "k": range(1, 20), "grid": GRIDS},
    "unaligned_copy": {"start": range(32), "to": range(32), "count": range(900)},
}
"""What each script takes. Counts and depths of 16-bit elements are even: an odd one leaves half a word, and is judged
(docs/explanation/engines.md)."""

ROWS = {"rows": range(1, 100), "grid": GRIDS}
BLOCKS_OF_ROWS = {"rows": (64, 128, 192), "grid": GRIDS}
PRODUCTS = {"rows": (128, 256), "depth": range(64, 257, 64), "columns": (128, 256), "grid": GRIDS}
TILE: Mapping[str, Mapping[str, Sequence[Any]]] = {
    **dict.fromkeys(("add", "layer_norm", "quantise", "rms_norm", "rope", "softmax", "swiglu", "topk"), ROWS),
    **dict.fromkeys(("matmul", "matmul_bf16", "matmul_int8"), PRODUCTS),
    "flash_attention": {"rows": (64, 128, 192), "keys": (128, 256, 384), "causal": (False, True)},
    "linear_gelu": BLOCKS_OF_ROWS,
    "moe_expert": {"rows": range(1, 80), "grid": GRIDS},
}
NAMES = [*VECTOR, *(f"tiles/{name}" for name in TILE)]


def launches(name: str, full: bool) -> Iterator[tuple[ptosim.Kernel, Any]]:
    """The kernel, and launches of different sizes."""
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    folder, _, stem = name.rpartition("/")
    script, ranges = script_of(name), (TILE if folder else VECTOR)[stem]
    choice = random.Random(f"sizes of {name}")
    seen: list[dict[str, Any]] = []
    for _ in range(SIZES[full]):
        sizes = {parameter: choice.choice(values) for parameter, values in ranges.items()}
        if sizes not in seen:
            seen.append(sizes)
            yield kernel, script.launch(**sizes)


def test_every_example_is_here():
    found = {path.relative_to(EXAMPLES).with_suffix("").as_posix() for path in EXAMPLES.rglob("*.pto")}
    assert {name for name in found if not name.startswith(TESTED_ELSEWHERE)} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_block_is_judged_nothing_would_be_found_and_profiles_are_the_same(name: str, full: bool):
    for kernel, launched in launches(name, full):
        assert assert_sound(kernel, launched.arguments, launched.grid), launched
        same(kernel, *launched.arguments, grid=launched.grid)
