// Intrinsics that move tiles, give them addresses or look at them otherwise.
#pragma once
#include "more_intrinsics.hpp"

namespace ptosim {

inline const char *store_text(const char *operands, pto::STPhase phase, pto::AtomicType atomic, pto::ReluPreMode relu)
{
    constexpr const char *phases[] = {"", "", "stPhase = #pto<st_phase partial>, ", "stPhase = #pto<st_phase final>, "};
    return kept("pto.tstore ins(%s) outs($0 : #0) {%satomicType = #pto<atomic_type %s>, reluPreMode = #pto<relu_pre_mode %s>}", operands,
                phases[static_cast<int>(phase) & 3], atomic == pto::AtomicType::AtomicAdd ? "atomic_add" : "atomic_none",
                relu == pto::ReluPreMode::NormalRelu ? "normal_relu" : "no_relu");
}

constexpr const char *acc_to_vec[] = {"single_mode_vec0", "single_mode_vec1", "dual_mode_split_m", "dual_mode_split_n"};

// The attributes of a move from the accumulator: without a mode none is written.
inline const char *move_text(const char *before, int mode, pto::ReluPreMode relu)
{
    const char *relus = relu == pto::ReluPreMode::NormalRelu ? "reluPreMode = #pto<relu_pre_mode normal_relu>" : "";
    if (mode < 0)
        return *relus ? kept("%s {%s}", before, relus) : before;
    return kept("%s {accToVecMode = #pto.acc_to_vec_mode<%s>%s%s}", before, acc_to_vec[mode & 3], *relus ? ", " : "", relus);
}

template <typename T> constexpr int64_t byte_offset(int64_t row, int64_t col)
{
    constexpr int64_t size = sizeof(typename T::DType);
    if (!T::isBoxedLayout)
        return (T::isRowMajor ? row * T::Cols + col : col * T::Rows + row) * size;
    int64_t box_row = row / T::InnerRows, box_col = col / T::InnerCols;
    int64_t boxes = T::isRowMajor ? box_row * (T::Cols / T::InnerCols) + box_col : box_col * ((T::Rows + T::InnerRows - 1) / T::InnerRows) + box_row;
    int64_t inner_row = row % T::InnerRows, inner_col = col % T::InnerCols;
    return (boxes * T::InnerNumel + (T::isInnerRowMajor ? inner_row * T::InnerCols + inner_col : inner_col * T::InnerRows + inner_row)) * size;
}

inline int64_t part_of(int64_t address, int64_t offset)
{
    return address < 0 ? address - (offset << 24) : address + offset;  // without addresses: behind the number of the tile
}

template <typename T> void assign(void *frame, T &tile, int64_t address)
{
    constexpr int64_t alignment = T::Loc == pto::TileType::Left || T::Loc == pto::TileType::Right || T::Loc == pto::TileType::Acc ? 512 : 32;
    if (address < 0)
        fail(frame, "invalid", "%lld is no address of a tile", static_cast<long long>(address));
    constexpr bool is_scale = T::Loc == pto::TileType::Scaling || T::Loc == pto::TileType::ScaleLeft || T::Loc == pto::TileType::ScaleRight;
    if (!is_scale && address % alignment != 0)
        fail(frame, "misaligned", "address 0x%llx of a tile in %s is not aligned to %lld bytes", static_cast<unsigned long long>(address),
             locations[static_cast<int>(T::Loc)], static_cast<long long>(alignment));
#ifndef __PTO_AUTO__
    tile.ptosim_address = address;
    tile.ptosim_ended = nullptr;
#else
    (void)tile;
#endif
}

}  // namespace ptosim

namespace pto {

// --- addresses -------------------------------------------------------------------------------------------------------

template <typename T, typename A> PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>> TASSIGN(T &tile, A address)
{
    if constexpr (std::is_pointer_v<A>)
        ptosim::assign(PTOSIM_FRAME, tile, reinterpret_cast<int64_t>(address));
    else
        ptosim::assign(PTOSIM_FRAME, tile, static_cast<int64_t>(address));
}
template <typename G, typename P> std::enable_if_t<ptosim::is_global<G>> TASSIGN(G &global, P *pointer) { global.ptosim_pointer = pointer; }
template <auto Address, typename T> PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>> TASSIGN(T &tile)
{
    constexpr bool is_l0 = T::Loc == TileType::Left || T::Loc == TileType::Right || T::Loc == TileType::Acc;
    static_assert(static_cast<int64_t>(Address) >= 0 && static_cast<int64_t>(Address) % (is_l0 ? 512 : 32) == 0,
                  "the address of a tile is a multiple of 32 bytes, in L0A, L0B and L0C of 512");
    static_assert(static_cast<int64_t>(Address) + T::ptosim_bytes <= ptosim::capacities[static_cast<int>(T::Loc)], "the tile ends beyond its memory");
    ptosim::assign(PTOSIM_FRAME, tile, static_cast<int64_t>(Address));
}

template <typename D, typename S, typename... E> PTOSIM_CALLED Events<E...> TRESHAPE(D &d, S &s, E &&...e)
{
    void *frame = PTOSIM_FRAME;
    ptosim::await(frame, e...);
    static_assert(D::Loc == S::Loc, "TRESHAPE keeps the memory of a tile");
    d.ptosim_address = s.ptosim_address;
    d.ptosim_ended = s.ptosim_ended;
    return {};
}
template <typename D, typename S, typename... E>
PTOSIM_CALLED Events<E...> TSUBVIEW(D &d, S &s, uint16_t row, uint16_t col, E &&...e)
{
    void *frame = PTOSIM_FRAME;
    ptosim::await(frame, e...);
    static_assert(D::Loc == S::Loc, "TSUBVIEW stays in the memory of its tile");
    d.ptosim_address = ptosim::part_of(s.ptosim_address, ptosim::byte_offset<S>(row, col));
    d.ptosim_ended = s.ptosim_ended;
    return {};
}
template <typename T> uint64_t GetScaleAddr(T *data) { return reinterpret_cast<uint64_t>(data) / 16; }
template <typename D, typename S, typename... E> PTOSIM_CALLED Events<E...> TGET_SCALE_ADDR(D &d, S &s, E &&...e)
{
    d.ptosim_address = s.ptosim_address / 16;
    PTOSIM_RETURN("pto.tget_scale_addr ins($1 : #1) outs($0 : #0)", d, s);
}

// --- global memory ---------------------------------------------------------------------------------------------------

template <typename D, typename G, typename... E> PTOSIM_CALLED Events<E...> TLOAD(D &d, G &g, E &&...e)
{
    static_assert(ptosim::is_tile<D> && ptosim::is_global<G>, "TLOAD takes a tile and a global tensor");
    static_assert(sizeof(typename D::DType) == sizeof(typename G::DType), "TLOAD moves elements of one size");
    PTOSIM_RETURN("pto.tload ins($1 : #1) outs($0 : #0)", d, g);
}
template <typename D, typename G> PTOSIM_CALLED RecordEvent TPREFETCH(D &d, G &g)
{
    return {ptosim::record(PTOSIM_FRAME, "pto.tprefetch ins($1 : #1) outs($0 : #0)", d, g)};
}

#define PTOSIM_STORES(PREFIX, PHASE)                                                              \
    template <PREFIX typename T, typename G, AtomicType Atomic = AtomicType::AtomicNone, ReluPreMode Relu = ReluPreMode::NoRelu, typename... E> \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TSTORE(G &g, T &s, E &&...e) \
    {                                                                                             \
        static_assert(ptosim::is_global<G>, "TSTORE takes a global tensor and a tile");           \
        PTOSIM_RETURN(ptosim::store_text("$1 : #1", PHASE, Atomic, Relu), g, s);                  \
    }                                                                                             \
    template <PREFIX typename T, typename G, AtomicType Atomic = AtomicType::AtomicNone, ReluPreMode Relu = ReluPreMode::NoRelu, typename... E> \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TSTORE(G &g, T &s, uint64_t preQuantScalar, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::store_text("$1, $2 : #1, i64", PHASE, Atomic, Relu), g, s, ptosim::Word{preQuantScalar}); \
    }                                                                                             \
    template <PREFIX typename T, typename G, ReluPreMode Relu, typename... E>                     \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TSTORE(G &g, T &s, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::store_text("$1 : #1", PHASE, AtomicType::AtomicNone, Relu), g, s);  \
    }                                                                                             \
    template <PREFIX typename T, typename G, typename F, AtomicType Atomic = AtomicType::AtomicNone, ReluPreMode Relu = ReluPreMode::NoRelu, typename... E> \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TSTORE_FP(G &g, T &s, F &fp, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::store_text("$1 : #1 fp $2 : #2", PHASE, Atomic, Relu), g, s, fp);   \
    }
PTOSIM_STORES(, STPhase::Unspecified)
PTOSIM_STORES(STPhase Phase PTOSIM_COMMA, Phase)

// --- moves -----------------------------------------------------------------------------------------------------------

#define PTOSIM_MODES(DEFINE)                                                                      \
    DEFINE(ReluPreMode Relu = ReluPreMode::NoRelu PTOSIM_COMMA, -1)                               \
    DEFINE(AccToVecMode Mode PTOSIM_COMMA ReluPreMode Relu = ReluPreMode::NoRelu PTOSIM_COMMA, static_cast<int>(Mode))

#define PTOSIM_MOVES(MODES, MODE)                                                                 \
    template <typename D, typename S, MODES typename... E> PTOSIM_CALLED Events<E...> TMOV(D &d, S &s, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.tmov ins($1 : #1) outs($0 : #0)", MODE, Relu), d, s); \
    }                                                                                             \
    template <typename D, typename S, MODES typename... E>                                        \
    PTOSIM_CALLED Events<E...> TMOV(D &d, S &s, uint64_t preQuantScalar, E &&...e)                \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.tmov ins($1, $2 : #1, i64) outs($0 : #0)", MODE, Relu), d, s, ptosim::Word{preQuantScalar}); \
    }                                                                                             \
    template <typename D, typename S, typename F, MODES typename... E>                            \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<F>, Events<E...>> TMOV(D &d, S &s, F &fp, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.tmov ins($1, $2 : #1, #2) outs($0 : #0)", MODE, Relu), d, s, fp); \
    }                                                                                             \
    template <typename D, typename S, typename F, MODES typename... E>                            \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<F>, Events<E...>> TMOV_FP(D &d, S &s, F &fp, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.tmov ins($1, $2 : #1, #2) outs($0 : #0)", MODE, Relu), d, s, fp); \
    }
PTOSIM_MODES(PTOSIM_MOVES)

#define PTOSIM_WINDOW ptosim::Index{row}, ptosim::Index{col}
#define PTOSIM_EXTRACTS(MODES, MODE)                                                              \
    template <typename D, typename S, MODES typename... E>                                        \
    PTOSIM_CALLED Events<E...> TEXTRACT(D &d, S &s, uint16_t row, uint16_t col, E &&...e)         \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.textract ins($1, $2, $3 : #1, index, index) outs($0 : #0)", MODE, Relu), d, s, PTOSIM_WINDOW); \
    }                                                                                             \
    template <typename D, typename S, MODES typename... E>                                        \
    PTOSIM_CALLED Events<E...> TEXTRACT(D &d, S &s, uint64_t preQuantScalar, uint16_t row, uint16_t col, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.textract ins($1, $2, $3, $4 : #1, index, index, i64) outs($0 : #0)", MODE, Relu), d, s, PTOSIM_WINDOW, \
                      ptosim::Word{preQuantScalar});                                              \
    }                                                                                             \
    template <typename D, typename S, typename F, MODES typename... E>                            \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<F>, Events<E...>> TEXTRACT(D &d, S &s, F &fp, uint16_t row, uint16_t col, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.textract ins($1, $2, $3 : #1, index, index fp $4 : #4) outs($0 : #0)", MODE, Relu), d, s, PTOSIM_WINDOW, fp); \
    }                                                                                             \
    template <typename D, typename S, typename F, MODES typename... E>                            \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<F>, Events<E...>> TEXTRACT_FP(D &d, S &s, F &fp, uint16_t row, uint16_t col, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.textract ins($1, $2, $3 : #1, index, index fp $4 : #4) outs($0 : #0)", MODE, Relu), d, s, PTOSIM_WINDOW, fp); \
    }
PTOSIM_MODES(PTOSIM_EXTRACTS)
template <typename D, typename S, typename... E> PTOSIM_CALLED Events<E...> TEXTRACT(D &d, S &s, E &&...e)
{
    PTOSIM_RETURN("pto.textract ins($1, $2, $3 : #1, index, index) outs($0 : #0)", d, s, ptosim::Index{0}, ptosim::Index{0});
}
template <typename D, typename S> PTOSIM_CALLED RecordEvent TEXTRACT(D &d, S &s, uint16_t row)
{
    return {ptosim::record(PTOSIM_FRAME, "pto.textract ins($1, $2, $3 : #1, index, index) outs($0 : #0)", d, s, ptosim::Index{row}, ptosim::Index{0})};
}

#define PTOSIM_INSERTS(MODES, MODE)                                                               \
    template <typename D, typename S, MODES typename... E>                                        \
    PTOSIM_CALLED Events<E...> TINSERT(D &d, S &s, uint16_t row, uint16_t col, E &&...e)          \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.tinsert ins($1, $2, $3 : #1, index, index) outs($0 : #0)", MODE, Relu), d, s, PTOSIM_WINDOW); \
    }                                                                                             \
    template <typename D, typename S, MODES typename... E>                                        \
    PTOSIM_CALLED Events<E...> TINSERT(D &d, S &s, uint64_t preQuantScalar, uint16_t row, uint16_t col, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.tinsert ins($1, $2, $3 : #1, index, index pre_quant $4 : i64) outs($0 : #0)", MODE, Relu), d, s, PTOSIM_WINDOW, \
                      ptosim::Word{preQuantScalar});                                              \
    }                                                                                             \
    template <typename D, typename S, typename F, MODES typename... E>                            \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<F>, Events<E...>> TINSERT(D &d, S &s, F &fp, uint16_t row, uint16_t col, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.tinsert ins($1, $2, $3 : #1, index, index fp $4 : #4) outs($0 : #0)", MODE, Relu), d, s, PTOSIM_WINDOW, fp); \
    }                                                                                             \
    template <typename D, typename S, typename F, MODES typename... E>                            \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<F>, Events<E...>> TINSERT_FP(D &d, S &s, F &fp, uint16_t row, uint16_t col, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::move_text("pto.tinsert ins($1, $2, $3 : #1, index, index fp $4 : #4) outs($0 : #0)", MODE, Relu), d, s, PTOSIM_WINDOW, fp); \
    }
PTOSIM_MODES(PTOSIM_INSERTS)
template <TInsertMode Mode, typename D, typename S, typename... E>
PTOSIM_CALLED Events<E...> TINSERT(D &d, S &s, uint16_t row, uint16_t col, E &&...e)
{
    PTOSIM_RETURN(Mode == TInsertMode::SPLIT2 ? "pto.tinsert ins($1, $2, $3 : #1, index, index) outs($0 : #0) {tinsertMode = #pto.tinsert_mode<split2>}"
                                              : "pto.tinsert ins($1, $2, $3 : #1, index, index) outs($0 : #0) {tinsertMode = #pto.tinsert_mode<split4>}",
                  d, s, PTOSIM_WINDOW);
}
template <TInsertMode Mode, typename D, typename S> PTOSIM_CALLED RecordEvent TINSERT(D &d, S &s, uint16_t row = 0)
{
    return TINSERT<Mode>(d, s, row, uint16_t{0});
}

}  // namespace pto
