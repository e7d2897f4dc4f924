// Raw words of the device that kernels of tiles use (isa/22 section 7): the destination first, addresses as `tile.data()` gives them.
#pragma once
#include "fifo.hpp"

namespace ptosim {

constexpr const char *spaces[] = {"ub", "l1", "l0a", "l0b"};

template <typename T, int Space> struct OnChip {  // an address in a memory of the chip
    const T *pointer;
    static const char *ptosim_kind()
    {
        static const char *const known = kept("A %s %s", Element<std::remove_cv_t<T>>::name, spaces[Space]);
        return known;
    }
    static constexpr int ptosim_count = 1;
    void ptosim_values(int64_t *out, void *) const { *out = reinterpret_cast<int64_t>(pointer); }
};

constexpr int UB = 0, L1 = 1, L0A = 2, L0B = 3;

}  // namespace ptosim

#define PTOSIM_NUMBER(NAME) ptosim::Word{static_cast<uint64_t>(NAME)}
#define PTOSIM_ON_CHIP_COPY(NAME, FROM, TO)                                                       \
    template <typename D, typename S>                                                             \
    PTOSIM_CALLED void NAME(D *dst, S *src, uint64_t core, uint64_t n, uint64_t len, uint64_t sgap, uint64_t dgap) \
    {                                                                                             \
        ptosim::record(PTOSIM_FRAME, "pto." #NAME " $1, $0, $2, $3, $4, $5, $6 : #1, #0, i64, i64, i64, i64, i64", \
                       ptosim::OnChip<D, ptosim::TO>{dst}, ptosim::OnChip<S, ptosim::FROM>{src}, PTOSIM_NUMBER(core), PTOSIM_NUMBER(n), \
                       PTOSIM_NUMBER(len), PTOSIM_NUMBER(sgap), PTOSIM_NUMBER(dgap));             \
    }
PTOSIM_ON_CHIP_COPY(copy_cbuf_to_ubuf, L1, UB)
PTOSIM_ON_CHIP_COPY(copy_ubuf_to_cbuf, UB, L1)
PTOSIM_ON_CHIP_COPY(copy_ubuf_to_ubuf, UB, UB)

template <typename D, typename S>
PTOSIM_CALLED void copy_ubuf_to_gm_align_v2(D *dst, S *src, uint64_t sid, uint64_t n, uint64_t len, uint64_t l2, uint64_t dst_stride, uint64_t src_stride)
{
    ptosim::record(PTOSIM_FRAME, "pto.copy_ubuf_to_gm $1, $0, $2, $3, $4, $5, $6, $7 : #1, #0, i64, i64, i64, i64, i64, i64",
                   ptosim::GmPointer<D>{dst}, ptosim::OnChip<S, ptosim::UB>{src}, PTOSIM_NUMBER(sid), PTOSIM_NUMBER(n), PTOSIM_NUMBER(len),
                   PTOSIM_NUMBER(l2), PTOSIM_NUMBER(dst_stride), PTOSIM_NUMBER(src_stride));
}
template <typename D, typename S>
PTOSIM_CALLED void copy_gm_to_ubuf_align_v2(D *dst, S *src, uint64_t sid, uint64_t n, uint64_t len, uint64_t left, uint64_t right, bool select,
                                            uint64_t l2, uint64_t src_stride, uint64_t dst_stride)
{
    const char *text = select ? "%r = arith.constant true\npto.copy_gm_to_ubuf $1, $0, $2, $3, $4, $5, $6, %r, $7, $8, $9 : #1, #0, i64, i64, i64, i64, i64, i1, i64, i64, i64"
                              : "%r = arith.constant false\npto.copy_gm_to_ubuf $1, $0, $2, $3, $4, $5, $6, %r, $7, $8, $9 : #1, #0, i64, i64, i64, i64, i64, i1, i64, i64, i64";
    ptosim::record(PTOSIM_FRAME, text, ptosim::OnChip<D, ptosim::UB>{dst}, ptosim::GmPointer<S>{src}, PTOSIM_NUMBER(sid), PTOSIM_NUMBER(n),
                   PTOSIM_NUMBER(len), PTOSIM_NUMBER(left), PTOSIM_NUMBER(right), PTOSIM_NUMBER(l2), PTOSIM_NUMBER(src_stride),
                   PTOSIM_NUMBER(dst_stride));
}

#define PTOSIM_LOAD_SCALES(NAME, TO)                                                              \
    template <typename D, typename S>                                                             \
    PTOSIM_CALLED void NAME(D dst, S *src, uint64_t x, uint64_t y, uint64_t x_step, uint64_t y_step, uint64_t src_stride, uint64_t dst_stride) \
    {                                                                                             \
        auto address = reinterpret_cast<const S *>(16 * (uint64_t)dst);                           \
        ptosim::record(PTOSIM_FRAME, "pto." #NAME " $1, $0, $2, $3, $4, $5, $6, $7 : #1, #0, i64, i64, i64, i64, i64, i64", \
                       ptosim::OnChip<S, ptosim::TO>{address}, ptosim::OnChip<S, ptosim::L1>{src}, PTOSIM_NUMBER(x), PTOSIM_NUMBER(y), \
                       PTOSIM_NUMBER(x_step), PTOSIM_NUMBER(y_step), PTOSIM_NUMBER(src_stride), PTOSIM_NUMBER(dst_stride)); \
    }
PTOSIM_LOAD_SCALES(load_cbuf_to_ca_mx, L0A)
PTOSIM_LOAD_SCALES(load_cbuf_to_cb_mx, L0B)

// The repeat word: so many times in bits 0 to 14, blocks of 32 bytes in 16 to 30, the gap behind them in 32 to 46.
template <typename D, typename V> PTOSIM_CALLED void create_cbuf_matrix(D *dst, uint64_t word, V value)
{
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(V) < 4 ? sizeof(V) : 4);
    ptosim::record(PTOSIM_FRAME, ptosim::kept("pto.create_cbuf_matrix $0, $1, $2, $3, $4 {fill_word_bits = %d : i64} : #0, i32, i64, i64, i64", sizeof(D) < 4 ? 16 : 32),
                   ptosim::OnChip<D, ptosim::L1>{dst}, ptosim::Scalar<int32_t>{static_cast<int32_t>(bits)}, PTOSIM_NUMBER(word & 0x7fff),
                   PTOSIM_NUMBER((word >> 16) & 0x7fff), PTOSIM_NUMBER((word >> 32) & 0x7fff));
}
