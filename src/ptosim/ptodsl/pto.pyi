"""Written by `make stubs` from the operation classes; what a call does is said there."""

# fmt: off
# ruff: noqa

from enum import Enum
from typing import Any, Literal

HOMES: dict[str, str]
from ptosim.author.fifo import pipe as pipe
from ptosim.author.functions import func as func
from ptosim.author.scopes import section as section, vecscope as vecscope, static_range as static_range, for_ as for_, if_ as if_, while_ as while_, yield_ as yield_
from ptosim.author.simt import simt as simt, simt_launch as simt_launch, Vec as Vec
from ptosim.author.tileop import tileop as tileop
from ptosim.ptodsl.decorators import jit as jit, merge_jit_modules as merge_jit_modules
from ptosim.author.dtypes import ConstExpr, DType, KindOfValue, MaskDescription

const_expr: ConstExpr
Tile: KindOfValue
TensorView: KindOfValue
PartitionView: KindOfValue
PartitionTensorView: KindOfValue
mask_b8: MaskDescription
mask_b16: MaskDescription
mask_b32: MaskDescription
bf16: DType
bf16x2: DType
bfloat16: DType
f16: DType
f16x2: DType
f32: DType
f32x2: DType
f4E1M2x2: DType
f4E2M1x2: DType
f4e1m2x2: DType
f4e2m1x2: DType
f64: DType
f8E4M3FN: DType
f8E5M2: DType
f8E8M0: DType
f8e4m3: DType
f8e4m3fn: DType
f8e4m3x2: DType
f8e4m3x4: DType
f8e4m3x8: DType
f8e5m2: DType
f8e5m2x2: DType
f8e5m2x4: DType
f8e5m2x8: DType
f8e8m0: DType
float16: DType
float32: DType
hif8: DType
hif8x2: DType
hif8x4: DType
hif8x8: DType
i1: DType
i16: DType
i16x2: DType
i32: DType
i32x2: DType
i64: DType
i8: DType
i8x2: DType
index: DType
int1: DType
int16: DType
int32: DType
int64: DType
int8: DType
si16: DType
si32: DType
si64: DType
si8: DType
ui16: DType
ui32: DType
ui64: DType
ui8: DType
uint16: DType
uint32: DType
uint64: DType
uint8: DType

class MaskPattern(str, Enum):
    ALL = 'PAT_ALL'
    ALLF = 'PAT_ALLF'
    H = 'PAT_H'
    Q = 'PAT_Q'
    M3 = 'PAT_M3'
    M4 = 'PAT_M4'
    VL1 = 'PAT_VL1'
    VL2 = 'PAT_VL2'
    VL3 = 'PAT_VL3'
    VL4 = 'PAT_VL4'
    VL8 = 'PAT_VL8'
    VL16 = 'PAT_VL16'
    VL32 = 'PAT_VL32'
    VL64 = 'PAT_VL64'
    VL128 = 'PAT_VL128'

class CmpMode(str, Enum):
    EQ = 'eq'
    NE = 'ne'
    LT = 'lt'
    LE = 'le'
    GT = 'gt'
    GE = 'ge'

class Pipe(str, Enum):
    S = 'PIPE_S'
    V = 'PIPE_V'
    M = 'PIPE_M'
    MTE1 = 'PIPE_MTE1'
    MTE2 = 'PIPE_MTE2'
    MTE3 = 'PIPE_MTE3'
    MTE4 = 'PIPE_MTE4'
    MTE5 = 'PIPE_MTE5'
    V2 = 'PIPE_V2'
    FIX = 'PIPE_FIX'
    ALL = 'PIPE_ALL'

class BarrierType(str, Enum):
    VV_ALL = 'VV_ALL'
    VST_VLD = 'VST_VLD'
    VLD_VST = 'VLD_VST'
    VST_VST = 'VST_VST'
    VS_ALL = 'VS_ALL'
    VST_LD = 'VST_LD'
    VLD_ST = 'VLD_ST'
    VST_ST = 'VST_ST'
    SV_ALL = 'SV_ALL'
    ST_VLD = 'ST_VLD'
    LD_VST = 'LD_VST'
    ST_VST = 'ST_VST'
    SS_ALL = 'SS_ALL'
    ST_LD = 'ST_LD'
    LD_ST = 'LD_ST'
    ST_ST = 'ST_ST'

class PostUpdate(str, Enum):
    OFF = 'OFF'
    ON = 'ON'

class PostUpdateMode(str, Enum):
    NO_POST_UPDATE = 'NO_POST_UPDATE'
    POST_UPDATE = 'POST_UPDATE'

class PredicatePart(str, Enum):
    LOWER = 'LOWER'
    HIGHER = 'HIGHER'

class VPackPart(str, Enum):
    LOWER = 'LOWER'
    HIGHER = 'HIGHER'

class PredicateDist(str, Enum):
    NORM = 'NORM'
    US = 'US'
    DS = 'DS'
    PK = 'PK'

class VLoadDist(str, Enum):
    NORM = 'NORM'
    BRC_B8 = 'BRC_B8'
    BRC_B16 = 'BRC_B16'
    BRC_B32 = 'BRC_B32'
    US_B8 = 'US_B8'
    US_B16 = 'US_B16'
    DS_B8 = 'DS_B8'
    DS_B16 = 'DS_B16'
    UNPK_B8 = 'UNPK_B8'
    UNPK_B16 = 'UNPK_B16'
    UNPK_B32 = 'UNPK_B32'
    BRC_BLK = 'BRC_BLK'
    E2B_B16 = 'E2B_B16'
    E2B_B32 = 'E2B_B32'
    UNPK4_B8 = 'UNPK4_B8'
    SPLT4CHN_B8 = 'SPLT4CHN_B8'
    SPLT2CHN_B8 = 'SPLT2CHN_B8'
    SPLT2CHN_B16 = 'SPLT2CHN_B16'

class VStoreDist(str, Enum):
    NORM_B8 = 'NORM_B8'
    NORM_B16 = 'NORM_B16'
    NORM_B32 = 'NORM_B32'
    _1PT_B8 = '1PT_B8'
    _1PT_B16 = '1PT_B16'
    _1PT_B32 = '1PT_B32'
    PK_B16 = 'PK_B16'
    PK_B32 = 'PK_B32'
    PK_B64 = 'PK_B64'
    PK4_B32 = 'PK4_B32'
    MRG4CHN_B8 = 'MRG4CHN_B8'
    MRG2CHN_B8 = 'MRG2CHN_B8'
    MRG2CHN_B16 = 'MRG2CHN_B16'

class DeinterleaveDist(str, Enum):
    DINTLV_B8 = 'DINTLV_B8'
    DINTLV_B16 = 'DINTLV_B16'
    DINTLV_B32 = 'DINTLV_B32'
    BDINTLV = 'BDINTLV'

class InterleaveDist(str, Enum):
    INTLV_B8 = 'INTLV_B8'
    INTLV_B16 = 'INTLV_B16'
    INTLV_B32 = 'INTLV_B32'

class PartMode(str, Enum):
    EVEN = 'EVEN'
    ODD = 'ODD'

class PositionMode(str, Enum):
    LOWEST = 'LOWEST'
    HIGHEST = 'HIGHEST'

class OrderMode(str, Enum):
    ASC = 'ASC'
    DESC = 'DESC'

class VcvtRoundMode(str, Enum):
    R = 'R'
    A = 'A'
    F = 'F'
    C = 'C'
    Z = 'Z'
    O = 'O'
    H = 'H'

class VcvtSatMode(str, Enum):
    SAT = 'SAT'
    NOSAT = 'NOSAT'
    RS_ENABLE = 'SAT'
    RS_DISABLE = 'NOSAT'

class VcvtPartMode(str, Enum):
    EVEN = 'EVEN'
    ODD = 'ODD'
    P0 = 'P0'
    P1 = 'P1'
    P2 = 'P2'
    P3 = 'P3'

class BLayout(str, Enum):
    ROW_MAJOR = 'row_major'
    COL_MAJOR = 'col_major'

class SLayout(str, Enum):
    NONE_BOX = 'none_box'
    ROW_MAJOR = 'row_major'
    COL_MAJOR = 'col_major'

class Layout(str, Enum):
    ND = 'nd'
    DN = 'dn'
    NZ = 'nz'

class PadValue(str, Enum):
    NULL = 'null'
    ZERO = 'zero'
    MAX = 'max'
    MIN = 'min'

class AlignType(str, Enum):
    ALIGN = 'align'

class FractalMode(str, Enum):
    ND2NZ = 'nd2nz'
    DN2NZ = 'dn2nz'

class MadUnitFlagMode(str, Enum):
    CHECK_ONLY = 'check_only'
    CHECK_AND_SET = 'check_and_set'

class AccStoreUnitFlagCtrl(str, Enum):
    CHECK_ONLY = 'check_only'
    CHECK_AND_CLEAR = 'check_and_clear'

class SatMode(str, Enum):
    SAT = 'sat'
    NOSAT = 'nosat'
    ON = 'ON'
    OFF = 'OFF'

class Tf32Mode(str, Enum):
    ROUND_EVEN = 'round_even'
    ROUND_AWAY = 'round_away'

class SplitMode(str, Enum):
    M = 'split_m'
    N = 'split_n'
    SPLIT_M = 'split_m'
    SPLIT_N = 'split_n'

class MemorySpace(str, Enum):
    GM = 'gm'
    MAT = 'mat'
    LEFT = 'left'
    RIGHT = 'right'
    ACC = 'acc'
    BIAS = 'bias'
    SCALING = 'scaling'
    UB = 'ub'
    VEC = 'ub'
    L1 = 'mat'
    L0A = 'left'
    L0B = 'right'
    L0C = 'acc'
    BT = 'bias'
    FB = 'scaling'

class RoundMode(str, Enum):
    NONE = 'NONE'
    RINT = 'RINT'
    ROUND = 'ROUND'
    FLOOR = 'FLOOR'
    CEIL = 'CEIL'
    TRUNC = 'TRUNC'
    ODD = 'ODD'
    CAST_RINT = 'CAST_RINT'

class DivPrecision(str, Enum):
    DEFAULT = 'default'
    HIGH_PRECISION = 'high_precision'

class ExpPrecision(str, Enum):
    DEFAULT = 'default'
    HIGH_PRECISION = 'high_precision'

class LogPrecision(str, Enum):
    DEFAULT = 'default'
    HIGH_PRECISION = 'high_precision'

class RecipPrecision(str, Enum):
    DEFAULT = 'default'
    HIGH_PRECISION = 'high_precision'

class RsqrtPrecision(str, Enum):
    DEFAULT = 'default'
    HIGH_PRECISION = 'high_precision'

class SqrtPrecision(str, Enum):
    DEFAULT = 'default'
    HIGH_PRECISION = 'high_precision'

class RemPrecision(str, Enum):
    DEFAULT = 'default'
    HIGH_PRECISION = 'high_precision'

class FmodPrecision(str, Enum):
    DEFAULT = 'default'
    HIGH_PRECISION = 'high_precision'

class PowPrecision(str, Enum):
    DEFAULT = 'default'
    HIGH_PRECISION = 'high_precision'

class PAT(str, Enum):
    ALL = 'PAT_ALL'
    ALLF = 'PAT_ALLF'
    H = 'PAT_H'
    Q = 'PAT_Q'
    M3 = 'PAT_M3'
    M4 = 'PAT_M4'
    VL1 = 'PAT_VL1'
    VL2 = 'PAT_VL2'
    VL3 = 'PAT_VL3'
    VL4 = 'PAT_VL4'
    VL8 = 'PAT_VL8'
    VL16 = 'PAT_VL16'
    VL32 = 'PAT_VL32'
    VL64 = 'PAT_VL64'
    VL128 = 'PAT_VL128'

def addptr(pointer: Any, offset: Any) -> Any:
    """A pointer moved on by so many elements."""
    ...
def align_type() -> Any:
    """The state of an unaligned stream."""
    ...
def alloc_buffer(shape: Any, dtype: Any) -> Any:
    """An array of a static shape that each workitem has; made in a kernel it survives from launch to launch."""
    ...
def alloc_tile(type: Any = ..., *, shape: Any = ..., dtype: Any = ..., memory_space: Any = ..., valid_shape: Any = ..., blayout: Any = ..., slayout: Any = ..., fractal_size: Any = ..., pad: Any = ..., addr: Any = ..., valid_row: Any = ..., valid_col: Any = ...) -> Any:
    """A tile in a memory of the core: of a static shape; what is valid of it may depend on the run."""
    ...
def barrier(pipe: Any) -> Any:
    """Later entries of a pipe start when all earlier ones have ended."""
    ...
def bytewidth(element_type: Any) -> Any:
    """Bytes of an element."""
    ...
def castptr(addr: Any, type: Any) -> Any:
    """An address (an integer, or a pointer) as a pointer of a type."""
    ...
def const(value: Any, *, dtype: Any = ...) -> Any:
    """A constant; without a type an index."""
    ...
def convert(value: Any, type: Any, *, rounding: Any, saturation: Any, signedness: Any = ...) -> Any:
    """A scalar of another kind, rounded and saturated as it is said."""
    ...
def declare_struct(struct: Any) -> Any:
    """A structure of scalars on the stack of the scalar unit."""
    ...
def elements_per_vreg(element_type: Any) -> Any:
    """Lanes of a vector register of this element."""
    ...
def empty_like(x: Any) -> Any:
    """Outside of kernels: an array of the shape and type of another."""
    ...
def get_block_dim() -> Any:
    """The dimensions of the launch."""
    ...
def get_buf(pipe: Any, buf_id: Any, mode: Any = ...) -> Any:
    """Hold a pipe until the other pipes have released a buffer."""
    ...
def get_grid_dim() -> Any:
    """The dimensions of the grid."""
    ...
def get_op_attr(name: Any, default: Any = ...) -> Any:
    """An attribute of the template around, or the default."""
    ...
def get_tid() -> Any:
    """The number of this workitem: x, y, z."""
    ...
def gm_ptr(element_type: Any) -> Any:
    """A pointer to elements of a type in global memory."""
    ...
def import_reserved_buffer(name: Any, *, peer_func: Any) -> Any:
    """The storage that another function has reserved."""
    ...
def keep(value: Any, *, slot: Any) -> Any:
    """Keep a value for the next launch."""
    ...
def ldg(ptr: Any, off: Any = ..., *, l1cache: Any = ..., l2cache: Any = ...) -> Any:
    """Load an element of global memory, and say how it is cached."""
    ...
def load_scalar(ptr: Any, off: Any = ..., *, bypass_l1: Any = ...) -> Any:
    """An element that the scalar unit loads; bypassing its cache where that is asked."""
    ...
def mad(lhs: Any, rhs: Any, dst: Any, *rest: Any, unit_flag: Any = ..., disable_gemv: Any = ..., sat: Any = ..., tf32_mode: Any = ..., n_dir: Any = ..., **given: Any) -> Any:
    """A product of the cube."""
    ...
def mad_acc(lhs: Any, rhs: Any, dst: Any, *rest: Any, unit_flag: Any = ..., disable_gemv: Any = ..., sat: Any = ..., tf32_mode: Any = ..., n_dir: Any = ..., **given: Any) -> Any:
    """A product of the cube."""
    ...
def mad_bias(lhs: Any, rhs: Any, dst: Any, *rest: Any, unit_flag: Any = ..., disable_gemv: Any = ..., sat: Any = ..., tf32_mode: Any = ..., n_dir: Any = ..., **given: Any) -> Any:
    """A product of the cube."""
    ...
def mad_mx(lhs: Any, rhs: Any, dst: Any, *rest: Any, unit_flag: Any = ..., disable_gemv: Any = ..., sat: Any = ..., tf32_mode: Any = ..., n_dir: Any = ..., **given: Any) -> Any:
    """A product of the cube."""
    ...
def mad_mx_acc(lhs: Any, rhs: Any, dst: Any, *rest: Any, unit_flag: Any = ..., disable_gemv: Any = ..., sat: Any = ..., tf32_mode: Any = ..., n_dir: Any = ..., **given: Any) -> Any:
    """A product of the cube."""
    ...
def mad_mx_bias(lhs: Any, rhs: Any, dst: Any, *rest: Any, unit_flag: Any = ..., disable_gemv: Any = ..., sat: Any = ..., tf32_mode: Any = ..., n_dir: Any = ..., **given: Any) -> Any:
    """A product of the cube."""
    ...
def make_mask(element_type: Any, pattern: Any) -> Any:
    """A mask for lanes of a type: of a pattern, or of the first n lanes; then what remains of n comes with it."""
    ...
def make_tensor_view(ptr: Any, *, shape: Any, strides: Any, layout: Any = ...) -> Any:
    """A tensor in global memory: sizes and strides count elements."""
    ...
def mask_type(granularity: Any = ...) -> Any:
    """A mask of lanes of 8, 16 or 32 bits: "b8", "b16", "b32"."""
    ...
def mte_gm_l1(src: Any, dst: Any, len_burst: Any, *, nburst: Any = ..., loops: Any = ...) -> Any:
    """Copy rows from GM to L1."""
    ...
def mte_gm_l1_frac(src: Any, dst: Any, mode: Any, *, shape: Any, src_layout: Any, dst_group: Any, ctrl: Any = ...) -> Any:
    """Copy a matrix from GM into fractals in L1."""
    ...
def mte_gm_ub(src: Any, dst: Any, l2_cache_ctl: Any, len_burst: Any, *, nburst: Any = ..., loops: Any = ..., pad: Any = ...) -> Any:
    """Copy rows from GM to UB."""
    ...
def mte_l0c_gm(src: Any, dst: Any, m: Any, n: Any, src_stride: Any, dst_stride: Any, sid: Any = ..., l2_cache_ctl: Any = ..., *, unit_flag: Any = ..., pre_quant: Any = ..., pre_relu: Any = ..., layout: Any = ..., loop3: Any = ..., sat: Any = ..., atomic: Any = ...) -> Any:
    """Move accumulators to global memory."""
    ...
def mte_l0c_l1(src: Any, dst: Any, m: Any, n: Any, src_stride: Any, dst_stride: Any, *, unit_flag: Any = ..., pre_quant: Any = ..., pre_relu: Any = ..., layout: Any = ..., loop3: Any = ..., sat: Any = ...) -> Any:
    """Move accumulators to L1."""
    ...
def mte_l0c_ub(src: Any, dst: Any, m: Any, n: Any, src_stride: Any, dst_stride: Any, sub_blockid: Any = ..., *, split: Any = ..., unit_flag: Any = ..., pre_quant: Any = ..., pre_relu: Any = ..., layout: Any = ..., loop3: Any = ..., sat: Any = ...) -> Any:
    """Move accumulators to the UB of a vector core, or of both."""
    ...
def mte_l1_bt(src: Any, dst: Any, len_burst: Any, *, nburst: Any = ...) -> Any:
    """Copy a bias from L1 to its table."""
    ...
def mte_l1_fb(src: Any, dst: Any, len_burst: Any, *, nburst: Any = ...) -> Any:
    """Copy parameters of the fixpipe from L1."""
    ...
def mte_l1_l0a(src: Any, dst: Any, first: Any = ..., second: Any = ..., *, start_row: Any = ..., start_col: Any = ..., transpose: Any = ..., **given: Any) -> Any:
    """Load an operand of a product from L1: (m, k), or all of m_start, k_start, m_step, k_step, src_stride, dst_stride."""
    ...
def mte_l1_l0a_mx(src: Any, dst: Any, first: Any = ..., second: Any = ..., *, start_row: Any = ..., start_col: Any = ..., transpose: Any = ..., **given: Any) -> Any:
    """Load an operand of a product from L1: (m, k), or all of x_start, y_start, x_step, y_step, src_stride, dst_stride."""
    ...
def mte_l1_l0b(src: Any, dst: Any, first: Any = ..., second: Any = ..., *, start_row: Any = ..., start_col: Any = ..., transpose: Any = ..., **given: Any) -> Any:
    """Load an operand of a product from L1: (k, n), or all of m_start, k_start, m_step, k_step, src_stride, dst_stride."""
    ...
def mte_l1_l0b_mx(src: Any, dst: Any, first: Any = ..., second: Any = ..., *, start_row: Any = ..., start_col: Any = ..., transpose: Any = ..., **given: Any) -> Any:
    """Load an operand of a product from L1: (k, n), or all of x_start, y_start, x_step, y_step, src_stride, dst_stride."""
    ...
def mte_l1_ub(src: Any, dst: Any, len_burst: Any, *, nburst: Any = ..., loops: Any = ...) -> Any:
    """Copy rows from L1 to UB."""
    ...
def mte_load(src: Any, dst: Any, l2_cache_ctl: Any, len_burst: Any, *, nburst: Any = ..., loops: Any = ..., pad: Any = ...) -> Any:
    """Copy rows from GM to UB."""
    ...
def mte_store(src: Any, dst: Any, len_burst: Any, *, nburst: Any = ..., loops: Any = ..., l2_cache: Any = ..., l2_cache_ctl: Any = ...) -> Any:
    """Copy rows from UB to GM."""
    ...
def mte_ub_gm(src: Any, dst: Any, len_burst: Any, *, nburst: Any = ..., loops: Any = ..., l2_cache: Any = ..., l2_cache_ctl: Any = ...) -> Any:
    """Copy rows from UB to GM."""
    ...
def mte_ub_l1(src: Any, dst: Any, len_burst: Any, *, nburst: Any = ...) -> Any:
    """Copy rows from UB to L1."""
    ...
def mte_ub_ub(src: Any, dst: Any, len_burst: Any, *, nburst: Any = ...) -> Any:
    """Copy rows inside UB."""
    ...
def mul_i32toi64(a: Any, b: Any, *, signedness: Any) -> Any:
    """The whole product of two i32."""
    ...
def partition_view(view: Any, *, offsets: Any, sizes: Any) -> Any:
    """A part of a view; of a part, offsets add."""
    ...
def pbitcast(mask: Any, to_type: Any) -> Any:
    """The same bits as a mask of lanes of another width."""
    ...
def pipe_barrier(pipe: Any) -> Any:
    """Later entries of a pipe start when all earlier ones have ended."""
    ...
def pldi(ptr: Any, off: Any, dist: Any = ...) -> Any:
    """Load a mask."""
    ...
def plds(ptr: Any, off: Any, *, dist: Any = ...) -> Any:
    """Load a mask."""
    ...
def plt_b16(n: Any) -> Any:
    """A mask of the first n lanes, and what remains of n as i32."""
    ...
def plt_b32(n: Any) -> Any:
    """A mask of the first n lanes, and what remains of n as i32."""
    ...
def plt_b8(n: Any) -> Any:
    """A mask of the first n lanes, and what remains of n as i32."""
    ...
def ppack(mask: Any, part: Any, to_type: Any = ...) -> Any:
    """Every second bit of a mask, in one half of the result."""
    ...
def print(text: Any, *values: Any) -> Any:
    """Show scalars when the kernel runs: a text with formats such as %d and %f, and the values."""
    ...
def psts(mask: Any, ptr: Any, off: Any, *, dist: Any = ...) -> Any:
    """Store a mask."""
    ...
def pstu(align: Any, mask: Any, ptr: Any) -> Any:
    """Store a mask to a stream: (align, pointer)."""
    ...
def ptr(element_type: Any, space: Any = ...) -> Any:
    """A pointer to elements of a type in a memory: gm, ub (or vec), mat, left, right, acc, bias, scaling."""
    ...
def punpack(mask: Any, part: Any, to_type: Any = ...) -> Any:
    """The bits of one half of a mask, spread."""
    ...
def raw_fill_l1(dst: Any, byte_offset: Any, raw_value: Any, *, repeat_times: Any = ..., block_num_32b: Any = ..., dst_gap_32b: Any = ..., fill_word_bits: Any = ...) -> Any:
    """Fill L1 with a word of 16 or 32 bits."""
    ...
def reserve_buffer(name: Any, *, size: Any, location: Any, auto: Any = ..., base: Any = ...) -> Any:
    """Storage for the slots of a FIFO, by name."""
    ...
def resume(type: Any, *, slot: Any) -> Any:
    """The value that the last launch has kept in a slot."""
    ...
def rls_buf(pipe: Any, buf_id: Any, mode: Any = ...) -> Any:
    """Release a buffer."""
    ...
def set_cross_block(pipe: Any, event_id: Any) -> Any:
    """Signal the other cores."""
    ...
def set_flag(src: Any, dst: Any, *, event_id: Any = ...) -> Any:
    """Signal an event from one pipe to another."""
    ...
def set_intra_block(pipe: Any, event_id: Any) -> Any:
    """Signal the other cores of this block."""
    ...
def simt_allreduce_max(value: Any, *, threads: Any, scale: Any = ..., thread_offset: Any = ..., scratch: Any = ...) -> Any:
    """The largest over workitems, in all of them."""
    ...
def simt_allreduce_min(value: Any, *, threads: Any, scale: Any = ..., thread_offset: Any = ..., scratch: Any = ...) -> Any:
    """The smallest over workitems, in all of them."""
    ...
def simt_allreduce_sum(value: Any, *, threads: Any, scale: Any = ..., thread_offset: Any = ..., scratch: Any = ...) -> Any:
    """The sum over workitems, in all of them."""
    ...
def stg(value: Any, ptr: Any, off: Any = ..., *, l1cache: Any = ..., l2cache: Any = ...) -> Any:
    """Set an element of global memory, and say how it is cached."""
    ...
def store_scalar(ptr: Any, off: Any, value: Any, *, bypass_l1: Any = ...) -> Any:
    """Set an element with the scalar unit."""
    ...
def struct_get(struct: Any, path: Any) -> Any:
    """A field of a structure."""
    ...
def struct_set(struct: Any, path: Any, value: Any) -> Any:
    """Set a field of a structure."""
    ...
def struct_type(*fields: Any) -> Any:
    """A structure of scalars (or structures), by position."""
    ...
def tile_type(shape: Any, dtype: Any, memory_space: Any = ..., valid_shape: Any = ..., blayout: Any = ..., slayout: Any = ..., fractal_size: Any = ..., pad: Any = ...) -> Any:
    """The type of a tile, as alloc_tile makes one of these arguments."""
    ...
def vaddrelu(a: Any, b: Any, mask: Any) -> Any:
    """relu(a + b)."""
    ...
def vands(v: Any, s: Any, mask: Any) -> Any:
    """Bitwise and with a scalar."""
    ...
def vaxpy(alpha: Any, x: Any, y: Any, mask: Any) -> Any:
    """alpha * x + y, rounded once."""
    ...
def vbitcast(v: Any, to_type: Any) -> Any:
    """The same bits as lanes of another type."""
    ...
def vbr(s: Any) -> Any:
    """A scalar in every lane; literals are f32 or i32."""
    ...
def vcadd(v: Any, mask: Any) -> Any:
    """The sum of the lanes; integers of 8 and 16 bits widen."""
    ...
def vci(base: Any, order: Any = ...) -> Any:
    """base, base + 1, … in the lanes."""
    ...
def vcvt(v: Any, to_type: Any, mask: Any, *, rnd: Any = ..., sat: Any = ..., part: Any = ...) -> Any:
    """Convert lanes to another type."""
    ...
def vdup(v: Any, mask: Any, position: Any = ...) -> Any:
    """A scalar, or one lane of a register, in the lanes of a mask; a literal is as wide as the lanes."""
    ...
def vec_type(element_type: Any, count: Any) -> Any:
    """Several scalars of a workitem as one value."""
    ...
def vexpdif(v: Any, m: Any, mask: Any, part: Any = ...) -> Any:
    """exp(v - m), in f32."""
    ...
def vgather2(ptr: Any, offs: Any, mask: Any, result_vreg_type: Any = ...) -> Any:
    """Load a lane each from its own offset."""
    ...
def vgather2_bc(ptr: Any, offs: Any, mask: Any, result_vreg_type: Any = ...) -> Any:
    """The same, for the broadcast form."""
    ...
def vgatherb(ptr: Any, offs: Any, mask: Any, result_vreg_type: Any = ...) -> Any:
    """Load blocks, each from its own offset."""
    ...
def vldas(ptr: Any) -> Any:
    """Begin a stream of unaligned loads."""
    ...
def vlds(at: Any, *rest: Any, dist: Any = ..., post_update: Any = ..., type: Any = ...) -> Any:
    """Load a register from UB: (pointer, offset) or a slice of a tile."""
    ...
def vldsx2(at: Any, *rest: Any, result_vreg_type: Any = ..., dist: Any = ...) -> Any:
    """Load two registers, deinterleaved: (pointer, offset, dist) or (slice, dist)."""
    ...
def vldus(ptr: Any, align: Any) -> Any:
    """Load from a stream: (value, align)."""
    ...
def vmula(acc: Any, a: Any, b: Any, mask: Any) -> Any:
    """acc + a * b, rounded once."""
    ...
def vmulscvt(v: Any, s: Any, mask: Any, *, rnd: Any, part: Any) -> Any:
    """v * s, converted to f16."""
    ...
def vors(v: Any, s: Any, mask: Any) -> Any:
    """Bitwise or with a scalar."""
    ...
def vpack(v: Any, part: Any, to_type: Any = ...) -> Any:
    """The low halves of the lanes, in one half of a register of half as wide lanes."""
    ...
def vrec(v: Any, mask: Any) -> Any:
    """1 / v, as a division of ones."""
    ...
def vreg_type(lanes: Any, element_type: Any) -> Any:
    """A vector register: 256 bytes seen as so many lanes of a type."""
    ...
def vrsqrt(v: Any, mask: Any) -> Any:
    """1 / sqrt(v)."""
    ...
def vscatter(v: Any, ptr: Any, offs: Any, mask: Any) -> Any:
    """Store each lane to its own offset."""
    ...
def vshl(a: Any, b: Any, mask: Any) -> Any:
    """Shift lanes to the left, each by its own count."""
    ...
def vshr(a: Any, b: Any, mask: Any) -> Any:
    """Shift lanes to the right, each by its own count."""
    ...
def vsldb(at: Any, block_stride: Any, repeat_stride: Any, mask: Any, *, post_update: Any = ...) -> Any:
    """Load blocks of 32 bytes that lie apart."""
    ...
def vsstb(value: Any, at: Any, block_stride: Any, repeat_stride: Any, mask: Any, *, post_update: Any = ...) -> Any:
    """Store blocks of 32 bytes that lie apart."""
    ...
def vstar(align: Any, ptr: Any) -> Any:
    """Store the rest of a stream of squeezed lanes."""
    ...
def vstas(align: Any, ptr: Any, offset: Any) -> Any:
    """Store the rest of a stream."""
    ...
def vsts(value: Any, at: Any, *rest: Any, mask: Any = ..., dist: Any = ..., post_update: Any = ...) -> Any:
    """Store a register to UB: (value, pointer, offset, mask) or (value, slice, mask)."""
    ...
def vstsx2(low: Any, high: Any, at: Any, *rest: Any, dist: Any = ..., mask: Any = ...) -> Any:
    """Store two registers, interleaved: (low, high, pointer, offset, dist, mask)."""
    ...
def vstur(align: Any, value: Any, ptr: Any, mode: Any = ...) -> Any:
    """Store squeezed lanes to a stream."""
    ...
def vstus(align: Any, offset: Any, value: Any, ptr: Any) -> Any:
    """Store lanes to a stream."""
    ...
def vsubrelu(a: Any, b: Any, mask: Any) -> Any:
    """relu(a - b)."""
    ...
def vsubs(v: Any, s: Any, mask: Any) -> Any:
    """v - s, as the sum of v and 0 - s."""
    ...
def vxors(v: Any, s: Any, mask: Any) -> Any:
    """Bitwise exclusive or with a scalar."""
    ...
def wait_cross_block(pipe: Any, event_id: Any) -> Any:
    """Wait for the other cores."""
    ...
def wait_flag(src: Any, dst: Any, *, event_id: Any = ...) -> Any:
    """Hold a pipe until another has signalled the event."""
    ...
def wait_intra_block(pipe: Any, event_id: Any) -> Any:
    """Wait for the other cores of this block."""
    ...
def absf(operand: Any) -> Any:
    """Absolute value: the sign bit cleared."""
    ...
def aic_initialize_pipe(dir_mask: Any, slot_size: Any, *, gm_slot_buffer: Any = ..., gm_slot_tensor: Any = ..., c2v_consumer_buf: Any = ..., v2c_consumer_buf: Any = ..., id: Any = ..., slot_num: Any = ..., local_slot_num: Any = ..., nosplit: Any = ..., acc_push_epilogue: Any = ...) -> Any:
    """Set up the cube's end of a FIFO."""
    ...
def aiv_initialize_pipe(dir_mask: Any, slot_size: Any, *, gm_slot_buffer: Any = ..., gm_slot_tensor: Any = ..., c2v_consumer_buf: Any = ..., v2c_consumer_buf: Any = ..., id: Any = ..., slot_num: Any = ..., local_slot_num: Any = ..., nosplit: Any = ..., acc_push_epilogue: Any = ...) -> Any:
    """Set up the vector cores' end of a FIFO."""
    ...
def alloc_multi_tile(*, addr: Any = ..., valid_row: Any = ..., valid_col: Any = ...) -> Any:
    """Several tiles of one type, for buffering."""
    ...
def atomic_add(pointer: Any, value: Any, *, l2cache: Literal['nmfv', 'nmlv', 'nmprs', 'nmred', 'naci', 'napw', 'napi', 'nared', 'wbhfv', 'wbhlv', 'wbhprs', 'wbhred', 'wtsfv', 'wtslv', 'wtsprs', 'wtsred'] | Enum | str = ..., signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Atomic sum."""
    ...
def atomic_and(pointer: Any, value: Any, *, l2cache: Literal['nmfv', 'nmlv', 'nmprs', 'nmred', 'naci', 'napw', 'napi', 'nared', 'wbhfv', 'wbhlv', 'wbhprs', 'wbhred', 'wtsfv', 'wtslv', 'wtsprs', 'wtsred'] | Enum | str = ..., signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Atomic bitwise and."""
    ...
def atomic_cas(pointer: Any, compare: Any, value: Any, *, l2cache: Literal['nmfv', 'nmlv', 'nmprs', 'nmred', 'naci', 'napw', 'napi', 'nared', 'wbhfv', 'wbhlv', 'wbhprs', 'wbhred', 'wtsfv', 'wtslv', 'wtsprs', 'wtsred'] | Enum | str = ..., signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Atomic compare and swap."""
    ...
def atomic_exch(pointer: Any, value: Any, *, l2cache: Literal['nmfv', 'nmlv', 'nmprs', 'nmred', 'naci', 'napw', 'napi', 'nared', 'wbhfv', 'wbhlv', 'wbhprs', 'wbhred', 'wtsfv', 'wtslv', 'wtsprs', 'wtsred'] | Enum | str = ..., signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Atomic exchange."""
    ...
def atomic_max(pointer: Any, value: Any, *, l2cache: Literal['nmfv', 'nmlv', 'nmprs', 'nmred', 'naci', 'napw', 'napi', 'nared', 'wbhfv', 'wbhlv', 'wbhprs', 'wbhred', 'wtsfv', 'wtslv', 'wtsprs', 'wtsred'] | Enum | str = ..., signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Atomic maximum; integers compare as signed unless `unsigned` is written."""
    ...
def atomic_min(pointer: Any, value: Any, *, l2cache: Literal['nmfv', 'nmlv', 'nmprs', 'nmred', 'naci', 'napw', 'napi', 'nared', 'wbhfv', 'wbhlv', 'wbhprs', 'wbhred', 'wtsfv', 'wtslv', 'wtsprs', 'wtsred'] | Enum | str = ..., signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Atomic minimum; integers compare as signed unless `unsigned` is written."""
    ...
def atomic_or(pointer: Any, value: Any, *, l2cache: Literal['nmfv', 'nmlv', 'nmprs', 'nmred', 'naci', 'napw', 'napi', 'nared', 'wbhfv', 'wbhlv', 'wbhprs', 'wbhred', 'wtsfv', 'wtslv', 'wtsprs', 'wtsred'] | Enum | str = ..., signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Atomic bitwise or."""
    ...
def atomic_sub(pointer: Any, value: Any, *, l2cache: Literal['nmfv', 'nmlv', 'nmprs', 'nmred', 'naci', 'napw', 'napi', 'nared', 'wbhfv', 'wbhlv', 'wbhprs', 'wbhred', 'wtsfv', 'wtslv', 'wtsprs', 'wtsred'] | Enum | str = ..., signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Atomic difference."""
    ...
def atomic_xor(pointer: Any, value: Any, *, l2cache: Literal['nmfv', 'nmlv', 'nmprs', 'nmred', 'naci', 'napw', 'napi', 'nared', 'wbhfv', 'wbhlv', 'wbhprs', 'wbhred', 'wtsfv', 'wtslv', 'wtsprs', 'wtsred'] | Enum | str = ..., signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Atomic bitwise exclusive or."""
    ...
def barrier_sync(pipe: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX', 'PIPE_ALL'] | Enum | str) -> Any:
    """Older name of pto.barrier, by operation class instead of pipe."""
    ...
def bitcast(source: Any) -> Any:
    """A tile read as another element type."""
    ...
def build_async_session(control: Any, workspace: Any, *, sync_id: Any = ..., block_bytes: Any = ..., comm_block_offset: Any = ..., queue_num: Any = ..., channel_group_idx: Any = ...) -> Any:
    """Older name of pto.comm.build_async_session."""
    ...
def ceil(operand: Any) -> Any:
    """Rounded to an integer, towards plus infinity."""
    ...
def chistv2(acc: Any, input: Any, mask: Any, bin: Any) -> Any:
    """Count how many bytes are at most each value, for half of the values."""
    ...
def cmo_cacheinvalid(*, address: Any = ...) -> Any:
    """Invalidate cached GM data: the line of an address, or everything."""
    ...
def copy_cbuf_to_bt(source: Any, dest: Any, convert: Any, n_burst: Any, len_burst: Any, source_gap: Any, dest_gap: Any) -> Any:
    """Load bias values from L1 into the bias table (pipe MTE1); the raw form of pto.mte_l1_bt."""
    ...
def copy_cbuf_to_fbuf(source: Any, dest: Any, n_burst: Any, len_burst: Any, source_gap: Any, dest_gap: Any) -> Any:
    """Load parameter rows from L1 into the fixpipe buffer (pipe FIX)."""
    ...
def copy_cbuf_to_ubuf(source: Any, dest: Any, sid: Any, n_burst: Any, len_burst: Any, source_gap: Any, dest_gap: Any) -> Any:
    """Copy rows from L1 to the UB of one vector core (issued by the cube core, pipe MTE1, a5)."""
    ...
def copy_gm_to_cbuf(source: Any, dest: Any, n_burst: Any, len_burst: Any, source_stride: Any, dest_stride: Any) -> Any:
    """Copy rows from GM to L1 (pipe MTE2), inside the two hardware loops of the outtol1 registers."""
    ...
def copy_gm_to_cbuf_multi_dn2nz(source: Any, dest: Any, sid: Any, inner_stride: Any, l2_cache_ctl: Any, n: Any, d: Any, outer_stride: Any, small_c0: Any) -> Any:
    """Copy a column-major matrix from GM into NZ order in L1 (pipe MTE2)."""
    ...
def copy_gm_to_cbuf_multi_nd2nz(source: Any, dest: Any, sid: Any, inner_stride: Any, l2_cache_ctl: Any, n: Any, d: Any, outer_stride: Any, small_c0: Any) -> Any:
    """Copy a row-major matrix from GM into NZ order in L1 (pipe MTE2)."""
    ...
def copy_gm_to_ubuf(source: Any, dest: Any, sid: Any, n_burst: Any, len_burst: Any, left_padding: Any, right_padding: Any, data_select: Any, l2_cache_ctl: Any, source_stride: Any, dest_stride: Any, *, valid_rows: Any = ..., valid_cols: Any = ...) -> Any:
    """Copy rows from GM to UB (pipe MTE2), inside the two hardware loops of the outtoub registers."""
    ...
def copy_matrix_cc_to_cbuf(source: Any, dest: Any, config0: Any, config1: Any, *, loop3_para: Any = ..., channel_para: Any = ..., quant_pre: Any = ..., relu_alpha: Any = ..., fix_clip_relu: Any = ..., fpc: Any = ...) -> Any:
    """Move a tile from L0C to L1 (pipe FIX); the raw form of pto.mte_l0c_l1."""
    ...
def copy_matrix_cc_to_gm(source: Any, dest: Any, config0: Any, config1: Any, *, loop3_para: Any = ..., channel_para: Any = ..., quant_pre: Any = ..., relu_alpha: Any = ..., fix_clip_relu: Any = ..., fpc: Any = ...) -> Any:
    """Store a tile from L0C to GM (pipe FIX); the raw form of pto.mte_l0c_gm."""
    ...
def copy_matrix_cc_to_ub(source: Any, dest: Any, config0: Any, config1: Any, *, loop3_para: Any = ..., channel_para: Any = ..., quant_pre: Any = ..., relu_alpha: Any = ..., fix_clip_relu: Any = ..., fpc: Any = ...) -> Any:
    """Move a tile from L0C to UB (pipe FIX, a5); the raw form of pto.mte_l0c_ub."""
    ...
def copy_ubuf_to_cbuf(source: Any, dest: Any, sid: Any, n_burst: Any, len_burst: Any, source_gap: Any, dest_gap: Any) -> Any:
    """Copy rows from a vector core's UB to the cluster's L1 (pipe MTE3, a5)."""
    ...
def copy_ubuf_to_gm(source: Any, dest: Any, sid: Any, n_burst: Any, len_burst: Any, reserved: Any, dest_stride: Any, source_stride: Any, *, valid_rows: Any = ..., valid_cols: Any = ...) -> Any:
    """Copy rows from UB to GM (pipe MTE3), inside the two hardware loops of the ubtoout registers."""
    ...
def cos(operand: Any) -> Any:
    """Cosine, rounded once."""
    ...
def create_cbuf_matrix(dest: Any, value: Any, repeat: Any, blocks: Any, gap: Any, fill_word_bits: Any) -> Any:
    """Fill L1 with a 16- or 32-bit word (pipe MTE2), from the pointer on."""
    ...
def dcci(address: Any, lines: Literal['SINGLE_CACHE_LINE', 'ENTIRE_DATA_CACHE'] | Enum | str, *, side: Literal['CACHELINE_ALL', 'CACHELINE_UB', 'CACHELINE_OUT', 'CACHELINE_ATOMIC'] | Enum | str = ...) -> Any:
    """Clean and invalidate the scalar data cache: the line of an address, or all of it."""
    ...
def declare_eventid_array() -> Any:
    """An array of event ids."""
    ...
def declare_global() -> Any:
    """A tensor view that is bound later."""
    ...
def declare_local_array() -> Any:
    """An array of scalars."""
    ...
def declare_tile() -> Any:
    """A tile without storage."""
    ...
def dhistv2(acc: Any, input: Any, mask: Any, bin: Any) -> Any:
    """Count how often each byte value occurs, for half of the values."""
    ...
def dsb(memory: Literal['ALL', 'DDR', 'UB', 'SEQ'] | Enum | str) -> Any:
    """The scalar unit waits until its own memory effects are done."""
    ...
def eventid_array_get(array: Any, index: Any) -> Any:
    """Reads an event id."""
    ...
def eventid_array_set(array: Any, index: Any, value: Any) -> Any:
    """Writes an event id."""
    ...
def exp(operand: Any) -> Any:
    """e^x, rounded once; subnormal f32 count as zero."""
    ...
def fence_barrier_all(scope: Literal['local_memory', 'gm', 'all'] | Enum | str) -> Any:
    """Wait for the memory effects of this core."""
    ...
def floor(operand: Any) -> Any:
    """Rounded to an integer, towards minus infinity."""
    ...
def fma(lhs: Any, rhs: Any, addend: Any) -> Any:
    """Product and sum, rounded once."""
    ...
def fmax(lhs: Any, rhs: Any) -> Any:
    """The greater; of a number and NaN the number, and -0 is less than +0."""
    ...
def fmin(lhs: Any, rhs: Any) -> Any:
    """The lesser; of a number and NaN the number, and -0 is less than +0."""
    ...
def get_block_dim_x() -> Any:
    """Dimension x of the launch."""
    ...
def get_block_dim_y() -> Any:
    """Dimension y of the launch."""
    ...
def get_block_dim_z() -> Any:
    """Dimension z of the launch."""
    ...
def get_block_idx() -> Any:
    """Block index."""
    ...
def get_block_idx_x() -> Any:
    """Core index along x: always 0; use pto.get_block_idx."""
    ...
def get_block_idx_y() -> Any:
    """Core index along y: always 0; use pto.get_block_idx."""
    ...
def get_block_idx_z() -> Any:
    """Core index along z: always 0; use pto.get_block_idx."""
    ...
def get_block_num() -> Any:
    """Block count."""
    ...
def get_buf_dyn(pipe: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX'] | Enum | str, *, id: Any = ..., mode: Any = ..., id_literal: Any = ..., mode_literal: Any = ...) -> Any:
    """Older name of pto.get_buf with a computed id."""
    ...
def get_clock32() -> Any:
    """How many clocks the workitem has asked for in this launch, 32 bits."""
    ...
def get_clock64() -> Any:
    """How many clocks the workitem has asked for in this launch, 64 bits."""
    ...
def get_ctrl() -> Any:
    """Read the control register."""
    ...
def get_grid_dim_x() -> Any:
    """Number of cores along x: always 0; use pto.get_block_num."""
    ...
def get_grid_dim_y() -> Any:
    """Number of cores along y: always 0; use pto.get_block_num."""
    ...
def get_grid_dim_z() -> Any:
    """Number of cores along z: always 0; use pto.get_block_num."""
    ...
def get_laneid() -> Any:
    """Lane of the workitem in its warp of 32: its number modulo 32."""
    ...
def get_lanemask_eq() -> Any:
    """The bit of the own lane, out of 32."""
    ...
def get_lanemask_ge() -> Any:
    """The bits of the own lane and those above."""
    ...
def get_lanemask_gt() -> Any:
    """The bits of the lanes above the own one."""
    ...
def get_lanemask_le() -> Any:
    """The bits of the own lane and those below."""
    ...
def get_lanemask_lt() -> Any:
    """The bits of the lanes below the own one."""
    ...
def get_prefetch_async_session(context: Any) -> Any:
    """The session of a queue of prefetches."""
    ...
def get_subblock_idx() -> Any:
    """Subblock index."""
    ...
def get_subblock_num() -> Any:
    """Subblock count."""
    ...
def get_tensor_view_dim(source: Any, dimension: Any) -> Any:
    """The size of a view in one dimension."""
    ...
def get_tensor_view_stride(source: Any, dimension: Any) -> Any:
    """The stride of a view in one dimension."""
    ...
def get_tid_x() -> Any:
    """Coordinate x of the workitem."""
    ...
def get_tid_y() -> Any:
    """Coordinate y of the workitem."""
    ...
def get_tid_z() -> Any:
    """Coordinate z of the workitem."""
    ...
def get_validshape(source: Any) -> Any:
    """The valid region of a tile."""
    ...
def get_veccoreid() -> Any:
    """Number of the vector core among those of the launch."""
    ...
def get_vms4_sr() -> Any:
    """Progress of the last merge."""
    ...
def init_align() -> Any:
    """Begin an unaligned store stream: nothing is pending yet."""
    ...
def initialize_l2g2l_pipe(dir_mask: Any, slot_size: Any, *, buffers: Any = ..., slot_num: Any = ..., local_slot_num: Any = ..., flag_base: Any = ..., nosplit: Any = ...) -> Any:
    """Set up a FIFO through global memory."""
    ...
def initialize_l2l_pipe(dir_mask: Any, slot_size: Any, *, buffers: Any = ..., slot_num: Any = ..., local_slot_num: Any = ..., flag_base: Any = ..., nosplit: Any = ...) -> Any:
    """Set up a FIFO between local memories."""
    ...
def inttoptr(address: Any) -> Any:
    """GM pointer from an address."""
    ...
def ld_dev(pointer: Any, offset: Any) -> Any:
    """Uncached load."""
    ...
def llvm_alloca(count: Any, *, element_type: Any = ...) -> Any:
    """Private buffer of a workitem."""
    ...
def llvm_bitcast(operand: Any) -> Any:
    """Reinterpret bits of a scalar or vector."""
    ...
def llvm_extractelement(vector: Any, index: Any) -> Any:
    """Element of a vector."""
    ...
def llvm_getelementptr(base: Any, *, index: Any = ..., constant: Any = ..., element_type: Any = ...) -> Any:
    """Address of an element."""
    ...
def llvm_insertelement(value: Any, vector: Any, index: Any) -> Any:
    """Vector with another element."""
    ...
def llvm_inttoptr(address: Any) -> Any:
    """Address of UB or GM as an LLVM pointer."""
    ...
def llvm_load(pointer: Any, *, volatile_: Any = ...) -> Any:
    """Load a scalar or vector."""
    ...
def llvm_mlir_constant(*, bits: Any = ..., dense: Any = ...) -> Any:
    """A literal, in parentheses."""
    ...
def llvm_mlir_undef() -> Any:
    """Undefined value."""
    ...
def llvm_store(value: Any, pointer: Any, *, volatile_: Any = ...) -> Any:
    """Store a scalar or vector."""
    ...
def load(pointer: Any, offset: Any) -> Any:
    """Load one element, as a workitem or as the scalar unit."""
    ...
def load_cbuf_to_ca(source: Any, dest: Any, m_start: Any, k_start: Any, m_step: Any, k_step: Any, source_stride: Any, dest_stride: Any, *, transpose: Any = ...) -> Any:
    """Load fractals from L1 into L0A (pipe MTE1); the raw form of pto.mte_l1_l0a."""
    ...
def load_cbuf_to_ca_mx(source: Any, dest: Any, x_start: Any, y_start: Any, x_step: Any, y_step: Any, source_stride: Any, dest_stride: Any) -> Any:
    """Load MX scales for L0A from L1 (pipe MTE1)."""
    ...
def load_cbuf_to_ca_s4(source: Any, dest: Any, m_start: Any, k_start: Any, m_step: Any, k_step: Any, source_stride: Any, dest_stride: Any, transpose: Any) -> Any:
    """Load fractals of packed 4-bit elements from L1 into L0A (pipe MTE1)."""
    ...
def load_cbuf_to_cb(source: Any, dest: Any, m_start: Any, k_start: Any, m_step: Any, k_step: Any, source_stride: Any, dest_stride: Any, *, transpose: Any = ...) -> Any:
    """Load fractals from L1 into L0B (pipe MTE1); the raw form of pto.mte_l1_l0b."""
    ...
def load_cbuf_to_cb_mx(source: Any, dest: Any, x_start: Any, y_start: Any, x_step: Any, y_step: Any, source_stride: Any, dest_stride: Any) -> Any:
    """Load MX scales for L0B from L1 (pipe MTE1)."""
    ...
def load_cbuf_to_cb_s4(source: Any, dest: Any, m_start: Any, k_start: Any, m_step: Any, k_step: Any, source_stride: Any, dest_stride: Any, transpose: Any) -> Any:
    """Load fractals of packed 4-bit elements from L1 into L0B (pipe MTE1)."""
    ...
def local_array_get(array: Any, *, indices: Any = ...) -> Any:
    """Reads an element of an array."""
    ...
def local_array_set(array: Any, value: Any, *, indices: Any = ...) -> Any:
    """Writes an element of an array."""
    ...
def log(operand: Any) -> Any:
    """Natural logarithm, rounded once."""
    ...
def mad_bias_raw(a: Any, b: Any, c: Any, bias: Any, packed: Any) -> Any:
    """A product with a bias and its fields in one word."""
    ...
def mad_mx_bias_raw(a: Any, b: Any, c: Any, bias: Any, packed: Any) -> Any:
    """A product with MX scales and a bias and its fields in one word."""
    ...
def mad_mx_raw(a: Any, b: Any, c: Any, packed: Any) -> Any:
    """A product with MX scales and its fields in one word."""
    ...
def mad_raw(a: Any, b: Any, c: Any, packed: Any) -> Any:
    """A product with its fields in one word."""
    ...
def make_prefetch_async_context(workspace: Any) -> Any:
    """Begin a queue of prefetches."""
    ...
def mem_bar(*, kind: Literal['VV_ALL', 'VST_VLD', 'VLD_VST', 'VST_VST', 'VS_ALL', 'VST_LD', 'VLD_ST', 'VST_ST', 'SV_ALL', 'ST_VLD', 'LD_VST', 'ST_VST', 'SS_ALL', 'ST_LD', 'LD_ST', 'ST_ST'] | Enum | str = ..., barrier_type: Literal['VV_ALL', 'VST_VLD', 'VLD_VST', 'VST_VST', 'VS_ALL', 'VST_LD', 'VLD_ST', 'VST_ST', 'SV_ALL', 'ST_VLD', 'LD_VST', 'ST_VST', 'SS_ALL', 'ST_LD', 'LD_ST', 'ST_ST'] | Enum | str = ..., order: Literal['VV_ALL', 'VST_VLD', 'VLD_VST', 'VST_VST', 'VS_ALL', 'VST_LD', 'VLD_ST', 'VST_ST', 'SV_ALL', 'ST_VLD', 'LD_VST', 'ST_VST', 'SS_ALL', 'ST_LD', 'LD_ST', 'ST_ST'] | Enum | str = ...) -> Any:
    """Order UB accesses of one vector scope that may alias: one class before completes before another after."""
    ...
def mgather(mem: Any, idx: Any, dst: Any, coalesce: Literal['row', 'elem'] | Enum | str, *, workspace: Any = ..., gatherOob: Literal['undefined', 'clamp', 'wrap', 'zero'] | Enum | str = ...) -> Any:
    """Gather rows or elements of a table in global memory."""
    ...
def mscatter(src: Any, idx: Any, mem: Any, *, coalesce: Literal['row', 'elem'] | Enum | str = ..., scatterAtomicOp: Literal['none', 'add', 'max', 'min'] | Enum | str = ..., scatterOob: Literal['undefined', 'skip', 'clamp', 'wrap'] | Enum | str = ..., scatterConflict: Literal['default', 'last'] | Enum | str = ...) -> Any:
    """Scatter rows or elements of a tile into a table in global memory."""
    ...
def mulhi(lhs: Any, rhs: Any, *, signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """High half of a product of integers."""
    ...
def multi_tile_get(source: Any, slot: Any) -> Any:
    """One of several tiles."""
    ...
def pand(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Lanes that are active in both masks and in the governing one."""
    ...
def pdintlv_b16(lhs: Any, rhs: Any) -> Any:
    """The even and the odd lanes of two masks, taken as one sequence of lanes."""
    ...
def pdintlv_b32(lhs: Any, rhs: Any) -> Any:
    """The even and the odd lanes of two masks, taken as one sequence of lanes."""
    ...
def pdintlv_b8(lhs: Any, rhs: Any) -> Any:
    """The even and the odd lanes of two masks, taken as one sequence of lanes."""
    ...
def pge_b16(pattern: Literal['PAT_ALL', 'PAT_VL1', 'PAT_VL2', 'PAT_VL3', 'PAT_VL4', 'PAT_VL8', 'PAT_VL16', 'PAT_VL32', 'PAT_VL64', 'PAT_VL128', 'PAT_M3', 'PAT_M4', 'PAT_H', 'PAT_Q', 'PAT_ALLF'] | Enum | str) -> Any:
    """A mask of 128 lanes by pattern; pset and pge are the same."""
    ...
def pge_b32(pattern: Literal['PAT_ALL', 'PAT_VL1', 'PAT_VL2', 'PAT_VL3', 'PAT_VL4', 'PAT_VL8', 'PAT_VL16', 'PAT_VL32', 'PAT_VL64', 'PAT_VL128', 'PAT_M3', 'PAT_M4', 'PAT_H', 'PAT_Q', 'PAT_ALLF'] | Enum | str) -> Any:
    """A mask of 64 lanes by pattern; pset and pge are the same."""
    ...
def pge_b8(pattern: Literal['PAT_ALL', 'PAT_VL1', 'PAT_VL2', 'PAT_VL3', 'PAT_VL4', 'PAT_VL8', 'PAT_VL16', 'PAT_VL32', 'PAT_VL64', 'PAT_VL128', 'PAT_M3', 'PAT_M4', 'PAT_H', 'PAT_Q', 'PAT_ALLF'] | Enum | str) -> Any:
    """A mask of 256 lanes by pattern; pset and pge are the same."""
    ...
def pintlv_b16(lhs: Any, rhs: Any) -> Any:
    """The lanes of two masks in turn."""
    ...
def pintlv_b32(lhs: Any, rhs: Any) -> Any:
    """The lanes of two masks in turn."""
    ...
def pintlv_b8(lhs: Any, rhs: Any) -> Any:
    """The lanes of two masks in turn."""
    ...
def pltm_b16(loop: Any, bound: Any) -> Any:
    """A mask of the lanes of iteration `loop` that are below `bound`."""
    ...
def pltm_b32(loop: Any, bound: Any) -> Any:
    """A mask of the lanes of iteration `loop` that are below `bound`."""
    ...
def pltm_b8(loop: Any, bound: Any) -> Any:
    """A mask of the lanes of iteration `loop` that are below `bound`."""
    ...
def pnot(input: Any, mask: Any) -> Any:
    """Lanes that are inactive in a mask and active in the governing one."""
    ...
def por(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Lanes that are active in one mask or the other, and in the governing one."""
    ...
def pow(lhs: Any, rhs: Any) -> Any:
    """Power, with the special cases of C; subnormal f32 count as zero."""
    ...
def prmt(lhs: Any, rhs: Any, selector: Any) -> Any:
    """Choose four bytes of eight."""
    ...
def psel(lhs: Any, rhs: Any, select: Any) -> Any:
    """Lanes of one mask where a third is set, of the other elsewhere."""
    ...
def pset_b16(pattern: Literal['PAT_ALL', 'PAT_VL1', 'PAT_VL2', 'PAT_VL3', 'PAT_VL4', 'PAT_VL8', 'PAT_VL16', 'PAT_VL32', 'PAT_VL64', 'PAT_VL128', 'PAT_M3', 'PAT_M4', 'PAT_H', 'PAT_Q', 'PAT_ALLF'] | Enum | str) -> Any:
    """A mask of 128 lanes by pattern; pset and pge are the same."""
    ...
def pset_b32(pattern: Literal['PAT_ALL', 'PAT_VL1', 'PAT_VL2', 'PAT_VL3', 'PAT_VL4', 'PAT_VL8', 'PAT_VL16', 'PAT_VL32', 'PAT_VL64', 'PAT_VL128', 'PAT_M3', 'PAT_M4', 'PAT_H', 'PAT_Q', 'PAT_ALLF'] | Enum | str) -> Any:
    """A mask of 64 lanes by pattern; pset and pge are the same."""
    ...
def pset_b8(pattern: Literal['PAT_ALL', 'PAT_VL1', 'PAT_VL2', 'PAT_VL3', 'PAT_VL4', 'PAT_VL8', 'PAT_VL16', 'PAT_VL32', 'PAT_VL64', 'PAT_VL128', 'PAT_M3', 'PAT_M4', 'PAT_H', 'PAT_Q', 'PAT_ALLF'] | Enum | str) -> Any:
    """A mask of 256 lanes by pattern; pset and pge are the same."""
    ...
def psti(value: Any, dest: Any, offset: Any, dist: Literal['NORM', 'PK'] | Enum | str) -> Any:
    """Store a mask to UB at a constant offset, bit by bit and whatever its granularity."""
    ...
def ptrtoint(pointer: Any) -> Any:
    """Address of a GM pointer."""
    ...
def pxor(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Lanes that are active in just one of the two masks, and in the governing one."""
    ...
def record_event(source: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX'] | Enum | str, destination: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX'] | Enum | str, event: Literal['EVENT_ID0', 'EVENT_ID1', 'EVENT_ID2', 'EVENT_ID3', 'EVENT_ID4', 'EVENT_ID5', 'EVENT_ID6', 'EVENT_ID7'] | Enum | str) -> Any:
    """Older name of pto.set_flag, between operation classes instead of pipes."""
    ...
def redux_add(value: Any, *, signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Sum over the active lanes of the warp."""
    ...
def redux_max(value: Any, *, signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Greatest value of the active lanes of the warp."""
    ...
def redux_min(value: Any, *, signedness: Literal['signed', 'unsigned'] | Enum | str = ...) -> Any:
    """Least value of the active lanes of the warp."""
    ...
def rint(operand: Any) -> Any:
    """Rounded to the nearest integer, ties to even."""
    ...
def rls_buf_dyn(pipe: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX'] | Enum | str, *, id: Any = ..., mode: Any = ..., id_literal: Any = ..., mode_literal: Any = ...) -> Any:
    """Older name of pto.rls_buf with a computed id."""
    ...
def round(operand: Any) -> Any:
    """Rounded to the nearest integer, ties away from zero."""
    ...
def sbitset0(value: Any, bit: Any) -> Any:
    """Clear a bit."""
    ...
def sbitset1(value: Any, bit: Any) -> Any:
    """Set a bit."""
    ...
def set_atomic_add() -> Any:
    """Later UB to GM and L0C to GM stores add to GM, once a type is set, until pto.set_atomic_none."""
    ...
def set_atomic_bf16() -> Any:
    """Later stores to GM are atomic in bf16."""
    ...
def set_atomic_f16() -> Any:
    """Later stores to GM are atomic in f16."""
    ...
def set_atomic_f32() -> Any:
    """Later stores to GM are atomic in f32."""
    ...
def set_atomic_max() -> Any:
    """Later stores to GM keep the maximum of GM and the stored value."""
    ...
def set_atomic_min() -> Any:
    """Later stores to GM keep the minimum of GM and the stored value."""
    ...
def set_atomic_none() -> Any:
    """Stores to GM overwrite again."""
    ...
def set_atomic_s16() -> Any:
    """Later stores to GM are atomic in s16."""
    ...
def set_atomic_s32() -> Any:
    """Later stores to GM are atomic in s32."""
    ...
def set_atomic_s8() -> Any:
    """Later stores to GM are atomic in s8."""
    ...
def set_channel_para(low: Any, high: Any) -> Any:
    """Set the loop0 source stride of raw nz2dn stores: bits 63:48."""
    ...
def set_cross_core(*, core_id: Any = ..., id: Any = ..., pipe: Any = ..., id_literal: Any = ...) -> Any:
    """Signal the other cores of the cluster (a2a3)."""
    ...
def set_ctrl(value: Any) -> Any:
    """Write the control register."""
    ...
def set_ffts(address: Any) -> Any:
    """Give the base address of the signals between cores."""
    ...
def set_fix_clip_relu(packed: Any) -> Any:
    """Set the clip value of raw fixpipe stores."""
    ...
def set_flag_dyn(event: Any, source: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX'] | Enum | str, destination: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX'] | Enum | str) -> Any:
    """Signal an event whose id is computed."""
    ...
def set_fpc(packed: Any) -> Any:
    """Set the rows of the fixpipe buffer that raw stores read."""
    ...
def set_intra_core(*, core_id: Any = ..., id: Any = ..., pipe: Any = ..., id_literal: Any = ...) -> Any:
    """Another name of pto.set_intra_block."""
    ...
def set_loop1_stride_outtol1(packed: Any) -> Any:
    """Set how far source and destination advance per step of the inner loop of GM to L1 copies."""
    ...
def set_loop1_stride_outtoub(source_stride: Any, dest_stride: Any) -> Any:
    """Set how far GM source and UB destination advance per step of the inner loop of pto.copy_gm_to_ubuf, in bytes."""
    ...
def set_loop1_stride_ubtoout(source_stride: Any, dest_stride: Any) -> Any:
    """Set how far source and destination advance per step of the inner loop of pto.copy_ubuf_to_gm."""
    ...
def set_loop2_stride_outtol1(packed: Any) -> Any:
    """Set how far source and destination advance per step of the outer loop of GM to L1 copies."""
    ...
def set_loop2_stride_outtoub(source_stride: Any, dest_stride: Any) -> Any:
    """Set how far source and destination advance per step of the outer loop of pto.copy_gm_to_ubuf."""
    ...
def set_loop2_stride_ubtoout(source_stride: Any, dest_stride: Any) -> Any:
    """Set how far source and destination advance per step of the outer loop of pto.copy_ubuf_to_gm."""
    ...
def set_loop3_para(low: Any, high: Any) -> Any:
    """Set the repetition of raw fixpipe stores: bits 15:0 count, 31:16 source stride, 63:32 destination stride."""
    ...
def set_loop_size_outtol1(packed: Any) -> Any:
    """Set how often the two hardware loops around a GM to L1 copy run."""
    ...
def set_loop_size_outtoub(loop1: Any, loop2: Any) -> Any:
    """Set how often the two hardware loops around a GM to UB copy run: inner loop1, outer loop2."""
    ...
def set_loop_size_ubtoout(loop1: Any, loop2: Any) -> Any:
    """Set how often the two hardware loops around a UB to GM copy run: inner loop1, outer loop2."""
    ...
def set_mov_pad_val(value: Any) -> Any:
    """Set the bit pattern with which GM to UB copies pad their rows."""
    ...
def set_mte2_nz_para(packed: Any) -> Any:
    """Set the destination layout of pto.copy_gm_to_cbuf_multi_nd2nz and _dn2nz."""
    ...
def set_pad_val_outtol1(value: Any) -> Any:
    """Set the pad pattern of GM to L1 copies."""
    ...
def set_quant_pre(packed: Any) -> Any:
    """Set the scalar quantisation word of raw fixpipe stores."""
    ...
def set_quant_scalar(scale: Any, *, id: Any = ...) -> Any:
    """Set the scale with which entries to the vector cores are quantised."""
    ...
def set_quant_vector(fp: Any, *, id: Any = ...) -> Any:
    """Set the parameters, one for each column, with which entries to the vector cores are quantised."""
    ...
def set_relu_alpha(packed: Any) -> Any:
    """Set the slope of scalar relu of raw fixpipe stores."""
    ...
def set_store_atomic_cfg(packed: Any) -> Any:
    """Write a raw atomic configuration word."""
    ...
def set_validshape(source: Any, valid_row: Any, valid_col: Any) -> Any:
    """Changes the valid region of a tile."""
    ...
def settf32mode(*, enable: Any = ..., mode: Any = ...) -> Any:
    """Let later f32 products round their operands to TF32."""
    ...
def shuffle_bfly(value: Any, control: Any, *, width: Any = ...) -> Any:
    """Value of the lane whose number differs in given bits."""
    ...
def shuffle_down(value: Any, control: Any, *, width: Any = ...) -> Any:
    """Value of the lane so many above; the highest lanes keep their own."""
    ...
def shuffle_idx(value: Any, control: Any, *, width: Any = ...) -> Any:
    """Value of the lane with a given number in the group."""
    ...
def shuffle_up(value: Any, control: Any, *, width: Any = ...) -> Any:
    """Value of the lane so many below; the lowest lanes keep their own."""
    ...
def sin(operand: Any) -> Any:
    """Sine, rounded once."""
    ...
def sprclr(register: Literal['AR'] | Enum | str) -> Any:
    """Clear a special register."""
    ...
def sprsti(dest: Any, offset: Any, register: Literal['AR'] | Enum | str) -> Any:
    """Store a special register, constant offset."""
    ...
def sprsts(dest: Any, offset: Any, register: Literal['AR'] | Enum | str) -> Any:
    """Store a special register."""
    ...
def sqrt(operand: Any) -> Any:
    """Square root, correctly rounded; subnormal f32 count as zero."""
    ...
def st_dev(value: Any, pointer: Any, offset: Any) -> Any:
    """Uncached store."""
    ...
def store(pointer: Any, offset: Any, value: Any) -> Any:
    """Store one element, as a workitem or as the scalar unit."""
    ...
def store_vfsimt_info(dim_z: Any, dim_y: Any, dim_x: Any) -> Any:
    """Store the dimensions of launches that are written as calls."""
    ...
def subset(source: Any, row: Any, col: Any, sizes: Any, *, valid_row: Any = ..., valid_col: Any = ...) -> Any:
    """Older name of pto.subview."""
    ...
def subview(source: Any, row: Any, col: Any, sizes: Any, *, valid_row: Any = ..., valid_col: Any = ...) -> Any:
    """A rectangle of a tile."""
    ...
def sync_set(*, core_id: Any = ..., id: Any = ..., pipe: Any = ..., id_literal: Any = ..., ffts_mode: Any = ...) -> Any:
    """Signal a semaphore of the cluster, when all earlier entries of the named pipe have completed."""
    ...
def sync_wait(*, core_id: Any = ..., id: Any = ..., pipe: Any = ..., id_literal: Any = ..., ffts_mode: Any = ...) -> Any:
    """Wait for a semaphore of the cluster and consume one signal."""
    ...
def syncall(mode: Literal['hard', 'soft'] | Enum | str, core_type: Literal['aic_only', 'aiv_only', 'mix'] | Enum | str, *, workspace: Any = ..., used: Any = ...) -> Any:
    """Barrier over all blocks."""
    ...
def syncthreads() -> Any:
    """Barrier of all workitems of the launch."""
    ...
def tabs(src: Any, dst: Any) -> Any:
    """Absolute value."""
    ...
def tadd(src0: Any, src1: Any, dst: Any) -> Any:
    """Sum."""
    ...
def taddc(src0: Any, src1: Any, src2: Any, dst: Any) -> Any:
    """Sum of three tiles."""
    ...
def taddrelu(src0: Any, src1: Any, dst: Any) -> Any:
    """The greater of a sum and zero."""
    ...
def tadds(src: Any, scalar: Any, dst: Any) -> Any:
    """Sum with a scalar."""
    ...
def taddsc(src0: Any, scalar: Any, src1: Any, dst: Any) -> Any:
    """Sum of a tile, a scalar and a tile."""
    ...
def talloc(entry: Any, handle: Any, split: Any) -> Any:
    """Take a free slot of the FIFO of a handle."""
    ...
def talloc_to_aic(split: Any, *, id: Any = ...) -> Any:
    """Take a free slot in global memory for an entry to the cube."""
    ...
def talloc_to_aiv(split: Any, *, id: Any = ...) -> Any:
    """Take a free slot in global memory for an entry to the vector cores."""
    ...
def tand(src0: Any, src1: Any, dst: Any) -> Any:
    """Bitwise and."""
    ...
def tands(src: Any, scalar: Any, dst: Any) -> Any:
    """Bitwise and with a scalar."""
    ...
def tassign(source: Any, addr: Any) -> Any:
    """The tile at another address."""
    ...
def taxpy(src: Any, scalar: Any, dst: Any) -> Any:
    """Adds the product of a tile and a scalar to dst."""
    ...
def tci(scalar: Any, dst: Any, *, tmp: Any = ..., descending: Any = ...) -> Any:
    """Counts from a scalar: scalar, scalar + 1, ... along the columns of row 0."""
    ...
def tcmp(src0: Any, src1: Any, dst: Any, *, cmpMode: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | Enum | str = ...) -> Any:
    """Compares two tiles; the result is one bit for each element."""
    ...
def tcmps(src: Any, scalar: Any, dst: Any, *, cmpMode: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | Enum | str = ...) -> Any:
    """Compares a tile with a scalar; the result is one bit for each element."""
    ...
def tcolargmax(src: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """The row of the greatest element of every column."""
    ...
def tcolargmin(src: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """The row of the least element of every column."""
    ...
def tcolexpand(src: Any, dst: Any) -> Any:
    """Fills every column with its first element."""
    ...
def tcolexpandadd(src0: Any, src1: Any, dst: Any) -> Any:
    """Sum of every column with its element of a row."""
    ...
def tcolexpanddiv(src0: Any, src1: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Quotient of every column and its element of a row."""
    ...
def tcolexpandexpdif(src0: Any, src1: Any, dst: Any) -> Any:
    """e to the power of the difference of every column and its element of a row."""
    ...
def tcolexpandmax(src0: Any, src1: Any, dst: Any) -> Any:
    """The greater of every element and the one of a row in its column."""
    ...
def tcolexpandmin(src0: Any, src1: Any, dst: Any) -> Any:
    """The lesser of every element and the one of a row in its column."""
    ...
def tcolexpandmul(src0: Any, src1: Any, dst: Any) -> Any:
    """Product of every column with its element of a row."""
    ...
def tcolexpandsub(src0: Any, src1: Any, dst: Any) -> Any:
    """Difference of every column and its element of a row."""
    ...
def tcolmax(src: Any, dst: Any) -> Any:
    """The greatest element of every column."""
    ...
def tcolmin(src: Any, dst: Any) -> Any:
    """The least element of every column."""
    ...
def tcolprod(src: Any, dst: Any) -> Any:
    """Product of every column."""
    ...
def tcolsum(src: Any, dst: Any, *, tmp: Any = ..., isBinary: Any = ...) -> Any:
    """Sum of every column."""
    ...
def tconcat(src0: Any, src1: Any, dst: Any) -> Any:
    """Two tiles side by side."""
    ...
def tconcatidx(src0: Any, src1: Any, idx0: Any, idx1: Any, dst: Any) -> Any:
    """Two tiles side by side, as many columns of each as its index says, row by row."""
    ...
def tcvt(src: Any, dst: Any, *, sat_mode: Literal['ON', 'OFF'] | Enum | str = ..., round_mode: Literal['NONE', 'RINT', 'ROUND', 'FLOOR', 'CEIL', 'TRUNC', 'ODD', 'CAST_RINT'] | Enum | str = ..., tmp: Any = ..., rmode: Literal['NONE', 'RINT', 'ROUND', 'FLOOR', 'CEIL', 'TRUNC', 'ODD', 'CAST_RINT'] | Enum | str = ..., satmode: Literal['ON', 'OFF'] | Enum | str = ...) -> Any:
    """Converts elements to another type."""
    ...
def tdequant(src: Any, scale: Any, offset: Any, dst: Any) -> Any:
    """Turns quantised rows back into f32, each with a scale and an offset of its own."""
    ...
def tdiv(src0: Any, src1: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Quotient, src0 / src1."""
    ...
def tdivs(src0: Any, src1: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Quotient of a tile and a scalar, in either order."""
    ...
def tensor_view_addr(source: Any) -> Any:
    """The address of the first element of a view."""
    ...
def test_async_event(event: Any, session: Any) -> Any:
    """Older name of pto.comm.test_async_event."""
    ...
def texp(src: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """e to the power of an element."""
    ...
def texpands(scalar: Any, dst: Any) -> Any:
    """Fills a tile with a scalar."""
    ...
def textract(src: Any, row: Any, col: Any, dst: Any, *, pre_quant: Any = ..., fp: Any = ..., accToVecMode: Literal['single_mode_vec0', 'single_mode_vec1', 'dual_mode_split_m', 'dual_mode_split_n'] | Enum | str = ..., reluPreMode: Literal['no_relu', 'normal_relu', 'scalar_relu', 'vector_relu', 'pwl'] | Enum | str = ...) -> Any:
    """Take a window out of a tile."""
    ...
def textract_fp(src: Any, row: Any, col: Any, dst: Any, *, pre_quant: Any = ..., fp: Any = ..., accToVecMode: Literal['single_mode_vec0', 'single_mode_vec1', 'dual_mode_split_m', 'dual_mode_split_n'] | Enum | str = ..., reluPreMode: Literal['no_relu', 'normal_relu', 'scalar_relu', 'vector_relu', 'pwl'] | Enum | str = ...) -> Any:
    """Older name of pto.textract with a tile of parameters."""
    ...
def tfillpad(src: Any, dst: Any, *, padValue: Literal['null', 'zero', 'max', 'min'] | Enum | str = ...) -> Any:
    """Fill what is around the valid region."""
    ...
def tfillpad_expand(src: Any, dst: Any, *, padValue: Literal['null', 'zero', 'max', 'min'] | Enum | str = ...) -> Any:
    """Older name of pto.tfillpad for a destination that is larger than the source."""
    ...
def tfillpad_inplace(src: Any, dst: Any, *, padValue: Literal['null', 'zero', 'max', 'min'] | Enum | str = ...) -> Any:
    """Older name of pto.tfillpad for one tile that is source and destination."""
    ...
def tfmod(src0: Any, src1: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Remainder with the sign of the dividend."""
    ...
def tfmods(src: Any, scalar: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Remainder by a scalar, with the sign of the dividend."""
    ...
def tfree(handle: Any, split: Any, *, entry: Any = ...) -> Any:
    """Give a slot of the FIFO of a handle back."""
    ...
def tfree_from_aic(split: Any, *, entry: Any = ..., id: Any = ...) -> Any:
    """Give the slot of an entry back to the cube."""
    ...
def tfree_from_aiv(split: Any, *, entry: Any = ..., id: Any = ...) -> Any:
    """Give the slot of an entry back to the vector cores."""
    ...
def tgather(src: Any, dst: Any, *, indices: Any = ..., indexes: Any = ..., k_value: Any = ..., idx: Any = ..., scalar: Any = ..., tmp: Any = ..., cdst: Any = ..., maskPattern: Literal['P0101', 'P1010', 'P0001', 'P0010', 'P0100', 'P1000', 'P1111'] | Enum | str = ..., axis: Literal['row', 'col'] | Enum | str = ..., cmpMode: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | Enum | str = ..., offset: Any = ...) -> Any:
    """Takes elements of a tile by index, by a pattern, or by comparison."""
    ...
def tgatherb(src: Any, idx: Any, dst: Any) -> Any:
    """Takes blocks of 32 bytes of a tile by their offsets in bytes."""
    ...
def tgemv(lhs: Any, rhs: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Row vector times matrix."""
    ...
def tgemv_acc(acc: Any, lhs: Any, rhs: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Row vector times matrix, added to an accumulator."""
    ...
def tgemv_bias(lhs: Any, rhs: Any, bias: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Row vector times matrix, with a bias."""
    ...
def tgemv_mx(lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Row vector times matrix with block scales."""
    ...
def tgemv_mx_acc(acc: Any, lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Row vector times matrix with block scales, added to an accumulator."""
    ...
def tgemv_mx_bias(lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, bias: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Row vector times matrix with block scales and a bias."""
    ...
def tget_async(dst: Any, src: Any, session: Any) -> Any:
    """Older name of pto.comm.tget_async."""
    ...
def tget_scale_addr(src: Any, dst: Any) -> Any:
    """Bind a tile of scales to its operand."""
    ...
def tgetval(src: Any, offset: Any) -> Any:
    """Read an element of a tile."""
    ...
def thistogram(src: Any, idx: Any, dst: Any, *, byte: Any = ...) -> Any:
    """Counts how many elements of each row have a byte up to each of 256 values."""
    ...
def threadfence() -> Any:
    """Fence of one workitem for all cores."""
    ...
def threadfence_block() -> Any:
    """Fence of one workitem for its launch."""
    ...
def tile_buf_addr(source: Any) -> Any:
    """The address of a tile."""
    ...
def tile_valid_cols(source: Any) -> Any:
    """The valid columns of a tile."""
    ...
def tile_valid_rows(source: Any) -> Any:
    """The valid rows of a tile."""
    ...
def tinsert(src: Any, row: Any, col: Any, dst: Any, *, fp: Any = ..., pre_quant: Any = ..., accToVecMode: Literal['single_mode_vec0', 'single_mode_vec1', 'dual_mode_split_m', 'dual_mode_split_n'] | Enum | str = ..., reluPreMode: Literal['no_relu', 'normal_relu', 'scalar_relu', 'vector_relu', 'pwl'] | Enum | str = ..., tinsertMode: Literal['split2', 'split4'] | Enum | str = ...) -> Any:
    """Put a tile into a window of another."""
    ...
def tinsert_fp(src: Any, row: Any, col: Any, dst: Any, *, fp: Any = ..., pre_quant: Any = ..., accToVecMode: Literal['single_mode_vec0', 'single_mode_vec1', 'dual_mode_split_m', 'dual_mode_split_n'] | Enum | str = ..., reluPreMode: Literal['no_relu', 'normal_relu', 'scalar_relu', 'vector_relu', 'pwl'] | Enum | str = ..., tinsertMode: Literal['split2', 'split4'] | Enum | str = ...) -> Any:
    """Older name of pto.tinsert with a tile of parameters."""
    ...
def tload(src: Any, dst: Any) -> Any:
    """Load a tile from global memory."""
    ...
def tlog(src: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Natural logarithm."""
    ...
def tlrelu(src: Any, scalar: Any, dst: Any) -> Any:
    """An element where it is positive, else its product with a slope."""
    ...
def tmatmul(lhs: Any, rhs: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Matrix product."""
    ...
def tmatmul_acc(acc: Any, lhs: Any, rhs: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Matrix product added to an accumulator."""
    ...
def tmatmul_bias(lhs: Any, rhs: Any, bias: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Matrix product with a bias."""
    ...
def tmatmul_mx(lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Matrix product with block scales."""
    ...
def tmatmul_mx_acc(acc: Any, lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Matrix product with block scales, added to an accumulator."""
    ...
def tmatmul_mx_bias(lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, bias: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
    """Matrix product with block scales and a bias."""
    ...
def tmax(src0: Any, src1: Any, dst: Any) -> Any:
    """The greater of two elements."""
    ...
def tmaxs(src: Any, scalar: Any, dst: Any) -> Any:
    """The greater of an element and a scalar."""
    ...
def tmin(src0: Any, src1: Any, dst: Any) -> Any:
    """The lesser of two elements."""
    ...
def tmins(src: Any, scalar: Any, dst: Any) -> Any:
    """The lesser of an element and a scalar."""
    ...
def tmov(src: Any, dst: Any, *, fp: Any = ..., tmp: Any = ..., pre_quant: Any = ..., accToVecMode: Literal['single_mode_vec0', 'single_mode_vec1', 'dual_mode_split_m', 'dual_mode_split_n'] | Enum | str = ..., reluPreMode: Literal['no_relu', 'normal_relu', 'scalar_relu', 'vector_relu', 'pwl'] | Enum | str = ..., grpAxis: Literal['axis0', 'axis1'] | Enum | str = ...) -> Any:
    """Move a tile to another memory, or to another layout."""
    ...
def tmov_fp(src: Any, dst: Any, *, fp: Any = ..., tmp: Any = ..., pre_quant: Any = ..., accToVecMode: Literal['single_mode_vec0', 'single_mode_vec1', 'dual_mode_split_m', 'dual_mode_split_n'] | Enum | str = ..., reluPreMode: Literal['no_relu', 'normal_relu', 'scalar_relu', 'vector_relu', 'pwl'] | Enum | str = ..., grpAxis: Literal['axis0', 'axis1'] | Enum | str = ...) -> Any:
    """Older name of pto.tmov with a tile of parameters."""
    ...
def tmrgsort(src0: Any, dst: Any, *, src1: Any = ..., src2: Any = ..., src3: Any = ..., blockLen: Any = ..., tmp: Any = ..., executed: Any = ..., exhausted: Any = ...) -> Any:
    """Merges sorted lists of records, as tsort32 makes them, in descending order."""
    ...
def tmul(src0: Any, src1: Any, dst: Any) -> Any:
    """Product."""
    ...
def tmuls(src: Any, scalar: Any, dst: Any) -> Any:
    """Product with a scalar."""
    ...
def tneg(src: Any, dst: Any) -> Any:
    """Negation."""
    ...
def tnot(src: Any, dst: Any) -> Any:
    """Complement of every bit."""
    ...
def tor(src0: Any, src1: Any, dst: Any) -> Any:
    """Bitwise or."""
    ...
def tors(src: Any, scalar: Any, dst: Any) -> Any:
    """Bitwise or with a scalar."""
    ...
def tpartadd(src0: Any, src1: Any, dst: Any) -> Any:
    """Sum where both sources are valid, else the one that is."""
    ...
def tpartargmax(src0: Any, src1: Any, src0_idx: Any, src1_idx: Any, dst: Any, dst_idx: Any) -> Any:
    """The greater element with its index, else that of the source that is valid."""
    ...
def tpartargmin(src0: Any, src1: Any, src0_idx: Any, src1_idx: Any, dst: Any, dst_idx: Any) -> Any:
    """The lesser element with its index, else that of the source that is valid."""
    ...
def tpartmax(src0: Any, src1: Any, dst: Any) -> Any:
    """The greater element where both sources are valid, else the one that is."""
    ...
def tpartmin(src0: Any, src1: Any, dst: Any) -> Any:
    """The lesser element where both sources are valid, else the one that is."""
    ...
def tpartmul(src0: Any, src1: Any, dst: Any) -> Any:
    """Product where both sources are valid, else the one that is."""
    ...
def tpop(entry: Any, handle: Any, split: Any) -> Any:
    """Pop an entry from the FIFO of a handle."""
    ...
def tpop_from_aic(split: Any, *, valid_row: Any = ..., valid_col: Any = ..., aiv_subblockid: Any = ..., id: Any = ...) -> Any:
    """Take an entry that the cube has pushed."""
    ...
def tpop_from_aiv(split: Any, *, valid_row: Any = ..., valid_col: Any = ..., aiv_subblockid: Any = ..., id: Any = ...) -> Any:
    """Take an entry that the vector cores have pushed."""
    ...
def tpow(src0: Any, src1: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Power, src0 to the src1."""
    ...
def tpows(src: Any, scalar: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Power, src to the scalar."""
    ...
def tprefetch(src: Any, dst: Any) -> Any:
    """Fetch a view into the cache."""
    ...
def tprefetch_async(src: Any, context: Any) -> Any:
    """Begin to fetch a view into the cache."""
    ...
def tprelu(src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """An element where it is not negative, else its product with a slope."""
    ...
def tprint(src: Any, *, tmp: Any = ..., printFormat: Literal['width8_precision4', 'width8_precision2', 'width10_precision6'] | Enum | str = ...) -> Any:
    """Prints the elements of a tile or of a view."""
    ...
def tpush(entry: Any, handle: Any, split: Any) -> Any:
    """Push an entry into the FIFO of a handle."""
    ...
def tpush_to_aic(entry: Any, split: Any, *, aiv_subblockid: Any = ..., id: Any = ...) -> Any:
    """Push a tile of a vector core to the cube."""
    ...
def tpush_to_aiv(entry: Any, split: Any, *, id: Any = ...) -> Any:
    """Push a tile of the accumulator to the vector cores."""
    ...
def tput_async(dst: Any, src: Any, session: Any) -> Any:
    """Older name of pto.comm.tput_async."""
    ...
def tquant(src: Any, fp: Any, dst: Any, quant_type: Literal['INT8_SYM', 'INT8_ASYM', 'MXFP8', 'MXFP4_E2M1'] | Enum | str, *, offset: Any = ..., tmp: Any = ...) -> Any:
    """Quantises rows to 8-bit integers, each with a scale of its own."""
    ...
def tquant_mx(src: Any, dst: Any, exp: Any, max: Any, scaling: Any, quant_type: Literal['INT8_SYM', 'INT8_ASYM', 'MXFP8', 'MXFP4_E2M1'] | Enum | str, *, exp_zz: Any = ..., quantScaleAlg: Literal['ocp', 'nv'] | Enum | str = ..., storeMode: Literal['nd', 'nz'] | Enum | str = ..., grpAxis: Literal['axis0', 'axis1'] | Enum | str = ..., interleave: Any = ...) -> Any:
    """Quantises groups of 32 elements to fp8 or fp4, each group with a power of two for its scale."""
    ...
def trandom(key0: Any, key1: Any, counter0: Any, counter1: Any, counter2: Any, counter3: Any, dst: Any, *, rounds: Any = ...) -> Any:
    """Random words by Philox4x32, from two words of key and four of counter."""
    ...
def trap() -> Any:
    """Stop with an error."""
    ...
def trecip(src: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """One divided by an element."""
    ...
def trelu(src: Any, dst: Any) -> Any:
    """The greater of an element and zero."""
    ...
def trem(src0: Any, src1: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Remainder with the sign of the divisor."""
    ...
def trems(src: Any, scalar: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Remainder by a scalar, with the sign of the divisor."""
    ...
def treshape(source: Any) -> Any:
    """The bytes of a tile in another shape, layout or element type."""
    ...
def trowargmax(src: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """The column of the greatest element of every row."""
    ...
def trowargmin(src: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """The column of the least element of every row."""
    ...
def trowexpand(src: Any, dst: Any) -> Any:
    """Fills every row with its first element."""
    ...
def trowexpandadd(src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Sum of every row with its element of a column."""
    ...
def trowexpanddiv(src0: Any, src1: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Quotient of every row and its element of a column."""
    ...
def trowexpandexpdif(src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """e to the power of the difference of every row and its element of a column."""
    ...
def trowexpandmax(src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """The greater of every element and the one of a column in its row."""
    ...
def trowexpandmin(src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """The lesser of every element and the one of a column in its row."""
    ...
def trowexpandmul(src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Product of every row with its element of a column."""
    ...
def trowexpandsub(src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Difference of every row and its element of a column."""
    ...
def trowmax(src: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """The greatest element of every row."""
    ...
def trowmin(src: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """The least element of every row."""
    ...
def trowprod(src: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Product of every row."""
    ...
def trowsum(src: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Sum of every row."""
    ...
def trsqrt(src: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """One divided by the square root of an element."""
    ...
def tscatter(src: Any, dst: Any, *, indices: Any = ..., indexes: Any = ..., idx: Any = ..., maskPattern: Literal['P0101', 'P1010', 'P0001', 'P0010', 'P0100', 'P1000', 'P1111'] | Enum | str = ..., axis: Literal['row', 'col'] | Enum | str = ...) -> Any:
    """Puts elements of a tile to places given by index or by a pattern; dst is zero elsewhere."""
    ...
def tsel(mask: Any, src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Selects by bits: src0 where the bit of an element is set, else src1."""
    ...
def tsels(mask: Any, src: Any, scalar: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Selects by bits: src where the bit of an element is set, else a scalar."""
    ...
def tsetval(offset: Any, scalar: Any, dst: Any) -> Any:
    """Write an element of a tile."""
    ...
def tshl(src0: Any, src1: Any, dst: Any) -> Any:
    """Shift to the left, src0 by the counts of src1."""
    ...
def tshls(src: Any, scalar: Any, dst: Any) -> Any:
    """Shift to the left by a scalar count."""
    ...
def tshr(src0: Any, src1: Any, dst: Any) -> Any:
    """Shift to the right, src0 by the counts of src1."""
    ...
def tshrs(src: Any, scalar: Any, dst: Any) -> Any:
    """Shift to the right by a scalar count."""
    ...
def tsort32(src: Any, idx: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Sorts every 32 elements of a row in descending order, with an index for each."""
    ...
def tsqrt(src: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
    """Square root."""
    ...
def tstore(src: Any, dst: Any, *, fp: Any = ..., pre_quant: Any = ..., stPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ..., atomicType: Literal['atomic_none', 'atomic_add'] | Enum | str = ..., reluPreMode: Literal['no_relu', 'normal_relu', 'scalar_relu', 'vector_relu', 'pwl'] | Enum | str = ...) -> Any:
    """Store a tile to global memory."""
    ...
def tstore_fp(src: Any, dst: Any, *, fp: Any = ..., pre_quant: Any = ..., stPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ..., atomicType: Literal['atomic_none', 'atomic_add'] | Enum | str = ..., reluPreMode: Literal['no_relu', 'normal_relu', 'scalar_relu', 'vector_relu', 'pwl'] | Enum | str = ...) -> Any:
    """Older name of pto.tstore with a tile of parameters."""
    ...
def tsub(src0: Any, src1: Any, dst: Any) -> Any:
    """Difference, src0 - src1."""
    ...
def tsubc(src0: Any, src1: Any, src2: Any, dst: Any) -> Any:
    """Difference of two tiles plus a third."""
    ...
def tsubs(src: Any, scalar: Any, dst: Any) -> Any:
    """Difference, src - scalar."""
    ...
def tsubsc(src0: Any, scalar: Any, src1: Any, dst: Any) -> Any:
    """Difference of a tile and a scalar, plus a tile."""
    ...
def tsync(*, tiles: Any = ..., op_class: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX', 'PIPE_ALL'] | Enum | str = ...) -> Any:
    """Wait for what touches tiles."""
    ...
def ttrans(src: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Transpose."""
    ...
def ttri(scalar: Any, dst: Any, *, upperOrLower: Any = ...) -> Any:
    """Ones in a triangle, zeros elsewhere."""
    ...
def txor(src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Bitwise exclusive or."""
    ...
def txors(src: Any, scalar: Any, dst: Any, *, tmp: Any = ...) -> Any:
    """Bitwise exclusive or with a scalar."""
    ...
def uvld(source: Any, offset: Any, *, mask: Any = ...) -> Any:
    """Load one register from any element of UB: a stream of a single vector."""
    ...
def vabs(input: Any, mask: Any) -> Any:
    """Absolute value."""
    ...
def vadd(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Sum."""
    ...
def vaddc(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Sum of 32-bit lanes, with the carry as a mask."""
    ...
def vaddcs(lhs: Any, rhs: Any, carry_in: Any, mask: Any) -> Any:
    """Sum of 32-bit lanes and a carry, with the new carry as a mask."""
    ...
def vadds(input: Any, scalar: Any, mask: Any) -> Any:
    """Sum with a scalar."""
    ...
def vand(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Bitwise and."""
    ...
def vbitsort(dest: Any, source: Any, indices: Any, repeat: Any) -> Any:
    """Sort groups of 32 scores in UB, largest first."""
    ...
def vcbmax(input: Any, mask: Any) -> Any:
    """The largest active lane, in lane 0, and a mask of all active lanes equal to it."""
    ...
def vcbmin(input: Any, mask: Any) -> Any:
    """The smallest active lane, in lane 0, and a mask of all active lanes equal to it."""
    ...
def vcgadd(input: Any, mask: Any) -> Any:
    """The sum of each block of 32 bytes, in lanes 0 to 7."""
    ...
def vcgmax(input: Any, mask: Any) -> Any:
    """The largest lane of each block of 32 bytes, in lanes 0 to 7."""
    ...
def vcgmin(input: Any, mask: Any) -> Any:
    """The smallest lane of each block of 32 bytes, in lanes 0 to 7."""
    ...
def vcmax(input: Any, mask: Any) -> Any:
    """The largest active lane, in lane 0, and its number, in lane 1."""
    ...
def vcmin(input: Any, mask: Any) -> Any:
    """The smallest active lane, in lane 0, and its number, in lane 1."""
    ...
def vcmp(lhs: Any, rhs: Any, seed: Any, comparison: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | Enum | str) -> Any:
    """Compare two registers, lane by lane, into a mask."""
    ...
def vcmps(input: Any, scalar: Any, seed: Any, comparison: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | Enum | str) -> Any:
    """Compare a register with a scalar, lane by lane, into a mask."""
    ...
def vcpadd(input: Any, mask: Any) -> Any:
    """Sums of neighbouring pairs, packed into the lower half."""
    ...
def vdintlv(lhs: Any, rhs: Any) -> Any:
    """Separate the even and the odd lanes of two registers."""
    ...
def vdintlvv2(lhs: Any, rhs: Any, part: Literal['LOWER', 'HIGHER'] | Enum | str) -> Any:
    """The even or the odd lanes of two registers."""
    ...
def vdiv(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Quotient a / b."""
    ...
def vexp(input: Any, mask: Any) -> Any:
    """The exponential e^x."""
    ...
def vintlv(lhs: Any, rhs: Any) -> Any:
    """Interleave two registers."""
    ...
def vintlvv2(lhs: Any, rhs: Any, part: Literal['LOWER', 'HIGHER'] | Enum | str) -> Any:
    """One half of an interleaving."""
    ...
def vln(input: Any, mask: Any) -> Any:
    """The natural logarithm."""
    ...
def vlrelu(input: Any, scalar: Any, mask: Any) -> Any:
    """Leaky relu with one slope."""
    ...
def vmadd(acc: Any, lhs: Any, rhs: Any, mask: Any) -> Any:
    """Fused multiply-add acc * a + b, rounded once."""
    ...
def vmax(lhs: Any, rhs: Any, mask: Any) -> Any:
    """The larger of two."""
    ...
def vmaxs(input: Any, scalar: Any, mask: Any) -> Any:
    """The larger of a lane and a scalar."""
    ...
def vmin(lhs: Any, rhs: Any, mask: Any) -> Any:
    """The smaller of two."""
    ...
def vmins(input: Any, scalar: Any, mask: Any) -> Any:
    """The smaller of a lane and a scalar."""
    ...
def vmrgsort4(dest: Any, source0: Any, source1: Any, source2: Any, source3: Any, count: Any, config: Any) -> Any:
    """Merge up to four sorted lists of records in UB, largest score first."""
    ...
def vmul(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Product."""
    ...
def vmull(lhs: Any, rhs: Any, mask: Any) -> Any:
    """The whole 64-bit product of 32-bit lanes, in two registers."""
    ...
def vmuls(input: Any, scalar: Any, mask: Any) -> Any:
    """Product with a scalar."""
    ...
def vneg(input: Any, mask: Any) -> Any:
    """Negation."""
    ...
def vnot(input: Any, mask: Any) -> Any:
    """Bitwise complement."""
    ...
def vor(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Bitwise or."""
    ...
def vote_all(condition: Any) -> Any:
    """Whether a condition holds in every active lane of the warp."""
    ...
def vote_any(condition: Any) -> Any:
    """Whether a condition holds in some active lane of the warp."""
    ...
def vote_ballot(condition: Any) -> Any:
    """The lanes of the warp in which a condition holds."""
    ...
def vote_uni(condition: Any) -> Any:
    """Whether a condition is the same in all active lanes of the warp."""
    ...
def vprelu(input: Any, alpha: Any, mask: Any) -> Any:
    """Leaky relu with a slope per lane."""
    ...
def vrelu(input: Any, mask: Any) -> Any:
    """The larger of x and zero."""
    ...
def vsel(on_true: Any, on_false: Any, mask: Any) -> Any:
    """Choose per lane between two registers."""
    ...
def vselr(input: Any, index: Any) -> Any:
    """Pick lanes by number."""
    ...
def vselrv2(input: Any, index: Any) -> Any:
    """Pick lanes by number, like pto.vselr."""
    ...
def vshls(input: Any, scalar: Any, mask: Any) -> Any:
    """Shift left by a scalar count."""
    ...
def vshrs(input: Any, scalar: Any, mask: Any) -> Any:
    """Shift right by a scalar count."""
    ...
def vsqrt(input: Any, mask: Any) -> Any:
    """The square root, correctly rounded."""
    ...
def vsqz(input: Any, mask: Any) -> Any:
    """Move the active lanes to the front, in order."""
    ...
def vsst(value: Any, dest: Any, offset: Any, stride: Literal['STRIDE_S3_B16', 'STRIDE_S4_B64', 'STRIDE_S8_B32', 'STRIDE_S2_B64'] | Enum | str) -> Any:
    """Store one register to every n-th unit of UB (older; which elements are meant is published nowhere)."""
    ...
def vsta(align: Any, dest: Any, offset: Any) -> Any:
    """End a store stream: write the bytes that are still pending (older; use vstas)."""
    ...
def vstu(align: Any, value: Any, dest: Any, *, offset: Any = ..., base: Any = ..., update: Any = ..., mode: Literal['POST_UPDATE', 'NO_POST_UPDATE'] | Enum | str = ...) -> Any:
    """Store a whole register at any element of UB, as the next step of a store stream (older; use vstus)."""
    ...
def vsub(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Difference a - b."""
    ...
def vsubc(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Difference of 32-bit lanes, with the carry as a mask."""
    ...
def vsubcs(lhs: Any, rhs: Any, carry_in: Any, mask: Any) -> Any:
    """Difference of 32-bit lanes less a borrow, with the new carry as a mask."""
    ...
def vsunpack(input: Any, part: Any) -> Any:
    """Sign-extend one half of the lanes to twice the width."""
    ...
def vtrc(input: Any, mask: Any, *, round_mode: Literal['R', 'A', 'F', 'C', 'Z'] | Enum | str = ..., rnd: Literal['R', 'A', 'F', 'C', 'Z'] | Enum | str = ...) -> Any:
    """Round to an integral value, staying in the same float type."""
    ...
def vusqz(input: Any, mask: Any) -> Any:
    """How many active lanes come before each lane."""
    ...
def vxor(lhs: Any, rhs: Any, mask: Any) -> Any:
    """Bitwise exclusive or."""
    ...
def vzunpack(input: Any, part: Any) -> Any:
    """Zero-extend one half of the lanes to twice the width."""
    ...
def wait_async_event(event: Any, session: Any) -> Any:
    """Older name of pto.comm.wait_async_event."""
    ...
def wait_cross_core(*, core_id: Any = ..., id: Any = ..., pipe: Any = ..., id_literal: Any = ...) -> Any:
    """Another name of pto.wait_flag_dev."""
    ...
def wait_event(source: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX'] | Enum | str, destination: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX'] | Enum | str, event: Literal['EVENT_ID0', 'EVENT_ID1', 'EVENT_ID2', 'EVENT_ID3', 'EVENT_ID4', 'EVENT_ID5', 'EVENT_ID6', 'EVENT_ID7'] | Enum | str) -> Any:
    """Older name of pto.wait_flag, between operation classes instead of pipes."""
    ...
def wait_flag_dev(*, core_id: Any = ..., id: Any = ..., pipe: Any = ..., id_literal: Any = ...) -> Any:
    """Wait for a signal of another core of the cluster (a2a3)."""
    ...
def wait_flag_dyn(event: Any, source: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX'] | Enum | str, destination: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX'] | Enum | str) -> Any:
    """Wait for an event whose id is computed."""
    ...
def wait_intra_core(*, core_id: Any = ..., id: Any = ..., pipe: Any = ..., id_literal: Any = ...) -> Any:
    """Older name of pto.wait_intra_block."""
    ...

class _Tile:
    def abs(self, src: Any, dst: Any) -> Any:
        """Absolute value."""
        ...
    def add(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Sum."""
        ...
    def addc(self, src0: Any, src1: Any, src2: Any, dst: Any) -> Any:
        """Sum of three tiles."""
        ...
    def addrelu(self, src0: Any, src1: Any, dst: Any) -> Any:
        """The greater of a sum and zero."""
        ...
    def adds(self, src: Any, scalar: Any, dst: Any) -> Any:
        """Sum with a scalar."""
        ...
    def addsc(self, src0: Any, scalar: Any, src1: Any, dst: Any) -> Any:
        """Sum of a tile, a scalar and a tile."""
        ...
    def alloc(self, entry: Any, handle: Any, split: Any) -> Any:
        """Take a free slot of the FIFO of a handle."""
        ...
    def alloc_to_aic(self, split: Any, *, id: Any = ...) -> Any:
        """Take a free slot in global memory for an entry to the cube."""
        ...
    def alloc_to_aiv(self, split: Any, *, id: Any = ...) -> Any:
        """Take a free slot in global memory for an entry to the vector cores."""
        ...
    def axpy(self, src: Any, scalar: Any, dst: Any) -> Any:
        """Adds the product of a tile and a scalar to dst."""
        ...
    def bit_and(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Bitwise and."""
        ...
    def bit_ands(self, src: Any, scalar: Any, dst: Any) -> Any:
        """Bitwise and with a scalar."""
        ...
    def bit_not(self, src: Any, dst: Any) -> Any:
        """Complement of every bit."""
        ...
    def bit_or(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Bitwise or."""
        ...
    def bit_ors(self, src: Any, scalar: Any, dst: Any) -> Any:
        """Bitwise or with a scalar."""
        ...
    def bit_shl(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Shift to the left, src0 by the counts of src1."""
        ...
    def bit_shls(self, src: Any, scalar: Any, dst: Any) -> Any:
        """Shift to the left by a scalar count."""
        ...
    def bit_shr(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Shift to the right, src0 by the counts of src1."""
        ...
    def bit_shrs(self, src: Any, scalar: Any, dst: Any) -> Any:
        """Shift to the right by a scalar count."""
        ...
    def bit_xor(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """Bitwise exclusive or."""
        ...
    def bit_xors(self, src: Any, scalar: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """Bitwise exclusive or with a scalar."""
        ...
    def ci(self, scalar: Any, dst: Any, *, tmp: Any = ..., descending: Any = ...) -> Any:
        """Counts from a scalar: scalar, scalar + 1, ... along the columns of row 0."""
        ...
    def cmp(self, src0: Any, src1: Any, dst: Any, *, cmpMode: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | Enum | str = ...) -> Any:
        """Compares two tiles; the result is one bit for each element."""
        ...
    def cmps(self, src: Any, scalar: Any, dst: Any, *, cmpMode: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | Enum | str = ...) -> Any:
        """Compares a tile with a scalar; the result is one bit for each element."""
        ...
    def colargmax(self, src: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """The row of the greatest element of every column."""
        ...
    def colargmin(self, src: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """The row of the least element of every column."""
        ...
    def colexpand(self, src: Any, dst: Any) -> Any:
        """Fills every column with its first element."""
        ...
    def colexpandadd(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Sum of every column with its element of a row."""
        ...
    def colexpanddiv(self, src0: Any, src1: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Quotient of every column and its element of a row."""
        ...
    def colexpandexpdif(self, src0: Any, src1: Any, dst: Any) -> Any:
        """e to the power of the difference of every column and its element of a row."""
        ...
    def colexpandmax(self, src0: Any, src1: Any, dst: Any) -> Any:
        """The greater of every element and the one of a row in its column."""
        ...
    def colexpandmin(self, src0: Any, src1: Any, dst: Any) -> Any:
        """The lesser of every element and the one of a row in its column."""
        ...
    def colexpandmul(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Product of every column with its element of a row."""
        ...
    def colexpandsub(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Difference of every column and its element of a row."""
        ...
    def colmax(self, src: Any, dst: Any) -> Any:
        """The greatest element of every column."""
        ...
    def colmin(self, src: Any, dst: Any) -> Any:
        """The least element of every column."""
        ...
    def colprod(self, src: Any, dst: Any) -> Any:
        """Product of every column."""
        ...
    def colsum(self, src: Any, dst: Any, *, tmp: Any = ..., isBinary: Any = ...) -> Any:
        """Sum of every column."""
        ...
    def concat(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Two tiles side by side."""
        ...
    def concatidx(self, src0: Any, src1: Any, idx0: Any, idx1: Any, dst: Any) -> Any:
        """Two tiles side by side, as many columns of each as its index says, row by row."""
        ...
    def cvt(self, src: Any, dst: Any, *, sat_mode: Literal['ON', 'OFF'] | Enum | str = ..., round_mode: Literal['NONE', 'RINT', 'ROUND', 'FLOOR', 'CEIL', 'TRUNC', 'ODD', 'CAST_RINT'] | Enum | str = ..., tmp: Any = ..., rmode: Literal['NONE', 'RINT', 'ROUND', 'FLOOR', 'CEIL', 'TRUNC', 'ODD', 'CAST_RINT'] | Enum | str = ..., satmode: Literal['ON', 'OFF'] | Enum | str = ...) -> Any:
        """Converts elements to another type."""
        ...
    def dequant(self, src: Any, scale: Any, offset: Any, dst: Any) -> Any:
        """Turns quantised rows back into f32, each with a scale and an offset of its own."""
        ...
    def div(self, src0: Any, src1: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Quotient, src0 / src1."""
        ...
    def divs(self, src0: Any, src1: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Quotient of a tile and a scalar, in either order."""
        ...
    def exp(self, src: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """e to the power of an element."""
        ...
    def expands(self, scalar: Any, dst: Any) -> Any:
        """Fills a tile with a scalar."""
        ...
    def extract(self, src: Any, dst: Any, row: Any, col: Any, *, fp: Any = ..., mode: Any = ..., **given: Any) -> Any:
        """Move a part of a tile that begins at a row and a column."""
        ...
    def fillpad(self, src: Any, dst: Any, *, padValue: Literal['null', 'zero', 'max', 'min'] | Enum | str = ...) -> Any:
        """Fill what is around the valid region."""
        ...
    def fmod(self, src0: Any, src1: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Remainder with the sign of the dividend."""
        ...
    def fmods(self, src: Any, scalar: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Remainder by a scalar, with the sign of the dividend."""
        ...
    def free(self, handle: Any, split: Any, *, entry: Any = ...) -> Any:
        """Give a slot of the FIFO of a handle back."""
        ...
    def free_from_aic(self, split: Any, *, entry: Any = ..., id: Any = ...) -> Any:
        """Give the slot of an entry back to the cube."""
        ...
    def free_from_aiv(self, split: Any, *, entry: Any = ..., id: Any = ...) -> Any:
        """Give the slot of an entry back to the vector cores."""
        ...
    def gather(self, src: Any, dst: Any, *, indices: Any = ..., indexes: Any = ..., k_value: Any = ..., idx: Any = ..., scalar: Any = ..., tmp: Any = ..., cdst: Any = ..., maskPattern: Literal['P0101', 'P1010', 'P0001', 'P0010', 'P0100', 'P1000', 'P1111'] | Enum | str = ..., axis: Literal['row', 'col'] | Enum | str = ..., cmpMode: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | Enum | str = ..., offset: Any = ...) -> Any:
        """Takes elements of a tile by index, by a pattern, or by comparison."""
        ...
    def gatherb(self, src: Any, idx: Any, dst: Any) -> Any:
        """Takes blocks of 32 bytes of a tile by their offsets in bytes."""
        ...
    def gemv(self, lhs: Any, rhs: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Row vector times matrix."""
        ...
    def gemv_acc(self, acc: Any, lhs: Any, rhs: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Row vector times matrix, added to an accumulator."""
        ...
    def gemv_bias(self, lhs: Any, rhs: Any, bias: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Row vector times matrix, with a bias."""
        ...
    def gemv_mx(self, lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Row vector times matrix with block scales."""
        ...
    def gemv_mx_acc(self, acc: Any, lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Row vector times matrix with block scales, added to an accumulator."""
        ...
    def gemv_mx_bias(self, lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, bias: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Row vector times matrix with block scales and a bias."""
        ...
    def get_scale_addr(self, src: Any, dst: Any) -> Any:
        """Bind a tile of scales to its operand."""
        ...
    def getval(self, src: Any, offset: Any) -> Any:
        """Read an element of a tile."""
        ...
    def histogram(self, src: Any, idx: Any, dst: Any, *, byte: Any = ...) -> Any:
        """Counts how many elements of each row have a byte up to each of 256 values."""
        ...
    def insert(self, src: Any, dst: Any, row: Any, col: Any, *, fp: Any = ..., mode: Any = ..., **given: Any) -> Any:
        """Move a part of a tile that begins at a row and a column."""
        ...
    def load(self, view: Any, tile: Any, *, offsets: Any = ..., sizes: Any = ...) -> Any:
        """Fill a tile from a view, or from a part of it."""
        ...
    def log(self, src: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Natural logarithm."""
        ...
    def lrelu(self, src: Any, scalar: Any, dst: Any) -> Any:
        """An element where it is positive, else its product with a slope."""
        ...
    def matmul(self, lhs: Any, rhs: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Matrix product."""
        ...
    def matmul_acc(self, acc: Any, lhs: Any, rhs: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Matrix product added to an accumulator."""
        ...
    def matmul_bias(self, lhs: Any, rhs: Any, bias: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Matrix product with a bias."""
        ...
    def matmul_mx(self, lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Matrix product with block scales."""
        ...
    def matmul_mx_acc(self, acc: Any, lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Matrix product with block scales, added to an accumulator."""
        ...
    def matmul_mx_bias(self, lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, bias: Any, dst: Any, *, accPhase: Literal['unspecified', 'partial', 'final'] | Enum | str = ...) -> Any:
        """Matrix product with block scales and a bias."""
        ...
    def max(self, src0: Any, src1: Any, dst: Any) -> Any:
        """The greater of two elements."""
        ...
    def maxs(self, src: Any, scalar: Any, dst: Any) -> Any:
        """The greater of an element and a scalar."""
        ...
    def min(self, src0: Any, src1: Any, dst: Any) -> Any:
        """The lesser of two elements."""
        ...
    def mins(self, src: Any, scalar: Any, dst: Any) -> Any:
        """The lesser of an element and a scalar."""
        ...
    def mov(self, src: Any, dst: Any, *, fp: Any = ..., mode: Any = ..., **given: Any) -> Any:
        """Move a tile to another; between vector tiles of one width the bits."""
        ...
    def mrgsort(self, src: Any, dst: Any, block_len: Any = ..., *, tmp: Any = ..., excuted: Any = ..., executed: Any = ..., exhausted: Any = ...) -> Any:
        """Merge sorted runs: of one tile by the length of a run, or of two to four tiles."""
        ...
    def mul(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Product."""
        ...
    def muls(self, src: Any, scalar: Any, dst: Any) -> Any:
        """Product with a scalar."""
        ...
    def neg(self, src: Any, dst: Any) -> Any:
        """Negation."""
        ...
    def partadd(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Sum where both sources are valid, else the one that is."""
        ...
    def partargmax(self, src0: Any, src1: Any, src0_idx: Any, src1_idx: Any, dst: Any, dst_idx: Any) -> Any:
        """The greater element with its index, else that of the source that is valid."""
        ...
    def partargmin(self, src0: Any, src1: Any, src0_idx: Any, src1_idx: Any, dst: Any, dst_idx: Any) -> Any:
        """The lesser element with its index, else that of the source that is valid."""
        ...
    def partmax(self, src0: Any, src1: Any, dst: Any) -> Any:
        """The greater element where both sources are valid, else the one that is."""
        ...
    def partmin(self, src0: Any, src1: Any, dst: Any) -> Any:
        """The lesser element where both sources are valid, else the one that is."""
        ...
    def partmul(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Product where both sources are valid, else the one that is."""
        ...
    def pop(self, entry: Any, handle: Any, split: Any) -> Any:
        """Pop an entry from the FIFO of a handle."""
        ...
    def pop_from_aic(self, split: Any, *, valid_row: Any = ..., valid_col: Any = ..., aiv_subblockid: Any = ..., id: Any = ...) -> Any:
        """Take an entry that the cube has pushed."""
        ...
    def pop_from_aiv(self, split: Any, *, valid_row: Any = ..., valid_col: Any = ..., aiv_subblockid: Any = ..., id: Any = ...) -> Any:
        """Take an entry that the vector cores have pushed."""
        ...
    def pow(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Power, src0 to the src1."""
        ...
    def pows(self, src: Any, scalar: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Power, src to the scalar."""
        ...
    def prefetch(self, src: Any, dst: Any) -> Any:
        """Fetch a view into the cache."""
        ...
    def prefetch_async(self, src: Any, context: Any) -> Any:
        """Begin to fetch a view into the cache."""
        ...
    def prelu(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """An element where it is not negative, else its product with a slope."""
        ...
    def print(self, src: Any, tmp: Any = ..., *, print_format: Any = ...) -> Any:
        """Show a tile when the kernel runs."""
        ...
    def push(self, entry: Any, handle: Any, split: Any) -> Any:
        """Push an entry into the FIFO of a handle."""
        ...
    def push_to_aic(self, entry: Any, split: Any, *, aiv_subblockid: Any = ..., id: Any = ...) -> Any:
        """Push a tile of a vector core to the cube."""
        ...
    def push_to_aiv(self, entry: Any, split: Any, *, id: Any = ...) -> Any:
        """Push a tile of the accumulator to the vector cores."""
        ...
    def quant(self, src: Any, fp: Any, dst: Any, quant_type: Literal['INT8_SYM', 'INT8_ASYM', 'MXFP8', 'MXFP4_E2M1'] | Enum | str, *, offset: Any = ..., tmp: Any = ...) -> Any:
        """Quantises rows to 8-bit integers, each with a scale of its own."""
        ...
    def quant_mx(self, src: Any, dst: Any, exp: Any, max: Any, scaling: Any, quant_type: Literal['INT8_SYM', 'INT8_ASYM', 'MXFP8', 'MXFP4_E2M1'] | Enum | str, *, exp_zz: Any = ..., quantScaleAlg: Literal['ocp', 'nv'] | Enum | str = ..., storeMode: Literal['nd', 'nz'] | Enum | str = ..., grpAxis: Literal['axis0', 'axis1'] | Enum | str = ..., interleave: Any = ...) -> Any:
        """Quantises groups of 32 elements to fp8 or fp4, each group with a power of two for its scale."""
        ...
    def random(self, key0: Any, key1: Any, counter0: Any, counter1: Any, counter2: Any, counter3: Any, dst: Any, *, rounds: Any = ...) -> Any:
        """Random words by Philox4x32, from two words of key and four of counter."""
        ...
    def recip(self, src: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """One divided by an element."""
        ...
    def relu(self, src: Any, dst: Any) -> Any:
        """The greater of an element and zero."""
        ...
    def rem(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Remainder with the sign of the divisor."""
        ...
    def rems(self, src: Any, scalar: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Remainder by a scalar, with the sign of the divisor."""
        ...
    def reshape(self, src: Any, *, shape: Any, dtype: Any = ..., blayout: Any = ...) -> Any:
        """The same bytes as a tile of another shape."""
        ...
    def rowargmax(self, *args: Any, **given: Any) -> Any:
        """The column of the greatest element of every row."""
        ...
    def rowargmin(self, *args: Any, **given: Any) -> Any:
        """The column of the least element of every row."""
        ...
    def rowexpand(self, src: Any, dst: Any) -> Any:
        """Fills every row with its first element."""
        ...
    def rowexpandadd(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """Sum of every row with its element of a column."""
        ...
    def rowexpanddiv(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Quotient of every row and its element of a column."""
        ...
    def rowexpandexpdif(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """e to the power of the difference of every row and its element of a column."""
        ...
    def rowexpandmax(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """The greater of every element and the one of a column in its row."""
        ...
    def rowexpandmin(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """The lesser of every element and the one of a column in its row."""
        ...
    def rowexpandmul(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """Product of every row with its element of a column."""
        ...
    def rowexpandsub(self, src0: Any, src1: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """Difference of every row and its element of a column."""
        ...
    def rowmax(self, *args: Any, **given: Any) -> Any:
        """The greatest element of every row."""
        ...
    def rowmin(self, *args: Any, **given: Any) -> Any:
        """The least element of every row."""
        ...
    def rowprod(self, *args: Any, **given: Any) -> Any:
        """Product of every row."""
        ...
    def rowsum(self, *args: Any, **given: Any) -> Any:
        """Sum of every row."""
        ...
    def rsqrt(self, src: Any, dst: Any, *, tmp: Any = ..., precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """One divided by the square root of an element."""
        ...
    def scatter(self, src: Any, dst: Any, *, indices: Any = ..., indexes: Any = ..., idx: Any = ..., maskPattern: Literal['P0101', 'P1010', 'P0001', 'P0010', 'P0100', 'P1000', 'P1111'] | Enum | str = ..., axis: Literal['row', 'col'] | Enum | str = ...) -> Any:
        """Puts elements of a tile to places given by index or by a pattern; dst is zero elsewhere."""
        ...
    def sel(self, *args: Any, **given: Any) -> Any:
        """Selects by bits: src0 where the bit of an element is set, else src1."""
        ...
    def sels(self, *args: Any, **given: Any) -> Any:
        """Selects by bits: src where the bit of an element is set, else a scalar."""
        ...
    def setval(self, offset: Any, scalar: Any, dst: Any) -> Any:
        """Write an element of a tile."""
        ...
    def sort32(self, src: Any, idx: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """Sorts every 32 elements of a row in descending order, with an index for each."""
        ...
    def sqrt(self, src: Any, dst: Any, *, precisionType: Literal['default', 'high_precision'] | Enum | str = ...) -> Any:
        """Square root."""
        ...
    def store(self, tile: Any, view: Any, *, offsets: Any = ..., sizes: Any = ..., fp: Any = ..., **given: Any) -> Any:
        """Store a tile to a view, or to a part of it."""
        ...
    def sub(self, src0: Any, src1: Any, dst: Any) -> Any:
        """Difference, src0 - src1."""
        ...
    def subc(self, src0: Any, src1: Any, src2: Any, dst: Any) -> Any:
        """Difference of two tiles plus a third."""
        ...
    def subs(self, src: Any, scalar: Any, dst: Any) -> Any:
        """Difference, src - scalar."""
        ...
    def subsc(self, src0: Any, scalar: Any, src1: Any, dst: Any) -> Any:
        """Difference of a tile and a scalar, plus a tile."""
        ...
    def sync(self, *, tiles: Any = ..., op_class: Literal['PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX', 'PIPE_ALL'] | Enum | str = ...) -> Any:
        """Wait for what touches tiles."""
        ...
    def transpose(self, src: Any, dst: Any, *, tmp: Any = ...) -> Any:
        """Transpose."""
        ...
    def tri(self, diagonal: Any, dst: Any, *, upper_or_lower: Any = ...) -> Any:
        """Ones below or above a diagonal."""
        ...

tile: _Tile

class _Vmi:
    def absf(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vabs."""
        ...
    def absi(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vabs."""
        ...
    def active_prefix_index(self, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """How many active lanes of a mask come before each lane."""
        ...
    def addf(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vadd."""
        ...
    def addi(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vadd."""
        ...
    def andi(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vand."""
        ...
    def bitcast(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vinterpret_cast."""
        ...
    def broadcast(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., group: Any = ...) -> Any:
        """Older spelling of pto.vmi.vbrc."""
        ...
    def channel_merge(self, *, channels: Any = ..., pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Channels as one logical vector: lane k * n + c is lane k of channel c."""
        ...
    def channel_split(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """A logical vector as its channels: lane k of channel c is lane k * n + c."""
        ...
    def cmpf(self, lhs: Any, rhs: Any, predicate: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'oeq', 'one', 'olt', 'ole', 'ogt', 'oge'] | Enum | str, *, pmode: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcmp."""
        ...
    def cmpi(self, lhs: Any, rhs: Any, predicate: Literal['eq', 'ne', 'ult', 'ule', 'ugt', 'uge', 'slt', 'sle', 'sgt', 'sge'] | Enum | str, *, pmode: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcmp."""
        ...
    def compress(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """The active lanes of a logical vector side by side at its front; the rest is zero."""
        ...
    def compress_store(self, value: Any, pointer: Any, offset: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vstore of the active lanes, side by side."""
        ...
    def constant(self, value: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """A logical vector of one literal."""
        ...
    def constant_mask(self, value: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """A logical mask that is written lane by lane."""
        ...
    def create_group_mask(self, count: Any, num_groups: Any, group_size: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """The first n lanes of each group of a logical mask."""
        ...
    def create_mask(self, n: Any, *, size: Any, group: Any = ..., pmode: Any = ...) -> Any:
        """The first n lanes; with group the first n of each group."""
        ...
    def deinterleave_load(self, pointer: Any, offset: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vload {dist_mode = "dintlv"}."""
        ...
    def divf(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vdiv."""
        ...
    def exp(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vexp."""
        ...
    def expand_load(self, pointer: Any, offset: Any, mask: Any, passthru: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vload whose k-th active lane gets element k."""
        ...
    def extf(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., rounding: Literal['R', 'A', 'F', 'C', 'Z', 'H'] | Enum | str = ..., saturate: Literal['SAT', 'NOSAT'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vcvt."""
        ...
    def extsi(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., rounding: Literal['R', 'A', 'F', 'C', 'Z', 'H'] | Enum | str = ..., saturate: Literal['SAT', 'NOSAT'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vcvt."""
        ...
    def extui(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., rounding: Literal['R', 'A', 'F', 'C', 'Z', 'H'] | Enum | str = ..., saturate: Literal['SAT', 'NOSAT'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vcvt."""
        ...
    def fma(self, lhs: Any, rhs: Any, acc: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Sum and product of logical vectors, a * b + acc, rounded once (now pto.vmi.vmula)."""
        ...
    def fptosi(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., rounding: Literal['R', 'A', 'F', 'C', 'Z', 'H'] | Enum | str = ..., saturate: Literal['SAT', 'NOSAT'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vcvt."""
        ...
    def fptoui(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., rounding: Literal['R', 'A', 'F', 'C', 'Z', 'H'] | Enum | str = ..., saturate: Literal['SAT', 'NOSAT'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vcvt."""
        ...
    def gather(self, pointer: Any, offsets: Any, mask: Any, passthru: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vgather, inactive lanes from another vector."""
        ...
    def group_broadcast(self, input: Any, num_groups: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vbrc by groups."""
        ...
    def group_broadcast_load(self, pointer: Any, offset: Any, stride: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vload {group = C, dist_mode = "brc"}."""
        ...
    def group_iota(self, base: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., order: Literal['ASC', 'DESC'] | Enum | str = ..., group: Any = ...) -> Any:
        """Older spelling of pto.vmi.vci."""
        ...
    def group_load(self, pointer: Any, offset: Any, stride: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vload {group = C}."""
        ...
    def group_reduce_addf(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcadd."""
        ...
    def group_reduce_addi(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcadd."""
        ...
    def group_reduce_maxf(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcmax."""
        ...
    def group_reduce_maxi(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcmax."""
        ...
    def group_reduce_minf(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcmin."""
        ...
    def group_reduce_mini(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcmin."""
        ...
    def group_slot_load(self, pointer: Any, offset: Any, stride: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vload {group = C}, one lane each."""
        ...
    def group_store(self, value: Any, pointer: Any, offset: Any, stride: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vstore {group = C}."""
        ...
    def interleave_store(self, value: Any, high: Any, pointer: Any, offset: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vstore {dist_mode = "dintlv"}."""
        ...
    def iota(self, base: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., order: Literal['ASC', 'DESC'] | Enum | str = ..., group: Any = ...) -> Any:
        """Older spelling of pto.vmi.vci."""
        ...
    def ln(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vln."""
        ...
    def load(self, pointer: Any, offset: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vload."""
        ...
    def mask(self, lanes: Any) -> Any:
        """The type of a mask of logical lanes."""
        ...
    def mask_and(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vand."""
        ...
    def mask_not(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vnot on masks."""
        ...
    def mask_or(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vor."""
        ...
    def mask_xor(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vxor."""
        ...
    def masked_load(self, pointer: Any, offset: Any, mask: Any, passthru: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vload, inactive lanes from another vector."""
        ...
    def masked_store(self, value: Any, pointer: Any, offset: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vstore with a mask."""
        ...
    def maxf(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vmax."""
        ...
    def maxi(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vmax."""
        ...
    def minf(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vmin."""
        ...
    def mini(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vmin."""
        ...
    def mulf(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vmul."""
        ...
    def muli(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vmul."""
        ...
    def negf(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vneg."""
        ...
    def negi(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vneg."""
        ...
    def ori(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vor."""
        ...
    def pge(self, pattern: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., group: Any = ...) -> Any:
        """The first n lanes of a logical mask, or of each group of it, n being a part of the pattern."""
        ...
    def plt(self, count: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """The first lanes of a logical mask, as many as remain, and what remains behind them."""
        ...
    def pset(self, pattern: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., group: Any = ...) -> Any:
        """All lanes of a logical mask."""
        ...
    def reduce_addf(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcadd."""
        ...
    def reduce_addi(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcadd."""
        ...
    def reduce_maxf(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcmax."""
        ...
    def reduce_maxi(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcmax."""
        ...
    def reduce_minf(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcmin."""
        ...
    def reduce_mini(self, input: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ..., reassoc: Any = ...) -> Any:
        """Older spelling of pto.vmi.vcmin."""
        ...
    def relu(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vrelu."""
        ...
    def scatter(self, value: Any, pointer: Any, offsets: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vscatter."""
        ...
    def select(self, mask: Any, on_true: Any, on_false: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vsel."""
        ...
    def shli(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vshl."""
        ...
    def shrsi(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vshr."""
        ...
    def shrui(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vshr."""
        ...
    def shuffle(self, input: Any, indices: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Lanes of a logical vector by numbers that are written."""
        ...
    def sitofp(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., rounding: Literal['R', 'A', 'F', 'C', 'Z', 'H'] | Enum | str = ..., saturate: Literal['SAT', 'NOSAT'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vcvt."""
        ...
    def sqrt(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vsqrt."""
        ...
    def store(self, value: Any, pointer: Any, offset: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vstore."""
        ...
    def stride_load(self, pointer: Any, offset: Any, block_stride: Any, repeat_stride: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vload with strides of blocks, and a mask of them."""
        ...
    def stride_store(self, value: Any, pointer: Any, offset: Any, block_stride: Any, repeat_stride: Any, mask: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., num_groups: Any = ...) -> Any:
        """Older spelling of pto.vmi.vstore with strides of blocks."""
        ...
    def subf(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vsub."""
        ...
    def subi(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vsub."""
        ...
    def truncf(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., rounding: Literal['R', 'A', 'F', 'C', 'Z', 'H'] | Enum | str = ..., saturate: Literal['SAT', 'NOSAT'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vcvt."""
        ...
    def trunci(self, input: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ..., rounding: Literal['R', 'A', 'F', 'C', 'Z', 'H'] | Enum | str = ..., saturate: Literal['SAT', 'NOSAT'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vcvt."""
        ...
    def vabs(self, v: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vadd(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vaddc(self, a: Any, b: Any, mask: Any, *, pmode: Any = ...) -> Any:
        """Sum and carry."""
        ...
    def vaddcs(self, a: Any, b: Any, carry_in: Any, mask: Any, *, pmode: Any = ...) -> Any:
        """Sum with a carry, and the next carry."""
        ...
    def vadds(self, v: Any, s: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vand(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vaxpy(self, x: Any, acc: Any, alpha: Any, mask: Any, *, pmode: Any = ...) -> Any:
        """alpha * x + acc, rounded once."""
        ...
    def vbrc(self, x: Any, *, size: Any, group: Any = ..., pmode: Any = ...) -> Any:
        """A scalar, or one lane for each group, in all lanes."""
        ...
    def vcadd(self, v: Any, mask: Any, *, group: Any = ..., pmode: Any = ...) -> Any: ...
    def vchist(self, acc: Any, v: Any, mask: Any, *, pmode: Any = ...) -> Any: ...
    def vci(self, base: Any, *, size: Any, order: Any = ..., group: Any = ..., pmode: Any = ...) -> Any:
        """base, base + 1, … in the lanes, or in those of each group."""
        ...
    def vcmax(self, v: Any, mask: Any, *, group: Any = ..., pmode: Any = ...) -> Any: ...
    def vcmin(self, v: Any, mask: Any, *, group: Any = ..., pmode: Any = ...) -> Any: ...
    def vcmp(self, a: Any, b: Any, seed: Any, cmp: Any, *, pmode: Any = ...) -> Any:
        """Compare lanes under a mask."""
        ...
    def vcmps(self, v: Any, s: Any, seed: Any, cmp: Any, *, pmode: Any = ...) -> Any:
        """Compare lanes with a scalar under a mask."""
        ...
    def vcvt(self, v: Any, to_type: Any, mask: Any = ..., *, rounding: Any = ..., saturate: Any = ..., pmode: Any = ...) -> Any:
        """Convert lanes to another type."""
        ...
    def vdhist(self, acc: Any, v: Any, mask: Any, *, pmode: Any = ...) -> Any: ...
    def vdintlv(self, a: Any, b: Any, mask: Any, *, pmode: Any = ...) -> Any: ...
    def vdiv(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vexp(self, v: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vexpdif(self, x: Any, m: Any, mask: Any, *, pmode: Any = ...) -> Any:
        """exp(x - m), in f32."""
        ...
    def vgather(self, ptr: Any, offs: Any, mask: Any, *, pmode: Any = ...) -> Any: ...
    def vgatherb(self, ptr: Any, offs: Any, mask: Any, *, pmode: Any = ...) -> Any: ...
    def vinterpret_cast(self, v: Any, to_type: Any, *, pmode: Any = ...) -> Any:
        """The same bits as lanes of another type."""
        ...
    def vintlv(self, a: Any, b: Any, mask: Any, *, pmode: Any = ...) -> Any: ...
    def vln(self, v: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vload(self, ptr: Any, off: Any = ..., *, size: Any, to_dtype: Any = ..., dist_mode: Any = ..., group: Any = ..., stride: Any = ..., block_stride: Any = ..., repeat_stride: Any = ..., pmode: Any = ...) -> Any:
        """Load a logical vector; with dist_mode "dintlv" a pair."""
        ...
    def vlrelu(self, v: Any, s: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vmax(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vmaxs(self, v: Any, s: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vmin(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vmins(self, v: Any, s: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vmul(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vmula(self, acc: Any, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any:
        """acc + a * b, rounded once."""
        ...
    def vmull(self, a: Any, b: Any, mask: Any, *, pmode: Any = ...) -> Any: ...
    def vmuls(self, v: Any, s: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vneg(self, v: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vnot(self, v: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vor(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vprelu(self, v: Any, alpha: Any, mask: Any, *, pmode: Any = ...) -> Any:
        """v where it is positive, else alpha * v."""
        ...
    def vreg(self, lanes: Any, element_type: Any) -> Any:
        """The type of a logical vector."""
        ...
    def vrelu(self, v: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vscatter(self, value: Any, ptr: Any, offs: Any, mask: Any, *, pmode: Any = ...) -> Any:
        """Store lanes, each to its own offset."""
        ...
    def vsel(self, mask: Any, t: Any, f: Any, *, pmode: Any = ...) -> Any:
        """t where the mask holds, else f."""
        ...
    def vselr(self, v: Any, idx: Any, *, pmode: Any = ...) -> Any:
        """The lanes that an index names."""
        ...
    def vshl(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vshls(self, v: Any, s: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vshr(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vshrs(self, v: Any, s: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vsqrt(self, v: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vsstb(self, value: Any, ptr: Any, off: Any, block_stride: Any, mask: Any, *, pmode: Any = ...) -> Any:
        """Store blocks of 32 bytes that lie apart."""
        ...
    def vstore(self, value: Any, ptr: Any, off: Any = ..., mask: Any = ..., *, dist_mode: Any = ..., group: Any = ..., stride: Any = ..., block_stride: Any = ..., repeat_stride: Any = ..., pmode: Any = ...) -> Any:
        """Store a logical vector; with dist_mode "dintlv" a pair (even, odd)."""
        ...
    def vsub(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def vxor(self, a: Any, b: Any, mask: Any = ..., *, pmode: Any = ...) -> Any: ...
    def xori(self, lhs: Any, rhs: Any, *, pmode: Literal['zero', 'merge'] | Enum | str = ...) -> Any:
        """Older spelling of pto.vmi.vxor."""
        ...

vmi: _Vmi

class _Comm:
    def build_async_session(self, control: Any, workspace: Any, *, sync_id: Any = ..., block_bytes: Any = ..., comm_block_offset: Any = ..., queue_num: Any = ..., channel_group_idx: Any = ...) -> Any:
        """Begin a queue of transfers."""
        ...
    def tbroadcast(self, src: Any, ping: Any, root: Any, *, pong: Any = ..., group: Any = ...) -> Any:
        """Send a buffer to every member of a group."""
        ...
    def test_async_event(self, event: Any, session: Any) -> Any:
        """Ask whether a transfer and all earlier ones of its session are done."""
        ...
    def tgather(self, dst: Any, ping: Any, root: Any, *, pong: Any = ..., group: Any = ...) -> Any:
        """Collect the buffers of a group."""
        ...
    def tget(self, dst: Any, src: Any, ping: Any, *, pong: Any = ...) -> Any:
        """Read from another rank."""
        ...
    def tget_async(self, dst: Any, src: Any, session: Any) -> Any:
        """Begin to read from another rank."""
        ...
    def tnotify(self, signal: Any, value: Any, notifyOp: Literal['atomic_add', 'set'] | Enum | str) -> Any:
        """Signal a word, here or on another rank."""
        ...
    def tput(self, dst: Any, src: Any, ping: Any, *, pong: Any = ..., atomicType: Literal['atomic_none', 'atomic_add'] | Enum | str = ...) -> Any:
        """Write to another rank."""
        ...
    def tput_async(self, dst: Any, src: Any, session: Any) -> Any:
        """Begin to write to another rank."""
        ...
    def treduce(self, dst: Any, acc: Any, ping: Any, root: Any, reduceOp: Literal['sum', 'max', 'min'] | Enum | str, *, pong: Any = ..., group: Any = ...) -> Any:
        """Combine the buffers of a group."""
        ...
    def tscatter(self, src: Any, ping: Any, root: Any, *, pong: Any = ..., group: Any = ...) -> Any:
        """Distribute the rows of a buffer over a group."""
        ...
    def ttest(self, signal: Any, value: Any, cmp: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | Enum | str) -> Any:
        """Ask whether words satisfy a condition."""
        ...
    def twait(self, signal: Any, value: Any, cmp: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | Enum | str) -> Any:
        """Wait until words satisfy a condition."""
        ...
    def wait_async_event(self, event: Any, session: Any) -> Any:
        """Wait for a transfer and all earlier ones of its session."""
        ...

comm: _Comm
