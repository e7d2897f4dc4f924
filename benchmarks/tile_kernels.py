"""Kernels of tiles, each beside the same kernel as a hand writes it in micro-instructions: equal scopes, copies, flags.

A tile is 32 rows of 128 floats; each block takes `tiles` of them, one after the other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from benchmarks.kernels import GM, MASK, UB, VREG

ROWS, COLUMNS = 32, 128
BYTES = 4 * ROWS * COLUMNS

TILE = f"!pto.tile_buf<vec, {ROWS}x{COLUMNS}xf32>"
COLUMN = f"!pto.tile_buf<vec, {ROWS}x1xf32, blayout=col_major>"
VIEW = "!pto.tensor_view<?x?xf32>"
PART = f"!pto.partition_tensor_view<{ROWS}x{COLUMNS}xf32>"


def _ordered(first: str, second: str) -> str:
    flag = f'["PIPE_{first}", "PIPE_{second}", "EVENT_ID0"]'
    return f"      pto.set_flag{flag}\n      pto.wait_flag{flag}"


def _kernel(inputs: Sequence[str], head: str, loads: str, work: str, store: str) -> str:
    """The frame that both have: a loop over tiles, which are loaded, worked on and stored."""
    arguments = ", ".join(f"%{name}: {GM}" for name in (*inputs, "z"))
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @tiles({arguments}, %tiles: i32) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant {ROWS} : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant {COLUMNS} : index
    %elements = arith.constant {ROWS * COLUMNS} : index
    %n = arith.index_cast %tiles : i32 to index
    %block_i64 = pto.get_block_idx
    %block = arith.index_cast %block_i64 : i64 to index
    %blocks_i64 = pto.get_block_num
    %blocks = arith.index_cast %blocks_i64 : i64 to index
    %first = arith.muli %block, %n : index
{head}
    scf.for %i = %c0 to %n step %c1 {{
      %tile = arith.addi %first, %i : index
{loads}
{_ordered("MTE2", "V")}
{work}
{_ordered("V", "MTE3")}
{store}
{_ordered("MTE3", "MTE2")}
    }}
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


# --- tiles ------------------------------------------------------------------------------------------------------------


def tiles(inputs: int, *operations: str) -> str:
    """A kernel of tile operations on %tx (and %ty) that give %tz; %a and %b are tiles as well, %m and %s columns."""
    names = ["x", "y"][:inputs]
    views = "\n".join(
        f"    %view_{name} = pto.make_tensor_view %{name}, shape = [%all, %c128], strides = [%c128, %c1] : {VIEW}"
        for name in (*names, "z")
    )
    allocated = [f"%t{name}" for name in (*names, "z")]
    tile_lines = "\n".join(f"    {name} = pto.alloc_tile : {TILE}" for name in (*allocated, "%a", "%b"))
    column_lines = "\n".join(f"    {name} = pto.alloc_tile : {COLUMN}" for name in ("%m", "%s"))
    head = f"""    %all_tiles = arith.muli %blocks, %n : index
    %all = arith.muli %all_tiles, %c32 : index
{views}
{tile_lines}
{column_lines}"""
    parts = "\n".join(
        f"""      %part_{name} = pto.partition_view %view_{name}, offsets = [%row, %c0], sizes = [%c32, %c128]
        : {VIEW} -> {PART}"""
        for name in (*names, "z")
    )
    loads = "\n".join(f"      pto.tload ins(%part_{name} : {PART}) outs(%t{name} : {TILE})" for name in names)
    work = "\n      pto.barrier #pto.pipe<PIPE_V>\n".join(f"      {operation}" for operation in operations)
    store = f"      pto.tstore ins(%tz : {TILE}) outs(%part_z : {PART})"
    return _kernel(names, head, f"      %row = arith.muli %tile, %c32 : index\n{parts}\n{loads}", work, store)


ABS = f"pto.tabs ins(%tx : {TILE}) outs(%tz : {TILE})"
EXP = f"pto.texp ins(%tx : {TILE}) outs(%tz : {TILE})"
ADD = f"pto.tadd ins(%tx, %ty : {TILE}, {TILE}) outs(%tz : {TILE})"
SOFTMAX = (
    f"pto.trowmax ins(%tx, %a : {TILE}, {TILE}) outs(%m : {COLUMN})",
    f"pto.trowexpandsub ins(%tx, %m : {TILE}, {COLUMN}) outs(%a : {TILE})",
    f"pto.texp ins(%a : {TILE}) outs(%b : {TILE})",
    f"pto.trowsum ins(%b, %a : {TILE}, {TILE}) outs(%s : {COLUMN})",
    f"pto.trowexpanddiv ins(%b, %s : {TILE}, {COLUMN}) outs(%tz : {TILE})",
)


# --- micro-instructions -----------------------------------------------------------------------------------------------


def micro(inputs: int, *scopes: str) -> str:
    """The same with scopes instead of tile operations; %p_x, %p_y, %p_z, %p_a and so on point to the tiles."""
    names = ["x", "y"][:inputs]
    pointers = "\n".join(
        f"    %at_{name} = arith.constant {BYTES * number} : i64\n    %p_{name} = pto.castptr %at_{name} : i64 -> {UB}"
        for number, name in enumerate((*names, "z", "a", "b", "m", "s"))
    )
    head = f"""    %c0_i64 = arith.constant 0 : i64
    %rows = arith.constant {ROWS} : i64
    %length = arith.constant {4 * COLUMNS} : i64
    %none = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
{pointers}"""
    places = "\n".join(f"      %gm_{name} = pto.addptr %{name}, %offset : {GM} -> {GM}" for name in (*names, "z"))
    loads = "\n".join(
        f"""      pto.mte_gm_ub %gm_{name}, %p_{name}, %c0_i64, %length nburst(%rows, %length, %length)
        : {GM}, {UB}, i64, i64, i64, i64, i64"""
        for name in names
    )
    work = "\n      pto.barrier #pto.pipe<PIPE_V>\n".join(
        f"      pto.vecscope {{\n{_ALL}\n{scope}\n      }}" for scope in scopes
    )
    store = f"      pto.mte_ub_gm %p_z, %gm_z, %length nburst(%rows, %length, %length) : {UB}, {GM}, i64, i64, i64, i64"
    loads = f"      %offset = arith.muli %tile, %elements : index\n{places}\n{loads}"
    return _kernel(names, head, loads, work, store)


_ALL = f'        %mask = pto.pset_b32 "PAT_ALL" : {MASK}'
_ONE = f'        %one = pto.pset_b32 "PAT_VL1" : {MASK}'


def _load(name: str, tile: str, at: str) -> str:
    return f"          %{name} = pto.vlds %p_{tile}[%{at}] : {UB} -> {VREG}"


def _store(name: str, tile: str, at: str) -> str:
    return f"          pto.vsts %{name}, %p_{tile}[%{at}], %mask : {VREG}, {UB}, {MASK}"


def each_register(instruction: str, sources: Sequence[str], result: str) -> str:
    """A scope of one instruction, its sources in {a} and {b}, over all registers of the tiles."""
    loads = "\n".join(_load(f"v{number}", name, "at") for number, name in enumerate(sources))
    return f"""        scf.for %at = %c0 to %elements step %c64 {{
{loads}
          %r = {instruction.format(a="%v0", b="%v1")}
{_store("r", result, "at")}
        }}"""


def _row(lines: Sequence[str]) -> str:
    """Something for each row, whose two registers begin at %left and %right."""
    return "\n".join(
        [
            "        scf.for %row = %c0 to %c32 step %c1 {",
            "          %left = arith.muli %row, %c128 : index",
            "          %right = arith.addi %left, %c64 : index",
            *lines,
            "        }",
        ]
    )


def _reduced(lanes: str, join: str, start: str, source: str, result: str) -> str:
    """A number for each row: of each register, joined from left to right."""
    two, one = f"{VREG}, {VREG}, {MASK} -> {VREG}", f"{VREG}, {MASK} -> {VREG}"
    rows = _row(
        [
            _load("a", source, "left"),
            _load("b", source, "right"),
            f"          %of_a = pto.{lanes} %a, %mask : {one}",
            f"          %of_b = pto.{lanes} %b, %mask : {one}",
            f"          %begun = pto.{join} %start, %of_a, %one : {two}",
            f"          %both = pto.{join} %begun, %of_b, %one : {two}",
            f'          pto.vsts %both, %p_{result}[%row], %one {{dist = "1PT_B32"}} : {VREG}, {UB}, {MASK}',
        ]
    )
    return f"{_ONE}\n        %start = pto.vbr %{start} : f32 -> {VREG}\n{rows}"


def _with_column(instruction: str, source: str, column: str, result: str) -> str:
    """Each element with the number of its row."""
    two = f"{VREG}, {VREG}, {MASK} -> {VREG}"
    return _row(
        [
            f'          %c = pto.vlds %p_{column}[%row] {{dist = "BRC_B32"}} : {UB} -> {VREG}',
            _load("a", source, "left"),
            _load("b", source, "right"),
            f"          %ra = pto.{instruction} %a, %c, %mask : {two}",
            f"          %rb = pto.{instruction} %b, %c, %mask : {two}",
            _store("ra", result, "left"),
            _store("rb", result, "right"),
        ]
    )


def softmax_scopes(exponential: str) -> tuple[str, ...]:
    """The scopes of `SOFTMAX`."""
    return (
        _reduced("vcmax", "vmax", "none", "x", "m"),
        _with_column("vsub", "x", "m", "a"),
        each_register(exponential, ["a"], "b"),
        _reduced("vcadd", "vadd", "zero", "b", "s"),
        _with_column("vdiv", "b", "s", "z"),
    )


# --- many tile operations ---------------------------------------------------------------------------------------------

_SHAPES = ((16, 64), (16, 128), (32, 64), (32, 128))
_PER_LOOP = 30


def many(count: int, per_loop: int = _PER_LOOP) -> str:
    """A kernel of so many tile operations, mixed, on tiles of a few shapes, in loops."""
    chosen = random.Random(1)
    bodies = [
        f"    scf.for %i{first} = %c0 to %n step %c1 {{\n"
        + "\n".join(_any_operation(chosen, number, first) for number in range(first, min(first + per_loop, count)))
        + "\n    }"
        for first in range(0, count, per_loop)
    ]
    sizes = "\n".join(f"    %c{size} = arith.constant {size} : index" for size in (0, 1, 16, 32, 64, 128))
    views = "\n".join(
        f"    %{name}_{rows}x{columns} = pto.make_tensor_view %{name}, shape = [%all, %c{columns}],"
        f" strides = [%c{columns}, %c1] : {VIEW}"
        for name in "xy"
        for rows, columns in _SHAPES
    )
    allocated = "\n".join(
        f"    %t{number}_{rows}x{columns} = pto.alloc_tile : !pto.tile_buf<vec, {rows}x{columns}xf32>"
        for rows, columns in _SHAPES
        for number in range(3)
    )
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @many(%x: {GM}, %y: {GM}, %times: i32, %all: index) attributes {{pto.kernel}} {{
{sizes}
    %half = arith.constant 0.5 : f32
    %n = arith.index_cast %times : i32 to index
{views}
{allocated}
{chr(10).join(bodies)}
    return
  }}
}}
"""


def _any_operation(chosen: random.Random, number: int, loop: int) -> str:
    rows, columns = chosen.choice(_SHAPES)
    shape = f"{rows}x{columns}"
    a, b, d = (f"%t{chosen.randrange(3)}_{shape}" for _ in range(3))
    tile, part = f"!pto.tile_buf<vec, {shape}xf32>", f"!pto.partition_tensor_view<{shape}xf32>"
    name = chosen.choice(["tadd", "tmul", "tmuls", "texp", "tload", "tstore"])
    match name:
        case "tadd" | "tmul":
            return f"      pto.{name} ins({a}, {b} : {tile}, {tile}) outs({d} : {tile})"
        case "tmuls":
            return f"      pto.tmuls ins({a}, %half : {tile}, f32) outs({d} : {tile})"
        case "texp":
            return f"      pto.texp ins({a} : {tile}) outs({d} : {tile})"
        case _:
            view = f"%{'x' if name == 'tload' else 'y'}_{shape}"
            ends = (
                f"ins(%p{number} : {part}) outs({d} : {tile})"
                if name == "tload"
                else f"ins({a} : {tile}) outs(%p{number} : {part})"
            )
            return f"""      %o{number} = arith.muli %i{loop}, %c{rows} : index
      %p{number} = pto.partition_view {view}, offsets = [%o{number}, %c0], sizes = [%c{rows}, %c{columns}]
        : {VIEW} -> {part}
      pto.{name} {ends}"""
