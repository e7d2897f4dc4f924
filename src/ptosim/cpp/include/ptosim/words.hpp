// Scalars, pipes, events and the words of the tile library (isa/22 sections 2 to 4). Standard library only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#define __global__
#define __aicore__
#define AICORE
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __in__
#define __out__
#define __inout__
#define __tf__
#define __host__
#define __device__
#define PTO_INTERNAL inline
#define PTO_INST inline
#define PTO_INLINE inline
#define __CCE_AICORE__ 310
#define PTO_STATIC_ASSERT(condition, ...) static_assert(condition, "" __VA_ARGS__)
#define PTO_CEIL(x, y) ((((x) + (y)-1) / (y)) * (y))

// --- scalars ---------------------------------------------------------------------------------------------------------

#if defined(__FLT16_MAX__)
using half = _Float16;
#else
#define PTOSIM_HALF_STRUCT
namespace ptosim {
uint16_t half_bits(float value);
float half_value(uint16_t bits);
}
struct half {
    uint16_t bits;
    half() = default;
    template <typename N, typename = std::enable_if_t<std::is_arithmetic<N>::value>>
    half(N value) : bits(ptosim::half_bits(static_cast<float>(value))) {}
    operator float() const { return ptosim::half_value(bits); }
    half &operator+=(float other) { return *this = half(*this + other); }
    half &operator-=(float other) { return *this = half(*this - other); }
    half &operator*=(float other) { return *this = half(*this * other); }
    half &operator/=(float other) { return *this = half(*this / other); }
};
#endif

struct bfloat16_t {
    uint16_t bits;
    bfloat16_t() = default;
    template <typename N, typename = std::enable_if_t<std::is_arithmetic<N>::value>>
    bfloat16_t(N number)
    {
        float value = static_cast<float>(number);
        uint32_t word;
        std::memcpy(&word, &value, 4);
        if ((word & 0x7fffffffu) > 0x7f800000u)
            bits = 0x7fc0;
        else
            bits = static_cast<uint16_t>((word + 0x7fffu + ((word >> 16) & 1)) >> 16);
    }
    operator float() const
    {
        uint32_t word = static_cast<uint32_t>(bits) << 16;
        float value;
        std::memcpy(&value, &word, 4);
        return value;
    }
};

#define PTOSIM_BYTE_SCALAR(NAME)                                  \
    struct NAME {                                                 \
        uint8_t bits;                                             \
        NAME() = default;                                         \
        constexpr explicit NAME(uint8_t value) : bits(value) {}   \
        constexpr explicit operator uint8_t() const { return bits; } \
    };
PTOSIM_BYTE_SCALAR(hifloat8_t)
PTOSIM_BYTE_SCALAR(float8_e4m3_t)
PTOSIM_BYTE_SCALAR(float8_e5m2_t)
PTOSIM_BYTE_SCALAR(float8_e8m0_t)
PTOSIM_BYTE_SCALAR(float4_e1m2x2_t)
PTOSIM_BYTE_SCALAR(float4_e2m1x2_t)
PTOSIM_BYTE_SCALAR(int4b_t)
#undef PTOSIM_BYTE_SCALAR
#ifndef PTOSIM_ACL_FLOAT16
#define PTOSIM_ACL_FLOAT16
using aclFloat16 = uint16_t;
#endif

// --- pipes and flags -------------------------------------------------------------------------------------------------

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_MTE4, PIPE_MTE5, PIPE_V2, PIPE_FIX };
enum event_t {
    EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7,
    EVENT_ID8, EVENT_ID9, EVENT_ID10, EVENT_ID11, EVENT_ID12, EVENT_ID13, EVENT_ID14, EVENT_ID15
};
enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum mem_t { VST_VLD, VLD_VST, VST_VST, VST_LD, VLD_ST, VST_ST, ST_VLD, LD_VST, ST_VST };
enum pad_t { PAD_NONE };
enum TileSplitAxis { TILE_NO_SPLIT = 0, TILE_UP_DOWN = 1, TILE_LEFT_RIGHT = 2 };
enum Direction { DIR_C2V = 1, DIR_V2C = 2, DIR_BOTH = 3, DIR_V2C_CTRL = 4, DIR_C2V_GM = 5, DIR_V2C_GM = 6, DIR_BOTH_GM = 7 };

namespace pto {

enum class TileType { Vec, Mat, Left, Right, Acc, Bias, Scaling, ScaleLeft, ScaleRight, Ctrl };
enum class BLayout { RowMajor, ColMajor };
enum class SLayout { NoneBox, RowMajor, ColMajor };
enum class CompactMode { Null, Normal, RowPlusOne, RowAlignedPadding };
enum class RoundMode { CAST_NONE, CAST_RINT, CAST_ROUND, CAST_FLOOR, CAST_CEIL, CAST_TRUNC, CAST_ODD };
enum class SaturationMode { ON, OFF };
enum class CmpMode { EQ, NE, LT, LE, GT, GE };
enum class MaskPattern { P0101 = 1, P1010, P0001, P0010, P0100, P1000, P1111 };
enum class AtomicType { AtomicNone, AtomicAdd };
enum class ReluPreMode { NoRelu, NormalRelu };
enum class AccToVecMode { SingleModeVec0, SingleModeVec1, DualModeSplitM, DualModeSplitN };
enum class STPhase { Unspecified = 0, Partial = 2, Final = 3 };
enum class AccPhase { Unspecified = 0, Unknown = 0, Partial = 2, Final = 3 };
enum class TInsertMode { SPLIT2 = 2, SPLIT4 = 3 };
enum class HistByte { BYTE_0, BYTE_1, BYTE_2, BYTE_3 };
enum class QuantType { MXFP8, INT8_SYM, INT8_ASYM };
enum class VecStoreMode { ND, NZ };
enum class GatherOOB { Undefined, Clamp, Wrap, Zero };
enum class ScatterAtomicOp { None, Add, Max, Min };
enum class ScatterOOB { Undefined, Skip, Clamp, Wrap };
enum class PrintFormat { Width8_Precision4, Width8_Precision2, Width10_Precision6 };
enum class DivAlgorithm { DEFAULT, HIGH_PRECISION };
enum class SqrtAlgorithm { DEFAULT, HIGH_PRECISION };
enum class RsqrtAlgorithm { DEFAULT, HIGH_PRECISION };
enum class RecipAlgorithm { DEFAULT, HIGH_PRECISION };
enum class ExpAlgorithm { DEFAULT, HIGH_PRECISION };
enum class LogAlgorithm { DEFAULT, HIGH_PRECISION };
enum class FmodAlgorithm { DEFAULT, HIGH_PRECISION };
enum class RemAlgorithm { DEFAULT, HIGH_PRECISION };
enum class PowAlgorithm { DEFAULT, HIGH_PRECISION };
enum class Layout {
    ND, DN, NZ, SCALE, MX_A_ND, MX_A_DN, MX_A_ZZ, MX_B_ND, MX_B_DN, MX_B_NN, NC1HWC0, GNC1HWC0, NCHW, GNCHW, NHWC,
    NDC1HWC0, NCDHW, FRACTAL_Z, FRACTAL_Z_S16S8, FRACTAL_Z_3D
};
enum class PadValue : uint64_t { Null = 0, Zero = 1, Max = 2, Min = 3, CustomBase = 0x100000000ull };

constexpr uint32_t ptosim_float_bits(float value)
{
    return __builtin_bit_cast(uint32_t, value);
}
constexpr PadValue PadValueCustom(float value)
{
    return static_cast<PadValue>(0x100000000ull | ptosim_float_bits(value));
}
constexpr PadValue PadValueCustom16(uint16_t bits)
{
    return static_cast<PadValue>(0x100000000ull | bits);
}
#if __cpp_nontype_template_args >= 201911L
template <float Value> inline constexpr PadValue PadCustom = PadValueCustom(Value);
#endif
constexpr bool isCustomPadValue(PadValue pad) { return (static_cast<uint64_t>(pad) >> 32) != 0; }
constexpr uint32_t getCustomPadBits(PadValue pad) { return static_cast<uint32_t>(pad); }

constexpr int DYNAMIC = -1;
constexpr int BLOCK_BYTE_SIZE = 32;
constexpr int C0_SIZE_BYTE = 32;
constexpr int B4_C0_SIZE = 64;
constexpr int FRACTAL_NZ_ROW = 16;
constexpr int CUBE_BLOCK_SIZE = 512;
constexpr int REPEAT_BYTE = 256;
constexpr int REPEAT_MAX = 255;
struct TileConfig {
    static constexpr int alignedSize = 32;
    static constexpr int fixedRowSize = 16;
    static constexpr int fixedColSize = 16;
    static constexpr int fixedMxRowSize = 16;
    static constexpr int fixedMxColSize = 2;
    static constexpr int fractalABSize = 512;
    static constexpr int fractalCSize = 1024;
    static constexpr int fractalMxSize = 32;
};
struct GlobalTensorDim {
    static constexpr int DIM_0 = 0;
    static constexpr int DIM_1 = 1;
    static constexpr int DIM_2 = 2;
    static constexpr int DIM_3 = 3;
    static constexpr int DIM_4 = 4;
    static constexpr int TOTAL_DIM = 5;
};
constexpr int CeilDivision(int64_t a, int64_t b) { return b == 0 ? 0 : static_cast<int>((a + b - 1) / b); }
constexpr int CeilAlignment(int64_t a, int64_t b) { return b == 0 ? 0 : static_cast<int>((a + b - 1) / b * b); }
using TRandomKey = uint32_t[2];
using TRandomCounter = uint32_t[4];
struct MrgSortExecutedNumList {
    uint16_t mrgSortList0, mrgSortList1, mrgSortList2, mrgSortList3;
};

enum class Op : uint16_t {
    TLOAD, TSTORE_VEC, TSTORE_MAT, SCALAR, TRESHAPE, VECTOR, TADD, TADDS, TSUB, TSUBS, TMUL, TMULS, TDIV, TDIVS, TMAX,
    TMAXS, TMIN, TMINS, TAND, TANDS, TOR, TORS, TXOR, TXORS, TNOT, TSHL, TSHLS, TSHR, TSHRS, TREM, TREMS, TFMOD,
    TFMODS, TABS, TNEG, TRELU, TPRELU, TLRELU, TAXPY, TEXP, TLOG, TSQRT, TRSQRT, TRECIP, TADDC, TSUBC, TADDSC, TSUBSC,
    TEXPANDS, TCI, TTRI, TRANDOM, TCMP, TCMPS, TSEL, TSELS, TCVT, TROWSUM, TROWPROD, TROWMAX, TROWMIN, TROWARGMAX,
    TROWARGMIN, TCOLSUM, TCOLPROD, TCOLMAX, TCOLMIN, TCOLARGMAX, TCOLARGMIN, TROWEXPAND, TROWEXPANDADD,
    TROWEXPANDSUB, TROWEXPANDMUL, TROWEXPANDDIV, TROWEXPANDMAX, TROWEXPANDMIN, TROWEXPANDEXPDIF, TCOLEXPAND,
    TCOLEXPANDADD, TCOLEXPANDSUB, TCOLEXPANDMUL, TCOLEXPANDDIV, TCOLEXPANDMAX, TCOLEXPANDMIN, TCOLEXPANDEXPDIF,
    TPARTADD, TPARTMUL, TPARTMAX, TPARTMIN, TTRANS, TCONCAT, TGATHER, TGATHERB, TSCATTER, MGATHER, MSCATTER, TSORT32,
    TMRGSORT, TFILLPAD, TFILLPAD_INPLACE, TFILLPAD_EXPAND, TQUANT, TDEQUANT, THISTOGRAM, TPRINT, TMOV_V2V, TMOV_M2B,
    TMOV_M2L, TMOV_M2R, TMOV_M2S, TMOV_V2M, TMOV_A2V, TMOV_A2M, TMOV_M2V, TSTORE_ACC, TEXTRACT_M2LR, TEXTRACT_V2M,
    TEXTRACT_A2M, TEXTRACT_V2V, TINSERT_A2M, TINSERT_V2M, TINSERT_V2V, TMATMUL, TMATMUL_MX, TGEMV, TGEMV_MX, TIMG2COL,
    TSETFMATRIX, TSET_IMG2COL_RPT, TSET_IMG2COL_PADDING, TEXPANDS_MAT, TPUSH, TPOP, TFREE, TPOW, TPOWS, TSUBVIEW,
    TGET_SCALE_ADDR, TPREFETCH, TPARTARGMAX, TPARTARGMIN, OP_COUNT
};

}  // namespace pto
