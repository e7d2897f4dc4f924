"""Equal tile operations are compiled once; each still computes with its own tiles, fails at its own line, and waits."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError, Source
from ptosim.loading import load_module
from ptosim.native.build.compilation import compile_kernel, lower
from ptosim.native.build.sharing import FEW, MANY
from ptosim.native.host.toolchain import this_host
from ptosim.native.ir import module as object_module
from tables import table

EXAMPLES = Path(__file__).parents[2] / "examples"
ROW = "!pto.tile_buf<vec, 1x64xf32>"
PART = "!pto.partition_tensor_view<1x64xf32>"
VIEW = "!pto.tensor_view<?x?xf32>"
PIPE_ALL = "    pto.barrier <PIPE_ALL>"


def kernel(*lines: str, rows: int = 8, parameters: str = "", target: str = "a5") -> str:
    """A kernel with a view %vx of x and %vy of y, rows of 64 floats, and a barrier behind each line."""
    body = "\n".join(f"    {line}\n{PIPE_ALL}" if line.startswith("pto.t") else f"    {line}" for line in lines)
    views = "\n".join(
        f"    %v{name} = pto.make_tensor_view %{name}, shape = [%rows, %c64], strides = [%c64, %c1] : {VIEW}"
        for name in "xy"
    )
    return f"""module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>{parameters}) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %rows = arith.constant {rows} : index
{views}
{body}
    return
  }}
}}
"""


def row(name: str, number: int) -> list[str]:
    """The partition %pX_N that is a row of a view."""
    return [
        f"%r{name}{number} = arith.constant {number} : index",
        f"%p{name}{number} = pto.partition_view %v{name}, offsets = [%r{name}{number}, %c0], sizes = [%c1, %c64]"
        f" : {VIEW} -> {PART}",
    ]


def tile(name: str, address: int) -> list[str]:
    return [f"%at_{name} = arith.constant {address} : i64", f"%{name} = pto.alloc_tile addr = %at_{name} : {ROW}"]


def copied(number: int, operation: str) -> list[str]:
    """A row is loaded into a tile of its own, changed and stored."""
    name = f"t{number}"
    return [
        *tile(name, 0x400 * number),
        *row("x", number),
        *row("y", number),
        f"pto.tload ins(%px{number} : {PART}) outs(%{name} : {ROW})",
        operation.replace("{t}", f"%{name}"),
        f"pto.tstore ins(%{name} : {ROW}) outs(%py{number} : {PART})",
    ]


def both(text: str, x: np.ndarray, *values: Any, rows: int = 8) -> np.ndarray:
    """What both engines leave in y."""
    loaded = ptosim.load(text, sync="written").kernel()
    results: list[np.ndarray] = []
    for engine in ("native", "reference"):
        y = np.zeros((rows, 64), np.float32)
        loaded(x.copy(), y, *values, engine=engine)
        results.append(y)
    assert results[0].tobytes() == results[1].tobytes()
    return results[0]


def functions(text: str) -> list[str]:
    """The names of the functions that are compiled for a kernel."""
    module = load_module(Source("k.pto", text), sync="written").executable
    unit, _ = lower(module, module.kernels[0], False, this_host())
    return [function.name for function in unit.module.functions]


def entries(text: str) -> int:
    return sum(bool(re.fullmatch(r"entry\d+", name)) for name in functions(text))


def sample(rows: int = 8) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(rows, 64)).astype(np.float32)


SCALE = "pto.tmuls ins({{t}}, %s{0} : {1}, f32) outs({{t}} : {1})"


def scaled(count: int) -> str:
    """Each row times another number."""
    lines = [line for n in range(count) for line in (f"%s{n} = arith.constant {n}.5 : f32", *_scaled_row(n))]
    return kernel(*lines)


def _scaled_row(number: int) -> list[str]:
    return copied(number, SCALE.format(number, ROW))


def test_equal_operations_are_compiled_once():
    assert entries(scaled(8)) == 3, "a load, a product and a store"
    assert entries(scaled(1)) == 3


def test_addresses_and_scalars_differ_between_them():
    x = sample()
    assert np.array_equal(both(scaled(8), x), x * (np.arange(8, dtype=np.float32)[:, None] + np.float32(0.5)))


def test_a_scope_that_occurs_once_knows_its_constants():
    module = load_module(Source("k.pto", scaled(1)), sync="written").executable
    unit, _ = lower(module, module.kernels[0], False, this_host())
    assert "@constants" not in unit.module.text()


def test_written_scopes_are_compiled_each_by_itself():
    scope = """pto.vecscope {
      %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %v = pto.vlds %ub[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      pto.vsts %v, %ub[%c64], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    }"""
    text = kernel("%zero = arith.constant 0 : i64", "%ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>", scope, scope)
    assert entries(text) == 2


def test_other_operations_and_other_places_of_tiles_have_other_code():
    in_place = f"pto.tadd ins({{t}}, {{t}} : {ROW}, {ROW}) outs({{t}} : {ROW})"
    exp = f"pto.texp ins({{t}} : {ROW}) outs({{t}} : {ROW})"
    text = kernel(*copied(0, in_place), *copied(1, exp), *copied(2, in_place), *copied(3, exp))
    assert entries(text) == 4
    x = sample()
    expected = np.zeros_like(x)
    expected[[0, 2]] = 2 * x[[0, 2]]
    found = both(text, x)
    assert np.array_equal(found[[0, 2]], expected[[0, 2]])
    assert np.allclose(found[[1, 3]], np.exp(x[[1, 3]]), rtol=1e-6)


def partial_sums(widths: list[int]) -> str:
    """Row n is stored after its first widths[n] elements were doubled."""
    lines: list[str] = []
    for number, width in enumerate(widths):
        short = f"!pto.tile_buf<vec, 1x64xf32, valid=1x{width}>"
        lines += copied(
            number,
            f"pto.tadd ins(%part{number}, %part{number} : {short}, {short}) outs(%part{number} : {short})",
        )
        lines.insert(-4, f"%part{number} = pto.alloc_tile addr = %at_t{number} : {short}")
    return kernel(*lines)


@pytest.mark.parametrize("widths", [[1, 7, 63], [1, 2, 3, 5, 8, 13, 21, 34]])
def test_sizes_differ_between_them(widths: list[int]):
    """A few sizes have code of their own, many share it."""
    x, expected = sample(), np.zeros((8, 64), np.float32)
    for number, width in enumerate(widths):
        expected[number] = x[number]
        expected[number, :width] *= 2
    text = partial_sums(widths)
    assert np.array_equal(both(text, x), expected)
    assert entries(text) == 2 + (len(widths) if len(widths) <= FEW else 1)


def test_operations_in_loops_of_other_depths():
    def double(number: int) -> str:
        return f"pto.tadd ins(%t{number}, %t{number} : {ROW}, {ROW}) outs(%t{number} : {ROW})"

    def repeated(number: int) -> str:
        return f"scf.for %i{number} = %c0 to %n step %c1 {{\n{double(number)}\n{PIPE_ALL}\n}}"

    lines = [line for n, make in enumerate((repeated, repeated, double)) for line in copied(n, make(n))]
    text = kernel("%n = arith.constant 3 : index", *lines)
    x = sample()
    expected = np.zeros_like(x)
    expected[:3] = x[:3] * np.array([[8], [8], [2]], np.float32)
    assert np.array_equal(both(text, x), expected)
    assert entries(text) == 2 + 2


SHAPES = ("1x64", "1x64, valid=1x40", "1x64, valid=1x9")


@pytest.mark.parametrize("seed", range(6))
def test_random_sequences_agree(seed: int):
    """Operations on tiles of a few shapes that overlay each other, many of them alike; both engines give the same."""
    chosen = random.Random(seed)
    lines: list[str] = []
    types = [f"!pto.tile_buf<vec, {shape.replace('64', '64xf32', 1)}>" for shape in SHAPES]
    for n in range(8):
        lines += [*tile(f"t{n}", 0x100 * n), *row("x", n), *row("y", n)]
        lines += [f"%u{n}_{k} = pto.alloc_tile addr = %at_t{n} : {type_}" for k, type_ in enumerate(types)]
        lines.append(f"%s{n} = arith.constant {chosen.uniform(-2, 2):.3f} : f32")
        lines.append(f"pto.tload ins(%px{n} : {PART}) outs(%t{n} : {ROW})")
    for _ in range(60):
        k = chosen.randrange(len(types))
        a, b, d = (f"%u{chosen.randrange(8)}_{k}" for _ in range(3))
        name, type_ = chosen.choice(["tadd", "tmul", "tmax", "tmuls", "tabs"]), types[k]
        ins = {"tmuls": f"{a}, %s{chosen.randrange(8)} : {type_}, f32", "tabs": f"{a} : {type_}"}
        lines.append(f"pto.{name} ins({ins.get(name, f'{a}, {b} : {type_}, {type_}')}) outs({d} : {type_})")
    lines += [f"pto.tstore ins(%t{n} : {ROW}) outs(%py{n} : {PART})" for n in range(8)]
    text = kernel(*lines)
    assert entries(text) < 50
    with np.errstate(all="ignore"):
        assert both(text, sample()).any()


# --- what goes wrong --------------------------------------------------------------------------------------------------


def problem(text: str, engine: str, *arguments: Any, **options: Any) -> dict[str, Any]:
    with pytest.raises(PTOError) as raised:
        ptosim.load(text, sync="written").kernel()(*arguments, engine=engine, **options)
    return raised.value.diagnostics[0].to_json()


def line_of(text: str, start: str, nth: int) -> int:
    """The line of the nth operation that begins so, from 1 on."""
    return [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(start)][nth]


@pytest.mark.parametrize("rows", [0, 3, 7])
def test_a_copy_outside_is_found_at_its_own_line(rows: int):
    """So many rows exist; the next load is the first that leaves the argument."""
    text = scaled(8)
    found = [problem(text, engine, sample(rows + 1)[:rows], sample()) for engine in ("native", "reference")]
    assert found[0] == found[1]
    assert found[0]["kind"] == "out-of-bounds"
    assert found[0]["location"]["line"] == line_of(text, "pto.tload", rows)


@table("wrong, address, kind", (0, 1 << 18, "out-of-bounds"), (2, 8, "misaligned"), (2, -64, "out-of-bounds"))
def test_a_tile_outside_is_found_at_its_own_line(wrong: int, address: int, kind: str):
    """The places of the tiles are arguments: checks stay, and tell which of the operations failed."""
    names = "abc"
    parameters = "".join(f", %at_{name}: i64" for name in names)
    tiles = [f"%{name} = pto.alloc_tile addr = %at_{name} : {ROW}" for name in names]
    text = kernel(
        *tiles,
        *(f"pto.tadd ins(%{name}, %{name} : {ROW}, {ROW}) outs(%{name} : {ROW})" for name in names),
        parameters=parameters,
    )
    assert entries(text) == 1
    places = [0, 0x400, 0x800]
    places[wrong] = address
    x = sample()
    found = [problem(text, engine, x, x.copy(), *places) for engine in ("native", "reference")]
    assert found[0] == found[1]
    assert found[0]["kind"] == kind
    assert found[0]["location"]["line"] == line_of(text, "pto.tadd", wrong)


def test_small_tiles_at_the_end_of_memory_share_code_with_wide_ones():
    """The widest of them would not fit where the last one lies, which is no reason to fail."""
    widths = [64 * n for n in range(FEW + 3, 1, -1)]
    places = [0x1000 * n for n in range(len(widths) - 1)] + [(256 << 10) - 4 * widths[-1]]
    lines: list[str] = []
    for n, (width, place) in enumerate(zip(widths, places, strict=True)):
        type_, part = f"!pto.tile_buf<vec, 1x{width}xf32>", f"!pto.partition_tensor_view<1x{width}xf32>"
        lines += [
            f"%w{n} = arith.constant {width} : index",
            f"%at_{n} = arith.constant {place} : i64",
            f"%t{n} = pto.alloc_tile addr = %at_{n} : {type_}",
            f"%rx{n} = arith.constant {n} : index",
            f"%px{n} = pto.partition_view %vx, offsets = [%rx{n}, %c0], sizes = [%c1, %w{n}] : {VIEW} -> {part}",
            f"%py{n} = pto.partition_view %vy, offsets = [%rx{n}, %c0], sizes = [%c1, %w{n}] : {VIEW} -> {part}",
            f"pto.tload ins(%px{n} : {part}) outs(%t{n} : {type_})",
            f"pto.tadd ins(%t{n}, %t{n} : {type_}, {type_}) outs(%t{n} : {type_})",
            f"pto.tstore ins(%t{n} : {type_}) outs(%py{n} : {part})",
        ]
    text = kernel(*lines, rows=16)
    assert entries(text) == 3
    x = sample(16)
    expected = np.zeros(x.size, np.float32)
    for n, width in enumerate(widths):
        expected[64 * n : 64 * n + width] = 2 * x.ravel()[64 * n : 64 * n + width]
    assert np.array_equal(both(text, x, rows=16).ravel(), expected)


def test_the_limit_of_steps_is_found_at_its_own_line():
    wide = "!pto.tile_buf<vec, 1x4096xf32>"
    lines = [line for n in range(3) for line in _wide(n, wide)]
    text = kernel(*lines)
    assert entries(text) == 1
    x = sample()
    found = [problem(text, engine, x, x.copy(), max_steps=64 * 2 + 63) for engine in ("native", "reference")]
    assert found[0] == found[1]
    assert (found[0]["kind"], found[0]["location"]["line"]) == ("limit", line_of(text, "pto.tadd", 2))


def _wide(number: int, type_: str) -> list[str]:
    return [
        f"%at_{number} = arith.constant {0x4000 * number} : i64",
        f"%w{number} = pto.alloc_tile addr = %at_{number} : {type_}",
        f"pto.tadd ins(%w{number}, %w{number} : {type_}, {type_}) outs(%w{number} : {type_})",
    ]


# --- through the scheduler --------------------------------------------------------------------------------------------


def test_entries_that_have_to_wait_keep_their_constants():
    """V waits for a flag that is set when all its work is queued already."""
    flag = '["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]'
    scales = [f"%s{n} = arith.constant {n}.5 : f32" for n in range(4)]
    text = kernel(
        *scales,
        *(line for n in range(4) for line in (*tile(f"t{n}", 0x400 * n), *row("x", n), *row("y", n))),
        *(f"pto.tload ins(%px{n} : {PART}) outs(%t{n} : {ROW})" for n in range(4)),
        f"pto.wait_flag{flag}",
        *(SCALE.format(n, ROW).format(t=f"%t{n}") for n in range(4)),
        f"pto.set_flag{flag}",
        "pto.barrier <PIPE_ALL>",
        *(f"pto.tstore ins(%t{n} : {ROW}) outs(%py{n} : {PART})" for n in range(4)),
    )
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if "wait_flag" in line)
    last = next(number for number, line in enumerate(lines) if "set_flag" in line)
    queued = [line for line in lines[first:last] if "barrier" not in line]
    text = "\n".join([*lines[:first], *queued, *lines[last:]])
    x = sample()
    expected = np.zeros_like(x)
    expected[:4] = x[:4] * np.array([[0.5], [1.5], [2.5], [3.5]], np.float32)
    assert np.array_equal(both(text, x), expected)


def test_what_is_kept_of_a_kernel_knows_the_place_of_every_operation():
    module = load_module(Source("k.pto", scaled(3)), sync="written").executable
    compiled = compile_kernel(module, module.kernels[0], drop=False)
    lines = {site[2][0] for site in compiled.data["sites"]}
    assert lines >= {line_of(scaled(3), name, n) for name in ("pto.tload", "pto.tstore") for n in range(3)}


# --- kernels of very many operations ----------------------------------------------------------------------------------


def test_structures_share_code_whatever_their_sizes_once_there_are_many():
    """Three sizes of each are compiled apart in a kernel of few operations, and share code in one of many."""
    names = [f"t{name}" for name in ("add", "sub", "mul", "max", "min", "div", "and", "or", "xor")]
    assert 3 * len(names) > MANY

    def text(operations: list[str]) -> str:
        lines = [
            line
            for number, (name, width) in enumerate((name, width) for name in operations for width in (128, 192, 256))
            for line in _two(name, number, width)
        ]
        return kernel(*lines)

    assert entries(text(names[:4])) == 4 * 3
    assert entries(text(names)) == len(names)


def _two(name: str, number: int, width: int) -> list[str]:
    element = "i32" if name in ("tand", "tor", "txor") else "f32"
    type_ = f"!pto.tile_buf<vec, 1x{width}x{element}>"
    return [
        f"%a{number} = arith.constant {0x800 * number} : i64",
        f"%w{number} = pto.alloc_tile addr = %a{number} : {type_}",
        f"pto.{name} ins(%w{number}, %w{number} : {type_}, {type_}) outs(%w{number} : {type_})",
    ]


@pytest.mark.parametrize(
    "name", ["tiles/softmax", "tiles/moe_expert", "flash_attention_f32", "producer_consumer_a5", "simt/lookup"]
)
def test_a_long_program_is_compiled_by_itself(name: str, monkeypatch: pytest.MonkeyPatch):
    """It reaches entries, runners and tables of the other object, and computes the same."""
    path = EXAMPLES / f"{name}.pto"
    results: list[list[bytes]] = []
    for longest in (object_module.LONG, -1):
        monkeypatch.setattr(object_module, "LONG", longest)
        loaded = ptosim.load(path).kernel()
        arguments = loaded.example_arguments()
        loaded(*arguments)
        assert ptosim.check(loaded, *arguments).ok
        results.append([np.asarray(each).tobytes() for each in arguments])
    assert results[0] == results[1]
