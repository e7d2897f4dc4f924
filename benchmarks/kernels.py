"""The kernels that are measured, written for a tile size."""

from __future__ import annotations

VREG = "!pto.vreg<64xf32>"
MASK = "!pto.mask<b32>"
UB = "!pto.ptr<f32, ub>"
GM = "!pto.ptr<f32, gm>"


def tiled(operation: str, inputs: int, rows: int, columns: int) -> str:
    """An element-wise kernel over tiles of rows x columns, double buffered with flags; `tiles` tiles per block.

    `operation` is the text of the instruction with {a} and {b} for its operands.
    """
    elements = rows * columns
    names = ["x", "y"][:inputs]
    arguments = ", ".join(f"%{name}: {GM}" for name in (*names, "z"))
    copies = "\n".join(
        f"""      %gm_{name} = pto.addptr %{name}, %offset : {GM} -> {GM}
      %ub_{name} = pto.addptr %in_{name}, %ub_offset : {UB} -> {UB}"""
        for name in names
    )
    loads = "\n".join(
        f"""      pto.mte_gm_ub %gm_{name}, %ub_{name}, %c0_i64, %length nburst(%rows, %length, %length)
        : {GM}, {UB}, i64, i64, i64, i64, i64"""
        for name in names
    )
    vectors = "\n".join(f"          %{name}_v = pto.vlds %ub_{name}[%lane] : {UB} -> {VREG}" for name in names)
    pointers = "\n".join(
        f"""    %at_{name} = arith.constant {2 * 4 * elements * index} : i64
    %in_{name} = pto.castptr %at_{name} : i64 -> {UB}"""
        for index, name in enumerate(names)
    )
    body = operation.format(a="%x_v", b="%y_v")
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @tiled({arguments}, %tiles: i32) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %elements = arith.constant {elements} : index
    %c0_i64 = arith.constant 0 : i64
    %rows = arith.constant {rows} : i64
    %length = arith.constant {4 * columns} : i64
{pointers}
    %at_z = arith.constant {2 * 4 * elements * inputs} : i64
    %out = pto.castptr %at_z : i64 -> {UB}
    %n = arith.index_cast %tiles : i32 to index
    %block_i64 = pto.get_block_idx
    %block = arith.index_cast %block_i64 : i64 to index
    %own = arith.muli %n, %elements : index
    %start = arith.muli %block, %own : index
    pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
    pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID1"]
    pto.set_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]
    pto.set_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID1"]
    scf.for %i = %c0 to %n step %c1 {{
      %parity = arith.remui %i, %c2 : index
      %ub_offset = arith.muli %parity, %elements : index
      %tile = arith.muli %i, %elements : index
      %offset = arith.addi %start, %tile : index
{copies}
      %gm_z = pto.addptr %z, %offset : {GM} -> {GM}
      %ub_z = pto.addptr %out, %ub_offset : {UB} -> {UB}
      pto.wait_flag_dyn["PIPE_V", "PIPE_MTE2", %parity]
{loads}
      pto.set_flag_dyn["PIPE_MTE2", "PIPE_V", %parity]
      pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %parity]
      pto.wait_flag_dyn["PIPE_MTE3", "PIPE_V", %parity]
      pto.vecscope {{
        %mask = pto.pset_b32 "PAT_ALL" : {MASK}
        scf.for %lane = %c0 to %elements step %c64 {{
{vectors}
          %r = {body}
          pto.vsts %r, %ub_z[%lane], %mask : {VREG}, {UB}, {MASK}
        }}
      }}
      pto.set_flag_dyn["PIPE_V", "PIPE_MTE2", %parity]
      pto.set_flag_dyn["PIPE_V", "PIPE_MTE3", %parity]
      pto.wait_flag_dyn["PIPE_V", "PIPE_MTE3", %parity]
      pto.mte_ub_gm %ub_z, %gm_z, %length nburst(%rows, %length, %length) : {UB}, {GM}, i64, i64, i64, i64
      pto.set_flag_dyn["PIPE_MTE3", "PIPE_V", %parity]
    }}
    pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID1"]
    pto.wait_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID1"]
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


ABS = f"pto.vabs {{a}}, %mask : {VREG}, {MASK} -> {VREG}"
EXP = f"pto.vexp {{a}}, %mask : {VREG}, {MASK} -> {VREG}"
ADD = f"pto.vadd {{a}}, {{b}}, %mask : {VREG}, {VREG}, {MASK} -> {VREG}"


def chain(length: int) -> str:
    """`length` dependent vector instructions on registers in a loop of `n` rounds; touches memory only at its ends."""
    steps = "\n".join(
        f"        %v{i} = pto.vadd %v{i - 1}, %one, %mask : {VREG}, {VREG}, {MASK} -> {VREG}"
        if i % 2
        else f"        %v{i} = pto.vmul %v{i - 1}, %half, %mask : {VREG}, {VREG}, {MASK} -> {VREG}"
        for i in range(1, length + 1)
    )
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @chain(%x: {GM}, %n: i32) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c256_i64 = arith.constant 256 : i64
    %one_f = arith.constant 1.0 : f32
    %half_f = arith.constant 0.5 : f32
    %rounds = arith.index_cast %n : i32 to index
    %ub = pto.castptr %c0_i64 : i64 -> {UB}
    pto.mte_gm_ub %x, %ub, %c0_i64, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
      : {GM}, {UB}, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.vecscope {{
      %mask = pto.pset_b32 "PAT_ALL" : {MASK}
      %one = pto.vdup %one_f, %mask : f32, {MASK} -> {VREG}
      %half = pto.vdup %half_f, %mask : f32, {MASK} -> {VREG}
      %first = pto.vlds %ub[%c0] : {UB} -> {VREG}
      %last = scf.for %i = %c0 to %rounds step %c1 iter_args(%v0 = %first) -> ({VREG}) {{
{steps}
        scf.yield %v{length} : {VREG}
      }}
      pto.vsts %last, %ub[%c0], %mask : {VREG}, {UB}, {MASK}
    }}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %ub, %x, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64) : {UB}, {GM}, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


def softmax() -> str:
    """Softmax of rows of 128 columns, each in two registers: maximum, exponentials, sum, quotients; 14 instructions.

    Tiles of 32 rows, one after the other.
    """
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @softmax(%x: {GM}, %y: {GM}, %rows: i32) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %bytes = arith.constant 16384 : i64
    %in = pto.castptr %c0_i64 : i64 -> {UB}
    %out = pto.castptr %bytes : i64 -> {UB}
    %n = arith.index_cast %rows : i32 to index
    %block_i64 = pto.get_block_idx
    %block = arith.index_cast %block_i64 : i64 to index
    %blocks_i64 = pto.get_block_num
    %blocks = arith.index_cast %blocks_i64 : i64 to index
    %share = arith.divui %n, %blocks : index
    %first = arith.muli %block, %share : index
    %last = arith.addi %first, %share : index
    scf.for %row = %first to %last step %c32 {{
      %offset = arith.muli %row, %c128 : index
      %gm_in = pto.addptr %x, %offset : {GM} -> {GM}
      %gm_out = pto.addptr %y, %offset : {GM} -> {GM}
      pto.mte_gm_ub %gm_in, %in, %c0_i64, %bytes nburst(%c1_i64, %bytes, %bytes)
        : {GM}, {UB}, i64, i64, i64, i64, i64
      pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.vecscope {{
        %all = pto.pset_b32 "PAT_ALL" : {MASK}
        scf.for %r = %c0 to %c32 step %c1 {{
          %left = arith.muli %r, %c128 : index
          %right = arith.addi %left, %c64 : index
          %a = pto.vlds %in[%left] : {UB} -> {VREG}
          %b = pto.vlds %in[%right] : {UB} -> {VREG}
          %larger = pto.vmax %a, %b, %all : {VREG}, {VREG}, {MASK} -> {VREG}
          %top = pto.vcmax %larger, %all : {VREG}, {MASK} -> {VREG}
          %max = pto.vdup %top, %all {{position = "LOWEST"}} : {VREG}, {MASK} -> {VREG}
          %ea = pto.vexpdif %a, %max, %all, "ODD" : {VREG}, {VREG}, {MASK} -> {VREG}
          %eb = pto.vexpdif %b, %max, %all, "ODD" : {VREG}, {VREG}, {MASK} -> {VREG}
          %both = pto.vadd %ea, %eb, %all : {VREG}, {VREG}, {MASK} -> {VREG}
          %total = pto.vcadd %both, %all : {VREG}, {MASK} -> {VREG}
          %sum = pto.vdup %total, %all {{position = "LOWEST"}} : {VREG}, {MASK} -> {VREG}
          %qa = pto.vdiv %ea, %sum, %all : {VREG}, {VREG}, {MASK} -> {VREG}
          %qb = pto.vdiv %eb, %sum, %all : {VREG}, {VREG}, {MASK} -> {VREG}
          pto.vsts %qa, %out[%left], %all : {VREG}, {UB}, {MASK}
          pto.vsts %qb, %out[%right], %all : {VREG}, {UB}, {MASK}
        }}
      }}
      pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
      pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
      pto.mte_ub_gm %out, %gm_out, %bytes nburst(%c1_i64, %bytes, %bytes) : {UB}, {GM}, i64, i64, i64, i64
      pto.set_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]
      pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
      pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
    }}
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""
