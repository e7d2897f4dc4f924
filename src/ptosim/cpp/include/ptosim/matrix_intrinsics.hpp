// Products (isa/22 section 4).
#pragma once
#include "memory_intrinsics.hpp"

namespace ptosim {
template <pto::AccPhase Phase> const char *product_text(const char *text)
{
    if constexpr (Phase == pto::AccPhase::Partial)
        return kept("%s {accPhase = #pto<acc_phase partial>}", text);
    else if constexpr (Phase == pto::AccPhase::Final)
        return kept("%s {accPhase = #pto<acc_phase final>}", text);
    else
        return text;
}
template <typename... T> constexpr bool are_tiles = (is_tile<T> && ...);
}  // namespace ptosim

namespace pto {

#define PTOSIM_PHASES(DEFINE, NAME, OP)                                                           \
    DEFINE(, AccPhase::Unspecified, NAME, OP)                                                     \
    DEFINE(AccPhase Phase PTOSIM_COMMA, Phase, NAME, OP)

#define PTOSIM_PRODUCT(PREFIX, PHASE, NAME, OP)                                                   \
    template <PREFIX typename D, typename A, typename B, typename... E>                           \
    PTOSIM_CALLED Events<E...> NAME(D &d, A &a, B &b, E &&...e)                                   \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::product_text<PHASE>("pto." OP " ins($1, $2 : #1, #2) outs($0 : #0)"), d, a, b); \
    }                                                                                             \
    template <PREFIX typename D, typename A, typename B, typename... E>                           \
    PTOSIM_CALLED Events<E...> NAME##_ACC(D &d, D &c, A &a, B &b, E &&...e)                       \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::product_text<PHASE>("pto." OP ".acc ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)"), d, c, a, b); \
    }                                                                                             \
    template <PREFIX typename D, typename A, typename B, typename... E>                           \
    PTOSIM_CALLED Events<E...> NAME##_ACC(D &d, A &a, B &b, E &&...e)                             \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::product_text<PHASE>("pto." OP ".acc ins($0, $1, $2 : #0, #1, #2) outs($0 : #0)"), d, a, b); \
    }                                                                                             \
    template <PREFIX typename D, typename A, typename B, typename C, typename... E>               \
    PTOSIM_CALLED Events<E...> NAME##_BIAS(D &d, A &a, B &b, C &bias, E &&...e)                   \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::product_text<PHASE>("pto." OP ".bias ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)"), d, a, b, bias); \
    }
PTOSIM_PHASES(PTOSIM_PRODUCT, TMATMUL, "tmatmul")
PTOSIM_PHASES(PTOSIM_PRODUCT, TGEMV, "tgemv")

// Six tiles are an accumulation where the first two are of one type, else a product with a bias.
#define PTOSIM_PRODUCT_MX(PREFIX, PHASE, NAME, OP)                                                \
    template <PREFIX typename D, typename A, typename AS, typename B, typename BS, typename... E> \
    PTOSIM_CALLED Events<E...> NAME(D &d, A &a, AS &as, B &b, BS &bs, E &&...e)                   \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::product_text<PHASE>("pto." OP ".mx ins($1, $2, $3, $4 : #1, #2, #3, #4) outs($0 : #0)"), d, a, as, b, bs); \
    }                                                                                             \
    template <PREFIX typename D, typename A, typename AS, typename B, typename BS, typename C, typename... E> \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<C>, Events<E...>> NAME(D &d, A &a, AS &as, B &b, BS &bs, C &bias, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::product_text<PHASE>("pto." OP ".mx.bias ins($1, $2, $3, $4, $5 : #1, #2, #3, #4, #5) outs($0 : #0)"), d, a, as, b, bs, bias); \
    }                                                                                             \
    template <PREFIX typename D, typename A, typename AS, typename B, typename BS, typename... E> \
    PTOSIM_CALLED std::enable_if_t<ptosim::are_tiles<A, AS, B, BS>, Events<E...>> NAME(D &d, D &c, A &a, AS &as, B &b, BS &bs, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN(ptosim::product_text<PHASE>("pto." OP ".mx.acc ins($1, $2, $3, $4, $5 : #1, #2, #3, #4, #5) outs($0 : #0)"), d, c, a, as, b, bs); \
    }
PTOSIM_PHASES(PTOSIM_PRODUCT_MX, TMATMUL_MX, "tmatmul")
PTOSIM_PHASES(PTOSIM_PRODUCT_MX, TGEMV_MX, "tgemv")

}  // namespace pto
