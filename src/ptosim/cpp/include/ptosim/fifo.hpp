// FIFOs between the cube core and the vector cores (isa/22 section 5).
#pragma once
#include "matrix_intrinsics.hpp"

namespace ptosim {

#if defined(__DAV_CUBE__)
constexpr bool is_cube = true;
#else
constexpr bool is_cube = false;
#endif

template <typename T> struct GmPointer {  // a place in an argument
    const T *pointer;
    static const char *ptosim_kind()
    {
        static const char *const known = kept("P %s", Element<std::remove_cv_t<T>>::name);
        return known;
    }
    static constexpr int ptosim_count = 2;
    void ptosim_values(int64_t *out, void *frame) const
    {
        Place place = place_of(pointer, frame, "a buffer of slots");
        out[0] = place.argument;
        out[1] = place.offset;
    }
};

}  // namespace ptosim

namespace pto {

template <uint8_t FlagID, uint8_t Dir, uint32_t SlotBytes, uint32_t SlotNum, uint32_t LocalSlotNum = 2, bool IsNoSplit = false, bool EnUnitFlag = false>
struct TPipe {
    static_assert(Dir != DIR_V2C_CTRL, "FIFOs of control words are not supported by ptosim yet");
    static constexpr int ptosim_id = FlagID;
    static constexpr int ptosim_mask = Dir > 4 ? Dir - 4 : Dir;
#if __NPU_ARCH__ == 2201
    static constexpr bool ptosim_in_gm = true;
#else
    static constexpr bool ptosim_in_gm = Dir > 4;
#endif
    static constexpr uint32_t ptosim_slots = ptosim_in_gm ? LocalSlotNum : SlotNum;
    uint32_t ptosim_buffer;
    int64_t ptosim_popped = 0;
    bool *ptosim_ended = new bool(false);  // stays behind for the tiles that were popped
    bool ptosim_is_copy = false;

    TPipe(const TPipe &other)
        : ptosim_buffer(other.ptosim_buffer), ptosim_popped(other.ptosim_popped), ptosim_ended(other.ptosim_ended), ptosim_is_copy(true)
    {
    }
    ~TPipe()
    {
        if (!ptosim_is_copy)
            *ptosim_ended = true;
    }

    template <typename T> PTOSIM_CALLED TPipe(T *gm_slots, uint32_t c2v_buffer, uint32_t v2c_buffer)
    {
        ptosim_buffer = ptosim::is_cube ? v2c_buffer : c2v_buffer;
        using Address = ptosim::Scalar<int32_t>;
        Address c2v{static_cast<int32_t>(c2v_buffer)}, v2c{static_cast<int32_t>(v2c_buffer)};
        const char *local = ptosim_in_gm ? ptosim::kept(", local_slot_num = %u", LocalSlotNum) : "";
        const char *whole = ptosim::kept("init pto.%s_initialize_pipe {id = %d, dir_mask = %d, slot_size = %u, slot_num = %u%s%s} (%sc2v_consumer_buf = $0 : i32, v2c_consumer_buf = $1 : i32)",
                                         ptosim::is_cube ? "aic" : "aiv", FlagID, ptosim_mask, SlotBytes, SlotNum, local,
                                         IsNoSplit ? ", nosplit = true" : "", ptosim_in_gm ? "gm_slot_buffer = $2 : #2, " : "");
        if constexpr (ptosim_in_gm)
            ptosim::record(PTOSIM_FRAME, whole, c2v, v2c, ptosim::GmPointer<T>{gm_slots});
        else
            ptosim::record(PTOSIM_FRAME, whole, c2v, v2c);
    }
    PTOSIM_CALLED TPipe(std::nullptr_t, uint32_t c2v_buffer, uint32_t v2c_buffer) : TPipe(static_cast<uint8_t *>(nullptr), c2v_buffer, v2c_buffer) {}
    PTOSIM_CALLED TPipe(int, uint32_t c2v_buffer, uint32_t v2c_buffer) : TPipe(static_cast<uint8_t *>(nullptr), c2v_buffer, v2c_buffer) {}
};

}  // namespace pto
namespace ptosim {
template <typename P> struct is_pipe_of : std::false_type {};
template <uint8_t F, uint8_t D, uint32_t B, uint32_t N, uint32_t L, bool S, bool U> struct is_pipe_of<pto::TPipe<F, D, B, N, L, S, U>> : std::true_type {};
template <typename P> constexpr bool is_pipe = is_pipe_of<std::remove_cv_t<std::remove_reference_t<P>>>::value;
}  // namespace ptosim
namespace pto {

template <typename P, typename T, TileSplitAxis Split, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_pipe<P>, Events<E...>> TPUSH(P &, T &tile, E &&...e)
{
    static_assert(T::Loc == TileType::Acc || T::Loc == TileType::Vec || T::Loc == TileType::Mat, "TPUSH takes a tile of Acc or Vec");
    PTOSIM_RETURN(ptosim::kept("pto.tpush_to_%s($0 : #0) {id = %d, split = %d}", T::Loc == TileType::Vec ? "aic" : "aiv", P::ptosim_id, static_cast<int>(Split)), tile);
}
template <typename P, typename T, TileSplitAxis Split, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_pipe<P>, Events<E...>> TPOP(P &pipe, T &tile, E &&...e)
{
    void *frame = PTOSIM_FRAME;
    ptosim::await(frame, e...);
    tile.ptosim_address = pipe.ptosim_buffer + (pipe.ptosim_popped++ % P::ptosim_slots) * ptosim_slot_bytes(pipe);
    tile.ptosim_ended = pipe.ptosim_ended;
    const char *from = T::Loc == TileType::Vec ? "aic" : "aiv";
    if constexpr (T::ValidRow == -1 || T::ValidCol == -1)
        return {ptosim::record(frame, ptosim::kept("%%r = pto.tpop_from_%s($1, $2) {id = %d, split = %d} -> #0", from, P::ptosim_id, static_cast<int>(Split)), tile,
                               ptosim::Index{tile.GetValidRow()}, ptosim::Index{tile.GetValidCol()})};
    else
        return {ptosim::record(frame, ptosim::kept("%%r = pto.tpop_from_%s {id = %d, split = %d} -> #0", from, P::ptosim_id, static_cast<int>(Split)), tile)};
}
template <uint8_t F, uint8_t D, uint32_t B, uint32_t N, uint32_t L, bool S, bool U> constexpr int64_t ptosim_slot_bytes(const TPipe<F, D, B, N, L, S, U> &) { return B; }
template <typename P, TileSplitAxis Split, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_pipe<P>, Events<E...>> TFREE(P &, E &&...e)
{
    PTOSIM_RETURN(ptosim::kept("pto.tfree_from_%s {id = %d, split = %d}", ptosim::is_cube ? "aiv" : "aic", P::ptosim_id, static_cast<int>(Split)), ptosim::Index{0});
}

// The older forms: the tile first, and nothing split.
template <typename T, typename P, typename... E>
std::enable_if_t<ptosim::is_pipe<P>, Events<E...>> TPUSH(T &tile, P &pipe, E &&...e) { return TPUSH<P, T, TILE_NO_SPLIT>(pipe, tile, e...); }
template <typename T, typename P, typename... E>
std::enable_if_t<ptosim::is_pipe<P>, Events<E...>> TPOP(T &tile, P &pipe, E &&...e) { return TPOP<P, T, TILE_NO_SPLIT>(pipe, tile, e...); }
template <typename P, typename... E>
std::enable_if_t<ptosim::is_pipe<P>, Events<E...>> TFREE(P &pipe, E &&...e) { return TFREE<P, TILE_NO_SPLIT>(pipe, e...); }

}  // namespace pto
