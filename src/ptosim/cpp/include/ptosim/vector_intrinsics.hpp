// Vector intrinsics: each is one line with its name, its form as `.pto` text, and its operands, destination first.
// In a form $n is an operand and #n its type.
#pragma once
#include "events.hpp"
#include "tile.hpp"

#define PTOSIM_RETURN(TEXT, ...)                                \
    void *frame = PTOSIM_FRAME;                                 \
    ptosim::await(frame, e...);                                 \
    return {ptosim::record(frame, TEXT, __VA_ARGS__)}

namespace ptosim {
constexpr const char *compares[] = {"eq", "ne", "lt", "le", "gt", "ge"};
constexpr const char *roundings[] = {"CAST_RINT", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD"};
constexpr const char *patterns[] = {"", "P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"};
template <auto Precision> constexpr bool is_high = static_cast<int>(Precision) == 1;
template <typename D> using ElementOf = typename std::remove_cv_t<D>::DType;

inline const char *compared(const char *before, pto::CmpMode mode, const char *behind)
{
    return kept("%s{cmpMode = #pto<cmp %s>}%s", before, compares[static_cast<int>(mode) % 6], behind);
}
}  // namespace ptosim

namespace pto {
using ptosim::ElementOf;
using ptosim::Events;

#define PTOSIM_UNARY(NAME, OP)                                                                    \
    template <typename D, typename S, typename... E> PTOSIM_CALLED Events<E...> NAME(D &d, S &s, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($1 : #1) outs($0 : #0)", d, s);                             \
    }
#define PTOSIM_UNARY_PRECISE(NAME, OP, WORD)                                                      \
    PTOSIM_UNARY(NAME, OP)                                                                        \
    template <auto Precision, typename D, typename S, typename... E>                    \
    PTOSIM_CALLED Events<E...> NAME(D &d, S &s, E &&...e)                                         \
    {                                                                                             \
        if constexpr (ptosim::is_high<Precision>) {                                               \
            PTOSIM_RETURN("pto." OP " ins($1 : #1) outs($0 : #0) {precisionType = #pto<" WORD " high_precision>}", d, s); \
        } else {                                                                                  \
            PTOSIM_RETURN("pto." OP " ins($1 : #1) outs($0 : #0)", d, s);                         \
        }                                                                                         \
    }
#define PTOSIM_BINARY(NAME, OP)                                                                   \
    template <typename D, typename A, typename B = A, typename... E>                              \
    PTOSIM_CALLED Events<E...> NAME(D &d, A &a, B &b, E &&...e)                                   \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($1, $2 : #1, #2) outs($0 : #0)", d, a, b);                  \
    }
#define PTOSIM_BINARY_PRECISE(NAME, OP, WORD)                                                     \
    PTOSIM_BINARY(NAME, OP)                                                                       \
    template <auto Precision, typename D, typename A, typename B = A, typename... E>    \
    PTOSIM_CALLED Events<E...> NAME(D &d, A &a, B &b, E &&...e)                                   \
    {                                                                                             \
        if constexpr (ptosim::is_high<Precision>) {                                               \
            PTOSIM_RETURN("pto." OP " ins($1, $2 : #1, #2) outs($0 : #0) {precisionType = #pto<" WORD " high_precision>}", d, a, b); \
        } else {                                                                                  \
            PTOSIM_RETURN("pto." OP " ins($1, $2 : #1, #2) outs($0 : #0)", d, a, b);              \
        }                                                                                         \
    }
#define PTOSIM_BINARY_TMP(NAME, OP)                                                               \
    template <typename D, typename A, typename B, typename T, typename... E>                      \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> NAME(D &d, A &a, B &b, T &tmp, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, a, b, tmp);     \
    }
#define PTOSIM_SCALAR(NAME, OP, OF)                                                               \
    template <typename D, typename S, typename... E>                                              \
    PTOSIM_CALLED Events<E...> NAME(D &d, S &s, ElementOf<OF> x, E &&...e)                        \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($1, $2 : #1, #2) outs($0 : #0)", d, s, ptosim::Scalar<ElementOf<OF>>{x}); \
    }
#define PTOSIM_SCALAR_TMP(NAME, OP, OF)                                                           \
    template <typename D, typename S, typename T, typename... E>                                  \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> NAME(D &d, S &s, ElementOf<OF> x, T &tmp, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, s, ptosim::Scalar<ElementOf<OF>>{x}, tmp); \
    }
#define PTOSIM_WITH_TMP(NAME, OP)                                                                 \
    template <typename D, typename S, typename T, typename... E>                                  \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> NAME(D &d, S &s, T &tmp, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($1, $2 : #1, #2) outs($0 : #0)", d, s, tmp);                \
    }

// --- element by element ----------------------------------------------------------------------------------------------

PTOSIM_BINARY(TADD, "tadd")
PTOSIM_BINARY(TSUB, "tsub")
PTOSIM_BINARY(TMUL, "tmul")
PTOSIM_BINARY(TMAX, "tmax")
PTOSIM_BINARY(TMIN, "tmin")
PTOSIM_BINARY(TAND, "tand")
PTOSIM_BINARY(TOR, "tor")
PTOSIM_BINARY(TSHL, "tshl")
PTOSIM_BINARY(TSHR, "tshr")
PTOSIM_BINARY_PRECISE(TFMOD, "tfmod", "fmod_precision")
PTOSIM_BINARY_PRECISE(TDIV, "tdiv", "div_precision")
PTOSIM_BINARY_TMP(TXOR, "txor")
PTOSIM_BINARY_TMP(TPRELU, "tprelu")
PTOSIM_BINARY_TMP(TREM, "trem")
template <auto Precision, typename D, typename A, typename B, typename T, typename... E>
PTOSIM_CALLED Events<E...> TREM(D &d, A &a, B &b, T &tmp, E &&...e)
{
    if constexpr (ptosim::is_high<Precision>) {
        PTOSIM_RETURN("pto.trem ins($1, $2, $3 : #1, #2, #3) outs($0 : #0) {precisionType = #pto<rem_precision high_precision>}", d, a, b, tmp);
    } else {
        PTOSIM_RETURN("pto.trem ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, a, b, tmp);
    }
}
PTOSIM_BINARY_TMP(TPOW, "tpow")
template <auto Precision, typename D, typename A, typename B, typename T, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TPOW(D &d, A &a, B &b, T &tmp, E &&...e)
{
    if constexpr (ptosim::is_high<Precision>) {
        PTOSIM_RETURN("pto.tpow ins($1, $2, $3 : #1, #2, #3) outs($0 : #0) {precisionType = #pto<pow_precision high_precision>}", d, a, b, tmp);
    } else {
        PTOSIM_RETURN("pto.tpow ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, a, b, tmp);
    }
}
PTOSIM_BINARY(TPOW, "tpow")

PTOSIM_UNARY(TABS, "tabs")
PTOSIM_UNARY(TNEG, "tneg")
PTOSIM_UNARY(TNOT, "tnot")
PTOSIM_UNARY(TRELU, "trelu")
PTOSIM_UNARY_PRECISE(TEXP, "texp", "exp_precision")
PTOSIM_UNARY_PRECISE(TLOG, "tlog", "log_precision")
PTOSIM_UNARY_PRECISE(TSQRT, "tsqrt", "sqrt_precision")
PTOSIM_UNARY_PRECISE(TRSQRT, "trsqrt", "rsqrt_precision")
PTOSIM_UNARY_PRECISE(TRECIP, "trecip", "recip_precision")
PTOSIM_WITH_TMP(TRSQRT, "trsqrt")
template <auto Precision, typename D, typename S, typename T, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TRSQRT(D &d, S &s, T &tmp, E &&...e)
{
    if constexpr (ptosim::is_high<Precision>) {
        PTOSIM_RETURN("pto.trsqrt ins($1, $2 : #1, #2) outs($0 : #0) {precisionType = #pto<rsqrt_precision high_precision>}", d, s, tmp);
    } else {
        PTOSIM_RETURN("pto.trsqrt ins($1, $2 : #1, #2) outs($0 : #0)", d, s, tmp);
    }
}

PTOSIM_SCALAR(TADDS, "tadds", S)
PTOSIM_SCALAR(TSUBS, "tsubs", S)
PTOSIM_SCALAR(TMULS, "tmuls", S)
PTOSIM_SCALAR(TMAXS, "tmaxs", S)
PTOSIM_SCALAR(TMINS, "tmins", S)
PTOSIM_SCALAR(TANDS, "tands", D)
PTOSIM_SCALAR(TORS, "tors", D)
PTOSIM_SCALAR(TSHLS, "tshls", D)
PTOSIM_SCALAR(TSHRS, "tshrs", D)
PTOSIM_SCALAR(TAXPY, "taxpy", S)
template <typename D, typename S, typename... E>
PTOSIM_CALLED Events<E...> TLRELU(D &d, S &s, ElementOf<S> x, E &&...e)
{
    PTOSIM_RETURN("pto.tlrelu ins($1, $2 : #1, #2) outs($0 : #0)", d, s, ptosim::Scalar<float>{static_cast<float>(x)});
}
#define PTOSIM_SCALAR_PRECISE(NAME, OP, WORD)                                                     \
    PTOSIM_SCALAR(NAME, OP, S)                                                                    \
    template <auto Precision, typename D, typename S, typename... E>                    \
    PTOSIM_CALLED Events<E...> NAME(D &d, S &s, ElementOf<S> x, E &&...e)                         \
    {                                                                                             \
        if constexpr (ptosim::is_high<Precision>) {                                               \
            PTOSIM_RETURN("pto." OP " ins($1, $2 : #1, #2) outs($0 : #0) {precisionType = #pto<" WORD " high_precision>}", d, s, \
                          ptosim::Scalar<ElementOf<S>>{x});                                       \
        } else {                                                                                  \
            PTOSIM_RETURN("pto." OP " ins($1, $2 : #1, #2) outs($0 : #0)", d, s, ptosim::Scalar<ElementOf<S>>{x}); \
        }                                                                                         \
    }
PTOSIM_SCALAR_PRECISE(TFMODS, "tfmods", "fmod_precision")
PTOSIM_SCALAR_TMP(TXORS, "txors", D)
PTOSIM_SCALAR_TMP(TREMS, "trems", S)
template <auto Precision, typename D, typename S, typename T, typename... E>
PTOSIM_CALLED Events<E...> TREMS(D &d, S &s, ElementOf<S> x, T &tmp, E &&...e)
{
    if constexpr (ptosim::is_high<Precision>) {
        PTOSIM_RETURN("pto.trems ins($1, $2, $3 : #1, #2, #3) outs($0 : #0) {precisionType = #pto<rem_precision high_precision>}", d, s,
                      ptosim::Scalar<ElementOf<S>>{x}, tmp);
    } else {
        PTOSIM_RETURN("pto.trems ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, s, ptosim::Scalar<ElementOf<S>>{x}, tmp);
    }
}
PTOSIM_SCALAR_TMP(TPOWS, "tpows", S)
template <auto Precision, typename D, typename S, typename T, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TPOWS(D &d, S &s, ElementOf<S> x, T &tmp, E &&...e)
{
    if constexpr (ptosim::is_high<Precision>) {
        PTOSIM_RETURN("pto.tpows ins($1, $2, $3 : #1, #2, #3) outs($0 : #0) {precisionType = #pto<pow_precision high_precision>}", d, s,
                      ptosim::Scalar<ElementOf<S>>{x}, tmp);
    } else {
        PTOSIM_RETURN("pto.tpows ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, s, ptosim::Scalar<ElementOf<S>>{x}, tmp);
    }
}
PTOSIM_SCALAR(TPOWS, "tpows", S)

PTOSIM_SCALAR(TDIVS, "tdivs", D)
template <typename D, typename S, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<S>, Events<E...>> TDIVS(D &d, ElementOf<D> x, S &s, E &&...e)
{
    PTOSIM_RETURN("pto.tdivs ins($1, $2 : #1, #2) outs($0 : #0)", d, ptosim::Scalar<ElementOf<D>>{x}, s);
}
template <auto Precision, typename D, typename S, typename... E>
PTOSIM_CALLED Events<E...> TDIVS(D &d, S &s, ElementOf<D> x, E &&...e)
{
    if constexpr (ptosim::is_high<Precision>) {
        PTOSIM_RETURN("pto.tdivs ins($1, $2 : #1, #2) outs($0 : #0) {precisionType = #pto<div_precision high_precision>}", d, s,
                      ptosim::Scalar<ElementOf<D>>{x});
    } else {
        PTOSIM_RETURN("pto.tdivs ins($1, $2 : #1, #2) outs($0 : #0)", d, s, ptosim::Scalar<ElementOf<D>>{x});
    }
}
template <auto Precision, typename D, typename S, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<S>, Events<E...>> TDIVS(D &d, ElementOf<D> x, S &s, E &&...e)
{
    if constexpr (ptosim::is_high<Precision>) {
        PTOSIM_RETURN("pto.tdivs ins($1, $2 : #1, #2) outs($0 : #0) {precisionType = #pto<div_precision high_precision>}", d,
                      ptosim::Scalar<ElementOf<D>>{x}, s);
    } else {
        PTOSIM_RETURN("pto.tdivs ins($1, $2 : #1, #2) outs($0 : #0)", d, ptosim::Scalar<ElementOf<D>>{x}, s);
    }
}

#define PTOSIM_CARRY(NAME, OP)                                                                    \
    template <typename T, typename... E> PTOSIM_CALLED Events<E...> NAME(T &d, T &a, T &b, T &c, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, a, b, c);       \
    }
PTOSIM_CARRY(TADDC, "taddc")
PTOSIM_CARRY(TSUBC, "tsubc")
#define PTOSIM_CARRY_SCALAR(NAME, OP)                                                             \
    template <typename T, typename... E>                                                          \
    PTOSIM_CALLED Events<E...> NAME(T &d, T &a, ElementOf<T> x, T &b, E &&...e)                   \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, a, ptosim::Scalar<ElementOf<T>>{x}, b); \
    }
PTOSIM_CARRY_SCALAR(TADDSC, "taddsc")
PTOSIM_CARRY_SCALAR(TSUBSC, "tsubsc")

// --- fills -----------------------------------------------------------------------------------------------------------

template <typename D, typename... E> PTOSIM_CALLED Events<E...> TEXPANDS(D &d, ElementOf<D> x, E &&...e)
{
    PTOSIM_RETURN("pto.texpands ins($1 : #1) outs($0 : #0)", d, ptosim::Scalar<ElementOf<D>>{x});
}
template <typename D, typename T, int descending, typename... E> PTOSIM_CALLED Events<E...> TCI(D &d, T start, E &&...e)
{
    if constexpr (descending != 0) {
        PTOSIM_RETURN("pto.tci ins($1 : #1) outs($0 : #0) {descending = true}", d, ptosim::Scalar<ElementOf<D>>{static_cast<ElementOf<D>>(start)});
    } else {
        PTOSIM_RETURN("pto.tci ins($1 : #1) outs($0 : #0) {descending = false}", d, ptosim::Scalar<ElementOf<D>>{static_cast<ElementOf<D>>(start)});
    }
}
template <typename D, typename Tmp, typename T, int descending, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<Tmp>, Events<E...>> TCI(D &d, T start, Tmp &tmp, E &&...e)
{
    if constexpr (descending != 0) {
        PTOSIM_RETURN("pto.tci ins($1, $2 : #1, #2) outs($0 : #0) {descending = true}", d, ptosim::Scalar<ElementOf<D>>{static_cast<ElementOf<D>>(start)}, tmp);
    } else {
        PTOSIM_RETURN("pto.tci ins($1, $2 : #1, #2) outs($0 : #0) {descending = false}", d, ptosim::Scalar<ElementOf<D>>{static_cast<ElementOf<D>>(start)}, tmp);
    }
}
template <typename D, int isUpperOrLower, typename... E> PTOSIM_CALLED Events<E...> TTRI(D &d, int diagonal, E &&...e)
{
    if constexpr (isUpperOrLower != 0) {
        PTOSIM_RETURN("pto.ttri ins($1 {upperOrLower = 1 : i32} : #1) outs($0 : #0)", d, ptosim::Scalar<int32_t>{diagonal});
    } else {
        PTOSIM_RETURN("pto.ttri ins($1 {upperOrLower = 0 : i32} : #1) outs($0 : #0)", d, ptosim::Scalar<int32_t>{diagonal});
    }
}
template <uint16_t Rounds = 10, typename D, typename... E>
PTOSIM_CALLED Events<E...> TRANDOM(D &d, TRandomKey &key, TRandomCounter &counter, E &&...e)
{
    using Number = ptosim::Scalar<int32_t>;
    auto word = [](uint32_t bits) { return Number{static_cast<int32_t>(bits)}; };
    PTOSIM_RETURN(ptosim::kept("pto.trandom ins($1, $2, $3, $4, $5, $6 {rounds = %d : i32} : #1, #2, #3, #4, #5, #6) outs($0 : #0)", Rounds),
                  d, word(key[0]), word(key[1]), word(counter[0]), word(counter[1]), word(counter[2]), word(counter[3]));
}

// --- compares, selects, conversions ----------------------------------------------------------------------------------

template <typename D, typename S, typename... E>
PTOSIM_CALLED Events<E...> TCMP(D &d, S &a, S &b, CmpMode mode, E &&...e)
{
    PTOSIM_RETURN(ptosim::compared("pto.tcmp ins($1, $2 ", mode, " : #1, #2) outs($0 : #0)"), d, a, b);
}
template <typename D, typename S, typename X, typename... E>
PTOSIM_CALLED Events<E...> TCMPS(D &d, S &s, X &&x, CmpMode mode, E &&...e)
{
    if constexpr (ptosim::is_tile<X>) {
        PTOSIM_RETURN(ptosim::compared("%r = pto.tgetval ins($2, $3 : #2, index) outs : @2\npto.tcmps ins($1, %r ", mode, " : #1, @2) outs($0 : #0)"),
                      d, s, x, ptosim::Index{0});
    } else {
        PTOSIM_RETURN(ptosim::compared("pto.tcmps ins($1, $2 ", mode, " : #1, #2) outs($0 : #0)"), d, s,
                      ptosim::Scalar<ElementOf<S>>{static_cast<ElementOf<S>>(x)});
    }
}
template <typename D, typename M, typename T, typename S, typename... E>
PTOSIM_CALLED Events<E...> TSEL(D &d, M &mask, S &a, S &b, T &tmp, E &&...e)
{
    PTOSIM_RETURN("pto.tsel ins($1, $2, $3, $4 : #1, #2, #3, #4) outs($0 : #0)", d, mask, a, b, tmp);
}
template <typename D, typename M, typename T, typename... E>
PTOSIM_CALLED Events<E...> TSEL(D &d, M &mask, D &a, D &b, T &tmp, E &&...e)
{
    PTOSIM_RETURN("pto.tsel ins($1, $2, $3, $4 : #1, #2, #3, #4) outs($0 : #0)", d, mask, a, b, tmp);
}
template <typename D, typename M, typename S, typename T, typename... E>
PTOSIM_CALLED Events<E...> TSELS(D &d, M &mask, S &s, T &tmp, ElementOf<S> x, E &&...e)
{
    PTOSIM_RETURN("pto.tsels ins($1, $2, $3, $4 : #1, #2, #3, #4) outs($0 : #0)", d, mask, s, tmp, ptosim::Scalar<ElementOf<S>>{x});
}

// --- reductions and broadcasts ---------------------------------------------------------------------------------------

PTOSIM_WITH_TMP(TROWSUM, "trowsum")
PTOSIM_WITH_TMP(TROWPROD, "trowprod")
PTOSIM_WITH_TMP(TROWMAX, "trowmax")
PTOSIM_WITH_TMP(TROWMIN, "trowmin")
PTOSIM_WITH_TMP(TROWARGMAX, "trowargmax")
PTOSIM_WITH_TMP(TROWARGMIN, "trowargmin")
PTOSIM_WITH_TMP(TCOLARGMAX, "tcolargmax")
PTOSIM_WITH_TMP(TCOLARGMIN, "tcolargmin")
#define PTOSIM_BOTH(NAME, VALUE, INDEX)                                                           \
    template <typename V, typename I, typename S, typename T, typename... E>                      \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> NAME(V &value, I &index, S &s, T &tmp, E &&...e) \
    {                                                                                             \
        void *frame = PTOSIM_FRAME;                                                               \
        ptosim::await(frame, e...);                                                               \
        ptosim::record(frame, "pto." VALUE " ins($1, $2 : #1, #2) outs($0 : #0)", value, s, tmp); \
        return {ptosim::record(frame, "pto." INDEX " ins($1, $2 : #1, #2) outs($0 : #0)", index, s, tmp)}; \
    }
PTOSIM_BOTH(TROWARGMAX, "trowmax", "trowargmax")
PTOSIM_BOTH(TROWARGMIN, "trowmin", "trowargmin")
PTOSIM_UNARY(TCOLSUM, "tcolsum")
template <typename D, typename S, typename T, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TCOLSUM(D &d, S &s, T &tmp, bool isBinary, E &&...e)
{
    const char *text = isBinary ? "pto.tcolsum ins($1, $2 {isBinary = true} : #1, #2) outs($0 : #0)"
                                : "pto.tcolsum ins($1, $2 {isBinary = false} : #1, #2) outs($0 : #0)";
    PTOSIM_RETURN(text, d, s, tmp);
}
PTOSIM_UNARY(TCOLMAX, "tcolmax")
PTOSIM_UNARY(TCOLMIN, "tcolmin")
PTOSIM_UNARY(TCOLPROD, "tcolprod")
PTOSIM_UNARY(TROWEXPAND, "trowexpand")
PTOSIM_UNARY(TCOLEXPAND, "tcolexpand")
#define PTOSIM_ROWS(NAME, OP)                                                                     \
    PTOSIM_BINARY(NAME, OP)                                                                       \
    template <typename D, typename A, typename B, typename T, typename... E>                      \
    PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> NAME(D &d, A &a, B &b, T &tmp, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, a, b, tmp);     \
    }
PTOSIM_ROWS(TROWEXPANDADD, "trowexpandadd")
PTOSIM_ROWS(TROWEXPANDSUB, "trowexpandsub")
PTOSIM_ROWS(TROWEXPANDMUL, "trowexpandmul")
PTOSIM_ROWS(TROWEXPANDMAX, "trowexpandmax")
PTOSIM_ROWS(TROWEXPANDMIN, "trowexpandmin")
PTOSIM_ROWS(TROWEXPANDEXPDIF, "trowexpandexpdif")
PTOSIM_BINARY_PRECISE(TROWEXPANDDIV, "trowexpanddiv", "div_precision")
PTOSIM_BINARY_TMP(TROWEXPANDDIV, "trowexpanddiv")
template <auto Precision, typename D, typename A, typename B, typename T, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TROWEXPANDDIV(D &d, A &a, B &b, T &tmp, E &&...e)
{
    if constexpr (ptosim::is_high<Precision>) {
        PTOSIM_RETURN("pto.trowexpanddiv ins($1, $2, $3 : #1, #2, #3) outs($0 : #0) {precisionType = #pto<div_precision high_precision>}", d, a, b, tmp);
    } else {
        PTOSIM_RETURN("pto.trowexpanddiv ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, a, b, tmp);
    }
}
PTOSIM_BINARY(TCOLEXPANDADD, "tcolexpandadd")
PTOSIM_BINARY(TCOLEXPANDSUB, "tcolexpandsub")
PTOSIM_BINARY(TCOLEXPANDMUL, "tcolexpandmul")
PTOSIM_BINARY(TCOLEXPANDMAX, "tcolexpandmax")
PTOSIM_BINARY(TCOLEXPANDMIN, "tcolexpandmin")
PTOSIM_BINARY(TCOLEXPANDEXPDIF, "tcolexpandexpdif")
PTOSIM_BINARY_PRECISE(TCOLEXPANDDIV, "tcolexpanddiv", "div_precision")
PTOSIM_BINARY(TPARTADD, "tpartadd")
PTOSIM_BINARY(TPARTMUL, "tpartmul")
PTOSIM_BINARY(TPARTMAX, "tpartmax")
PTOSIM_BINARY(TPARTMIN, "tpartmin")
#define PTOSIM_PART_BOTH(NAME, OP)                                                                \
    template <typename D, typename DI, typename A, typename B, typename AI, typename BI, typename... E> \
    PTOSIM_CALLED Events<E...> NAME(D &d, DI &di, A &a, B &b, AI &ia, BI &ib, E &&...e)           \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($2, $3, $4, $5 : #2, #3, #4, #5) outs($0, $1 : #0, #1)", d, di, a, b, ia, ib); \
    }
PTOSIM_PART_BOTH(TPARTARGMAX, "tpartargmax")
PTOSIM_PART_BOTH(TPARTARGMIN, "tpartargmin")

}  // namespace pto
