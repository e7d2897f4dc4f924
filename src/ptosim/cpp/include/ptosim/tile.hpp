// Tiles and tensors in global memory (isa/22 section 2): handles that say at each record where they lie.
#pragma once
#include "recording.hpp"

namespace ptosim {

template <int N> struct ValidRows {
    static constexpr int ValidRow = N;
    static constexpr int GetValidRow() { return N; }
    void ptosim_rows(int64_t) {}
};
template <> struct ValidRows<-1> {
    static constexpr int ValidRow = -1;
    int64_t ptosim_valid_rows = 0;
    int GetValidRow() const { return static_cast<int>(ptosim_valid_rows); }
    void ptosim_rows(int64_t rows) { ptosim_valid_rows = rows; }
};
template <int N> struct ValidCols {
    static constexpr int ValidCol = N;
    static constexpr int GetValidCol() { return N; }
    void ptosim_cols(int64_t) {}
};
template <> struct ValidCols<-1> {
    static constexpr int ValidCol = -1;
    int64_t ptosim_valid_cols = 0;
    int GetValidCol() const { return static_cast<int>(ptosim_valid_cols); }
    void ptosim_cols(int64_t cols) { ptosim_valid_cols = cols; }
};

constexpr const char *locations[] = {"vec", "mat", "left", "right", "acc", "bias", "scaling", "scaling", "scaling", "ctrl"};
constexpr int64_t capacities[] = {
#if __NPU_ARCH__ == 2201
    196608, 524288, 65536, 65536, 131072, 65536, 7168, 65536, 65536, 0};
#else
    262144, 524288, 65536, 65536, 262144, 65536, 8192, 65536, 65536, 0};
#endif

constexpr pto::BLayout left_layout(pto::TileType place, pto::BLayout written)
{
#if __NPU_ARCH__ == 2201
    return place == pto::TileType::Left ? pto::BLayout::RowMajor : written;
#else
    return place == pto::TileType::Left ? pto::BLayout::ColMajor : written;
#endif
}

template <typename T> constexpr bool is_fp4 = std::is_same_v<T, float4_e1m2x2_t> || std::is_same_v<T, float4_e2m1x2_t>;

}  // namespace ptosim

namespace pto {

template <TileType Loc_, typename Element_, int Rows_, int Cols_, BLayout BLayout_ = BLayout::RowMajor,
          int ValidRow_ = Rows_, int ValidCol_ = Cols_, SLayout SLayout_ = SLayout::NoneBox, int Fractal_ = 512,
          auto Pad_ = PadValue::Null, CompactMode Compact_ = CompactMode::Null>
struct Tile : ptosim::ValidRows<ValidRow_>, ptosim::ValidCols<ValidCol_> {
    using DType = Element_;
    using TileDType = Element_ *;
    static constexpr TileType Loc = Loc_;
    static constexpr int Rows = Rows_;
    static constexpr int Cols = Cols_;
    static constexpr int Numel = Rows_ * Cols_;
    static constexpr BLayout BFractal = ptosim::left_layout(Loc_, BLayout_);
    static constexpr SLayout SFractal = SLayout_;
    static constexpr int SFractalSize = Fractal_;
    static constexpr PadValue PadVal = static_cast<PadValue>(Pad_);
    static constexpr CompactMode Compact = Compact_;
    static constexpr bool isRowMajor = BFractal == BLayout::RowMajor;
    static constexpr bool isBoxedLayout = SLayout_ != SLayout::NoneBox;
    static constexpr bool isInnerRowMajor = SLayout_ == SLayout::RowMajor;
    static constexpr bool isInnerColMajor = SLayout_ == SLayout::ColMajor;
    static constexpr int ptosim_c0 = 32 / sizeof(Element_);
    static constexpr int InnerRows = !isBoxedLayout ? 1 : Fractal_ == 1024 ? 16 : Fractal_ == 32 ? (isInnerRowMajor ? 16 : 2)
                                                                               : (isInnerRowMajor ? 16 : ptosim_c0);
    static constexpr int InnerCols = !isBoxedLayout ? 1 : Fractal_ == 1024 ? 16 : Fractal_ == 32 ? (isInnerRowMajor ? 2 : 16)
                                                                               : (isInnerRowMajor ? ptosim_c0 : 16);
    static constexpr int InnerNumel = InnerRows * InnerCols;
    static constexpr int RowStride = isRowMajor ? Cols_ : 1;
    static constexpr int ColStride = isRowMajor ? 1 : Rows_;

    static_assert(Rows_ > 0 && Cols_ > 0, "a tile has at least one row and one column");
    static_assert(ValidRow_ <= Rows_ && ValidCol_ <= Cols_, "the valid region of a tile is not larger than the tile");
    static_assert(ValidRow_ >= -1 && ValidCol_ >= -1, "a valid extent is -1, which is given at run time, or a count");
    static_assert(Fractal_ == 512 || Fractal_ == 1024 || Fractal_ == 32, "the fractal of a tile is 512, 1024 or 32");
    static_assert(isBoxedLayout || Loc_ == TileType::Ctrl ||
                      ((isRowMajor ? Cols_ : Rows_) * sizeof(Element_)) % 32 == 0,
                  "a row (column) of a tile without boxes is a multiple of 32 bytes");
    static_assert(!isBoxedLayout || Cols_ % InnerCols == 0 || ptosim::is_fp4<Element_>,
                  "the columns of a tile with boxes are a multiple of the box");
    static_assert(!isBoxedLayout || Rows_ % InnerRows == 0 || Loc_ == TileType::Vec || Fractal_ == 32 || Rows_ == 1,
                  "the rows of a tile with boxes are a multiple of the box");

#ifdef __PTO_AUTO__
    int64_t ptosim_address = ptosim::new_tile(this);
#else
    int64_t ptosim_address = ptosim::UNASSIGNED;
#endif

    const bool *ptosim_ended = nullptr;  // of the FIFO that it was popped from

    Tile()
    {
        this->ptosim_rows(Rows_);
        this->ptosim_cols(Cols_);
    }
    explicit Tile(int64_t extent)
    {
        this->ptosim_rows(extent);
        this->ptosim_cols(ValidRow_ == -1 ? Cols_ : extent);
    }
    Tile(int64_t rows, int64_t cols)
    {
        this->ptosim_rows(rows);
        this->ptosim_cols(cols);
    }

    TileDType data() const { return reinterpret_cast<TileDType>(ptosim_address); }
    void SetValidRow(int rows) { SetValidShape(rows, this->GetValidCol()); }
    void SetValidCol(int cols) { SetValidShape(this->GetValidRow(), cols); }
    PTOSIM_CALLED void SetValidShape(int rows, int cols)
    {
        if (rows < 0 || rows > Rows_ || cols < 0 || cols > Cols_)
            ptosim::fail(PTOSIM_FRAME, "invalid", "a valid region of %d x %d does not fit a tile of %d x %d", rows, cols, Rows_, Cols_);
        this->ptosim_rows(rows);
        this->ptosim_cols(cols);
    }
    PTOSIM_CALLED DType GetValue(int64_t offset) const
    {
        static_assert(Loc_ == TileType::Vec, "GetValue reads tiles of Vec");
        ptosim::record(PTOSIM_FRAME, "%r = pto.tgetval ins($0, $1 : #0, index) outs : @0", *this, ptosim::Index{offset});
        int64_t bits = ptosim::ask(PTOSIM_FRAME);
        DType value;
        std::memcpy(&value, &bits, sizeof(DType));
        return value;
    }
    PTOSIM_CALLED void SetValue(int64_t offset, DType value) const
    {
        static_assert(Loc_ == TileType::Vec, "SetValue writes tiles of Vec");
        ptosim::record(PTOSIM_FRAME, "pto.tsetval ins($1, $2 : index, #2) outs($0 : #0)", *this, ptosim::Index{offset},
                       ptosim::Scalar<DType>{value});
    }
    void SetKAligned(bool = true) {}
    void SetMadTF32Mode(RoundMode mode = RoundMode::CAST_RINT)
    {
        ptosim::state().ctrl |= mode == RoundMode::CAST_ROUND ? 3ll << 46 : 1ll << 46;
    }
    void ResetMadMode() { ptosim::state().ctrl &= ~(3ll << 46); }

    static const char *ptosim_kind()
    {
        static const char *const known = ptosim::kept(
            "T %s %s %d %d %d %d %d %d %d %llu %d", ptosim::locations[static_cast<int>(Loc_)],
            ptosim::Element<Element_>::name, Rows_, Cols_, ValidRow_, ValidCol_, static_cast<int>(BFractal),
            static_cast<int>(SLayout_), Fractal_, static_cast<unsigned long long>(PadVal), static_cast<int>(Compact_));
        return known;
    }
    static constexpr int ptosim_count = 3;
    static constexpr int64_t ptosim_bytes = static_cast<int64_t>(Rows_) * Cols_ * sizeof(Element_);
    void ptosim_values(int64_t *out, void *frame) const
    {
        if (ptosim_address == ptosim::UNASSIGNED)
            ptosim::fail(frame, "invalid", "a tile of %d x %d (%s) was never assigned an address; add TASSIGN(tile, address) before its first use",
                         Rows_, Cols_, ptosim::locations[static_cast<int>(Loc_)]);
        if (ptosim_ended != nullptr && *ptosim_ended)
            ptosim::fail(frame, "invalid", "a tile of %d x %d was popped from a FIFO that has ended; use it while its TPipe is there", Rows_, Cols_);
        if (ptosim_address >= 0 && ptosim_address + ptosim_bytes > ptosim::capacities[static_cast<int>(Loc_)] && Loc_ != TileType::Ctrl)
            ptosim::fail(frame, "out-of-bounds", "a tile of %lld bytes at 0x%llx ends beyond the %lld bytes of %s", static_cast<long long>(ptosim_bytes),
                         static_cast<unsigned long long>(ptosim_address),
                         static_cast<long long>(ptosim::capacities[static_cast<int>(Loc_)]),
                         ptosim::locations[static_cast<int>(Loc_)]);
        out[0] = ptosim_address;
        out[1] = this->GetValidRow();
        out[2] = this->GetValidCol();
        if (out[1] < 0 || out[1] > Rows_ || out[2] < 0 || out[2] > Cols_)
            ptosim::fail(frame, "invalid", "the valid region %lld x %lld of a tile is larger than its %d x %d", static_cast<long long>(out[1]),
                         static_cast<long long>(out[2]), Rows_, Cols_);
    }
};

template <typename T, int R, int C, int VR = R, int VC = C>
using TileLeft = Tile<TileType::Left, T, R, C, ptosim::left_layout(TileType::Left, BLayout::ColMajor), VR, VC, SLayout::RowMajor, 512>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileRight = Tile<TileType::Right, T, R, C, BLayout::RowMajor, VR, VC, SLayout::ColMajor, 512>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileAcc = Tile<TileType::Acc, T, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 1024>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileLeftScale = Tile<TileType::ScaleLeft, T, R, C, BLayout::RowMajor, VR, VC, SLayout::RowMajor, 32>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileRightScale = Tile<TileType::ScaleRight, T, R, C, BLayout::ColMajor, VR, VC, SLayout::ColMajor, 32>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileLeftCompact = Tile<TileType::Left, T, R, C, ptosim::left_layout(TileType::Left, BLayout::ColMajor), VR, VC,
                             SLayout::RowMajor, 512, PadValue::Null, CompactMode::Normal>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileRightCompact = Tile<TileType::Right, T, R, C, BLayout::RowMajor, VR, VC, SLayout::ColMajor, 512,
                              PadValue::Null, CompactMode::Normal>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileAccCompact = Tile<TileType::Acc, T, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 1024, PadValue::Null,
                            CompactMode::Normal>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileLeftScaleCompact = Tile<TileType::ScaleLeft, T, R, C, BLayout::RowMajor, VR, VC, SLayout::RowMajor, 32,
                                  PadValue::Null, CompactMode::Normal>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileRightScaleCompact = Tile<TileType::ScaleRight, T, R, C, BLayout::ColMajor, VR, VC, SLayout::ColMajor, 32,
                                   PadValue::Null, CompactMode::Normal>;

}  // namespace pto
namespace ptosim {
constexpr uint64_t pad_custom(float value) { return 0x100000000ull | pto::ptosim_float_bits(value); }

template <typename T> struct is_tile_of : std::false_type {};
template <pto::TileType L, typename T, int R, int C, pto::BLayout B, int VR, int VC, pto::SLayout S, int F, auto P, pto::CompactMode M>
struct is_tile_of<pto::Tile<L, T, R, C, B, VR, VC, S, F, P, M>> : std::true_type {};
template <typename T> constexpr bool is_tile = is_tile_of<std::remove_cv_t<std::remove_reference_t<T>>>::value;
}  // namespace ptosim

namespace pto {
template <typename T> struct is_tile_data : std::bool_constant<ptosim::is_tile<T>> {};
template <typename T> constexpr bool is_tile_data_v = ptosim::is_tile<T>;

// --- global memory ---------------------------------------------------------------------------------------------------

template <int64_t N0 = DYNAMIC, int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC> struct Extents {
    static constexpr int64_t staticShape[5] = {N0, N1, N2, N3, N4};
    static constexpr int64_t dynamic = (N0 == -1) + (N1 == -1) + (N2 == -1) + (N3 == -1) + (N4 == -1);
    int64_t shape[5] = {N0, N1, N2, N3, N4};

    Extents()
    {
        for (auto &extent : shape)
            extent = extent == -1 ? 1 : extent;
    }
    template <typename... N, typename = std::enable_if_t<(std::is_convertible_v<N, int64_t> && ...) && (sizeof...(N) > 0)>>
    Extents(N... given)
    {
        static_assert(sizeof...(N) == dynamic || sizeof...(N) == 5, "give as many values as there are dynamic dimensions, or five");
        const int64_t values[] = {static_cast<int64_t>(given)...};
        const int64_t fixed[5] = {N0, N1, N2, N3, N4};
        int next = 0;
        for (int index = 0; index < 5; ++index) {
            if (fixed[index] == -1)
                shape[index] = values[sizeof...(N) == 5 ? index : next];
            next += fixed[index] == -1;
        }
    }
    int64_t operator[](int index) const { return shape[index]; }
};

template <int64_t N0 = DYNAMIC, int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC>
struct Shape : Extents<N0, N1, N2, N3, N4> {
    using Extents<N0, N1, N2, N3, N4>::Extents;
};
template <typename A, typename B, typename C, typename D, typename E> Shape(A, B, C, D, E) -> Shape<-1, -1, -1, -1, -1>;
template <int64_t N0 = DYNAMIC, int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC>
struct Stride : Extents<N0, N1, N2, N3, N4> {
    using Extents<N0, N1, N2, N3, N4>::Extents;
};
template <typename A, typename B, typename C, typename D, typename E> Stride(A, B, C, D, E) -> Stride<-1, -1, -1, -1, -1>;

constexpr const char *ptosim_layouts[] = {"nd", "dn", "nz", "scale", "mx_a_nd", "mx_a_dn", "mx_a_zz", "mx_b_nd", "mx_b_dn", "mx_b_nn",
                                          "", "", "", "", "", "", "", "", "", ""};

template <typename Element_, typename Shape_, typename Stride_, Layout Layout_ = Layout::ND> struct GlobalTensor {
    using DType = Element_;
    using RawDType = std::remove_cv_t<Element_>;
    using Shape = Shape_;
    using Stride = Stride_;
    static constexpr Layout layout = Layout_;
    static constexpr const int64_t *staticShape = Shape_::staticShape;
    static constexpr const int64_t *staticStride = Stride_::staticShape;
    static_assert(static_cast<int>(Layout_) < 10, "tensors of convolutions are not supported by ptosim");

    Element_ *ptosim_pointer = nullptr;
    Shape_ ptosim_shape{};
    Stride_ ptosim_stride{};

    GlobalTensor() = default;
    GlobalTensor(Element_ *pointer) : ptosim_pointer(pointer) {}
    GlobalTensor(Element_ *pointer, const Shape_ &shape) : ptosim_pointer(pointer), ptosim_shape(shape) {}
    GlobalTensor(Element_ *pointer, const Shape_ &shape, const Stride_ &stride)
        : ptosim_pointer(pointer), ptosim_shape(shape), ptosim_stride(stride)
    {
    }

    Element_ *data() const { return ptosim_pointer; }
    void SetAddr(Element_ *pointer) { ptosim_pointer = pointer; }
    int64_t GetShape(int index) const { return ptosim_shape.shape[index]; }
    int64_t GetStride(int index) const { return ptosim_stride.shape[index]; }
    template <int Index> static constexpr int64_t GetShape() { return Shape_::staticShape[Index]; }
    template <int Index> static constexpr int64_t GetStride() { return Stride_::staticShape[Index]; }
    int64_t GetShapeSize() const
    {
        int64_t size = 1;
        for (auto extent : ptosim_shape.shape)
            size *= extent;
        return size;
    }
    template <int... Index, typename... N> void SetShape(N... extents) { ((ptosim_shape.shape[Index] = extents), ...); }
    template <int... Index, typename... N> void SetStride(N... strides) { ((ptosim_stride.shape[Index] = strides), ...); }

    static const char *ptosim_kind()
    {
        static const char *const known =
            ptosim::kept("G %s %s", ptosim::Element<RawDType>::name, ptosim_layouts[static_cast<int>(Layout_)]);
        return known;
    }
    static constexpr int ptosim_count = 12;
    void ptosim_values(int64_t *out, void *frame) const
    {
        auto place = ptosim::place_of(const_cast<const RawDType *>(ptosim_pointer), frame, "a global tensor");
        out[0] = place.argument;
        out[1] = place.offset;
        for (int index = 0; index < 5; ++index) {
            out[2 + index] = ptosim_shape.shape[index];
            out[7 + index] = ptosim_stride.shape[index];
        }
    }
};

}  // namespace pto
namespace ptosim {
template <typename T> struct is_global_of : std::false_type {};
template <typename T, typename S, typename R, pto::Layout L>
struct is_global_of<pto::GlobalTensor<T, S, R, L>> : std::true_type {};
template <typename T> constexpr bool is_global = is_global_of<std::remove_cv_t<std::remove_reference_t<T>>>::value;

template <int N> constexpr int times(int64_t other) { return N == -1 || other == -1 ? -1 : static_cast<int>(N * other); }
constexpr int64_t product(int64_t one, int64_t other) { return one == -1 || other == -1 ? -1 : one * other; }
constexpr int64_t quotient(int64_t one, int64_t other) { return one == -1 ? -1 : one / other; }

template <typename T, int R, int C, pto::Layout L> struct Shape2D {
    using Shape = pto::Shape<1, 1, 1, R, C>;
    using Stride = pto::Stride<product(R, C), product(R, C), product(R, C), C, 1>;
    static Shape shape(int64_t r, int64_t c) { return Shape(1, 1, 1, r, c); }
    static Stride stride(int64_t r, int64_t c) { return Stride(r * c, r * c, r * c, c, 1); }
};
template <typename T, int R, int C> struct Shape2D<T, R, C, pto::Layout::DN> {
    using Shape = pto::Shape<1, 1, 1, R, C>;
    using Stride = pto::Stride<product(R, C), product(R, C), product(R, C), 1, R>;
    static Shape shape(int64_t r, int64_t c) { return Shape(1, 1, 1, r, c); }
    static Stride stride(int64_t r, int64_t c) { return Stride(r * c, r * c, r * c, 1, r); }
};
template <typename T, int R, int C> struct Shape2D<T, R, C, pto::Layout::NZ> {
    static constexpr int c0 = 32 / sizeof(T);
    using Shape = pto::Shape<1, quotient(C, c0), quotient(R, 16), 16, c0>;
    using Stride = pto::Stride<product(R, C), product(R, c0), 16 * c0, c0, 1>;
    static Shape shape(int64_t r, int64_t c) { return Shape(1, c / c0, r / 16, 16, c0); }
    static Stride stride(int64_t r, int64_t c) { return Stride(r * c, r * c0, 16 * c0, c0, 1); }
};
template <typename T, int R, int C> struct MxRows2D {  // of the left operand: R x C scales
    using Shape = pto::Shape<1, 1, R, quotient(C, 2), 2>;
    using Stride = pto::Stride<product(R, C), product(R, C), C, 2, 1>;
    static Shape shape(int64_t r, int64_t c) { return Shape(1, 1, r, c / 2, 2); }
    static Stride stride(int64_t r, int64_t c) { return Stride(r * c, r * c, c, 2, 1); }
};
template <typename T, int R, int C> struct MxBoxes2D {
    using Shape = pto::Shape<1, quotient(R, 16), quotient(C, 2), 16, 2>;
    using Stride = pto::Stride<product(R, C), product(C, 16), 32, 2, 1>;
    static Shape shape(int64_t r, int64_t c) { return Shape(1, r / 16, c / 2, 16, 2); }
    static Stride stride(int64_t r, int64_t c) { return Stride(r * c, c * 16, 32, 2, 1); }
};
template <typename T, int R, int C> struct Shape2D<T, R, C, pto::Layout::MX_A_ZZ> : MxBoxes2D<T, R, C> {};
template <typename T, int R, int C> struct Shape2D<T, R, C, pto::Layout::MX_B_NN> {
    using Shape = pto::Shape<1, quotient(C, 16), quotient(R, 2), 16, 2>;
    using Stride = pto::Stride<product(R, C), product(R, 16), 32, 2, 1>;
    static Shape shape(int64_t r, int64_t c) { return Shape(1, c / 16, r / 2, 16, 2); }
    static Stride stride(int64_t r, int64_t c) { return Stride(r * c, r * 16, 32, 2, 1); }
};
template <typename T, int R, int C> struct Shape2D<T, R, C, pto::Layout::MX_A_ND> : MxRows2D<T, R, C> {};
template <typename T, int R, int C> struct Shape2D<T, R, C, pto::Layout::MX_A_DN> {
    using Shape = pto::Shape<1, 1, quotient(C, 2), R, 2>;
    using Stride = pto::Stride<product(R, C), product(R, C), product(R, 2), 2, 1>;
    static Shape shape(int64_t r, int64_t c) { return Shape(1, 1, c / 2, r, 2); }
    static Stride stride(int64_t r, int64_t c) { return Stride(r * c, r * c, r * 2, 2, 1); }
};
template <typename T, int R, int C> struct Shape2D<T, R, C, pto::Layout::MX_B_ND> {
    using Shape = pto::Shape<1, 1, quotient(R, 2), C, 2>;
    using Stride = pto::Stride<product(R, C), product(R, C), product(C, 2), 2, 1>;
    static Shape shape(int64_t r, int64_t c) { return Shape(1, 1, r / 2, c, 2); }
    static Stride stride(int64_t r, int64_t c) { return Stride(r * c, r * c, c * 2, 2, 1); }
};
template <typename T, int R, int C> struct Shape2D<T, R, C, pto::Layout::MX_B_DN> {
    using Shape = pto::Shape<1, 1, C, quotient(R, 2), 2>;
    using Stride = pto::Stride<product(R, C), product(R, C), R, 2, 1>;
    static Shape shape(int64_t r, int64_t c) { return Shape(1, 1, c, r / 2, 2); }
    static Stride stride(int64_t r, int64_t c) { return Stride(r * c, r * c, r, 2, 1); }
};
}  // namespace ptosim

namespace pto {
template <typename T, int R = DYNAMIC, int C = DYNAMIC, Layout L = Layout::ND>
struct TileShape2D : ptosim::Shape2D<T, R, C, L>::Shape {
    using Base = typename ptosim::Shape2D<T, R, C, L>::Shape;
    TileShape2D() : Base(ptosim::Shape2D<T, R, C, L>::shape(R == -1 ? 1 : R, C == -1 ? 1 : C)) {}
    TileShape2D(int64_t rows, int64_t cols) : Base(ptosim::Shape2D<T, R, C, L>::shape(rows, cols)) {}
    TileShape2D(int64_t n0, int64_t n1, int64_t n2, int64_t n3, int64_t n4) : Base(n0, n1, n2, n3, n4) {}
};
template <typename T, int R = DYNAMIC, int C = DYNAMIC, Layout L = Layout::ND>
struct BaseShape2D : ptosim::Shape2D<T, R, C, L>::Stride {
    using Base = typename ptosim::Shape2D<T, R, C, L>::Stride;
    BaseShape2D() : Base(ptosim::Shape2D<T, R, C, L>::stride(R == -1 ? 1 : R, C == -1 ? 1 : C)) {}
    BaseShape2D(int64_t rows, int64_t cols) : Base(ptosim::Shape2D<T, R, C, L>::stride(rows, cols)) {}
    BaseShape2D(int64_t n0, int64_t n1, int64_t n2, int64_t n3, int64_t n4) : Base(n0, n1, n2, n3, n4) {}
};
template <typename T> struct is_global_data : std::bool_constant<ptosim::is_global<T>> {};
template <typename T> constexpr bool is_global_data_v = ptosim::is_global<T>;
}  // namespace pto
