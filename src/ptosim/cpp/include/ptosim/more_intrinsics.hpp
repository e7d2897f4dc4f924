// Vector intrinsics with forms of their own: conversions, sorts, gathers, fills, quantisation.
#pragma once
#include "vector_intrinsics.hpp"

namespace ptosim {

// Without saturation given, a5 has it on for every pair but these.
template <typename S, typename D> constexpr pto::SaturationMode saturation()
{
    constexpr bool off = (std::is_same_v<S, half> && (std::is_same_v<D, uint8_t> || std::is_same_v<D, int8_t> || std::is_same_v<D, int16_t>)) ||
                         (std::is_same_v<S, float> && std::is_same_v<D, int16_t>) ||
                         (std::is_same_v<S, int64_t> && std::is_same_v<D, int32_t>) ||
                         (std::is_same_v<S, int32_t> && std::is_same_v<D, int16_t>);
    return off ? pto::SaturationMode::OFF : pto::SaturationMode::ON;
}

inline const char *converted(const char *before, pto::RoundMode mode, pto::SaturationMode saturation, const char *behind)
{
    return kept("pto.tcvt ins(%s {rmode = #pto<round_mode %s>, satmode = #pto<saturation_mode %s>} : %s", before,
                roundings[static_cast<int>(mode) % 7], saturation == pto::SaturationMode::ON ? "ON" : "OFF", behind);
}

}  // namespace ptosim

namespace pto {

template <typename D, typename S, typename... E>
PTOSIM_CALLED Events<E...> TCVT(D &d, S &s, RoundMode mode, SaturationMode saturation, E &&...e)
{
    PTOSIM_RETURN(ptosim::converted("$1", mode, saturation, "#1) outs($0 : #0)"), d, s);
}
template <typename D, typename S, typename... E> PTOSIM_CALLED Events<E...> TCVT(D &d, S &s, RoundMode mode, E &&...e)
{
    PTOSIM_RETURN(ptosim::converted("$1", mode, ptosim::saturation<ElementOf<S>, ElementOf<D>>(), "#1) outs($0 : #0)"), d, s);
}
template <typename D, typename S, typename T, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TCVT(D &d, S &s, T &tmp, RoundMode mode, SaturationMode saturation, E &&...e)
{
    PTOSIM_RETURN(ptosim::converted("$1, $2", mode, saturation, "#1, #2) outs($0 : #0)"), d, s, tmp);
}
template <typename D, typename S, typename T, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TCVT(D &d, S &s, T &tmp, RoundMode mode, E &&...e)
{
    PTOSIM_RETURN(ptosim::converted("$1, $2", mode, ptosim::saturation<ElementOf<S>, ElementOf<D>>(), "#1, #2) outs($0 : #0)"), d, s, tmp);
}

// --- rearrangement ---------------------------------------------------------------------------------------------------

PTOSIM_WITH_TMP(TTRANS, "ttrans")
PTOSIM_BINARY(TCONCAT, "tconcat")
template <typename D, typename A, typename B, typename IA, typename IB, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<IA> && ptosim::is_tile<IB>, Events<E...>> TCONCAT(D &d, A &a, B &b, IA &ia, IB &ib, E &&...e)
{
    PTOSIM_RETURN("pto.tconcatidx ins($1, $2, $3, $4 : #1, #2, #3, #4) outs($0 : #0)", d, a, b, ia, ib);
}
template <typename D, typename S, typename I, typename T, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<I> && ptosim::is_tile<T>, Events<E...>> TGATHER(D &d, S &s, I &idx, T &tmp, E &&...e)
{
    PTOSIM_RETURN("pto.tgather ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, s, idx, tmp);
}
template <typename D, typename S, typename I, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<I>, Events<E...>> TGATHER(D &d, S &s, I &idx, E &&...e)
{
    PTOSIM_RETURN("pto.tgather ins($1, $2 : #1, #2) outs($0 : #0)", d, s, idx);
}
template <typename D, typename S, MaskPattern Pattern, typename... E> PTOSIM_CALLED Events<E...> TGATHER(D &d, S &s, E &&...e)
{
    PTOSIM_RETURN(ptosim::kept("pto.tgather ins($1, {maskPattern = #pto.mask_pattern<%s>} : #1, \"row\") outs($0 : #0)",
                               ptosim::patterns[static_cast<int>(Pattern) & 7]),
                  d, s);
}
template <typename D, typename S, typename CD, typename T, CmpMode Mode, uint32_t Offset = 0, typename X, typename... E>
PTOSIM_CALLED Events<E...> TGATHER(D &d, S &s, X &&k, CD &cd, T &tmp, E &&...e)
{
    const char *behind = ptosim::kept("{cmpMode = #pto<cmp %s>, offset = %u : i32}", ptosim::compares[static_cast<int>(Mode) % 6], Offset);
    if constexpr (ptosim::is_tile<X>) {
        PTOSIM_RETURN(ptosim::kept("%%r = pto.tgetval ins($2, $5 : #2, index) outs : @2\npto.tgather ins($1, %%r, $4 : #1, @2, #4) outs($0, $3 : #0, #3) %s", behind),
                      d, s, k, cd, tmp, ptosim::Index{0});
    } else {
        PTOSIM_RETURN(ptosim::kept("pto.tgather ins($1, $2, $4 : #1, #2, #4) outs($0, $3 : #0, #3) %s", behind), d, s,
                      ptosim::Scalar<ElementOf<S>>{static_cast<ElementOf<S>>(k)}, cd, tmp);
    }
}
template <typename D, typename S, typename K, typename CD, typename T, CmpMode Mode, uint32_t Offset = 0, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<K>, Events<E...>> TGATHER(D &d, S &s, K &k, CD &cd, T &tmp, E &&...e)
{
    PTOSIM_RETURN(ptosim::kept("%%r = pto.tgetval ins($2, $5 : #2, index) outs : @2\npto.tgather ins($1, %%r, $4 : #1, @2, #4) outs($0, $3 : #0, #3) "
                               "{cmpMode = #pto<cmp %s>, offset = %u : i32}",
                               ptosim::compares[static_cast<int>(Mode) % 6], Offset),
                  d, s, k, cd, tmp, ptosim::Index{0});
}
PTOSIM_BINARY(TGATHERB, "tgatherb")
PTOSIM_BINARY(TSCATTER, "tscatter")
template <typename D, typename S, MaskPattern Pattern, typename... E> PTOSIM_CALLED Events<E...> TSCATTER(D &d, S &s, E &&...e)
{
    PTOSIM_RETURN(ptosim::kept("pto.tscatter ins($1, {maskPattern = #pto.mask_pattern<%s>} : #1, \"row\") outs($0 : #0)",
                               ptosim::patterns[static_cast<int>(Pattern) & 7]),
                  d, s);
}

constexpr const char *ptosim_gather_beyond[] = {"undefined", "clamp", "wrap", "zero"};
constexpr const char *ptosim_scatter_beyond[] = {"undefined", "skip", "clamp", "wrap"};
constexpr const char *ptosim_combined[] = {"none", "add", "max", "min"};

// Whether indices name rows, one for each row of the data, or single elements.
template <typename V, typename I> const char *ptosim_coalesce(const V &values, const I &indices)
{
    int rows = indices.GetValidRow(), cols = indices.GetValidCol();
    bool one = (rows == 1 && cols == values.GetValidRow()) || (cols == 1 && rows == values.GetValidRow());
    bool same = rows == values.GetValidRow() && cols == values.GetValidCol();
    return one && !same ? "row" : "elem";
}
template <GatherOOB Beyond = GatherOOB::Undefined, typename D, typename G, typename I, typename... E>
PTOSIM_CALLED Events<E...> MGATHER(D &d, G &g, I &idx, E &&...e)
{
    PTOSIM_RETURN(ptosim::kept("pto.mgather ins($1, $2 : #1, #2) outs($0 : #0) {coalesce = #pto<coalesce %s>, gatherOob = #pto<gather_oob %s>}",
                               ptosim_coalesce(d, idx), ptosim_gather_beyond[static_cast<int>(Beyond) & 3]),
                  d, g, idx);
}
template <ScatterAtomicOp Combined = ScatterAtomicOp::None, ScatterOOB Beyond = ScatterOOB::Undefined, typename G, typename S, typename I, typename... E>
PTOSIM_CALLED Events<E...> MSCATTER(G &g, S &s, I &idx, E &&...e)
{
    PTOSIM_RETURN(ptosim::kept("pto.mscatter ins($1, $2 : #1, #2) outs($0 : #0) {coalesce = #pto<coalesce %s>, scatterAtomicOp = "
                               "#pto<scatter_atomic_op %s>, scatterOob = #pto<scatter_oob %s>}",
                               ptosim_coalesce(s, idx), ptosim_combined[static_cast<int>(Combined) & 3],
                               ptosim_scatter_beyond[static_cast<int>(Beyond) & 3]),
                  g, s, idx);
}

// --- sorts -----------------------------------------------------------------------------------------------------------

PTOSIM_BINARY(TSORT32, "tsort32")
template <typename D, typename S, typename I, typename T, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<T>, Events<E...>> TSORT32(D &d, S &s, I &idx, T &tmp, E &&...e)
{
    PTOSIM_RETURN("pto.tsort32 ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, s, idx, tmp);
}
template <typename D, typename S, typename... E> PTOSIM_CALLED Events<E...> TMRGSORT(D &d, S &s, uint32_t blockLen, E &&...e)
{
    PTOSIM_RETURN("pto.tmrgsort ins($1, $2 : #1, #2) outs($0 : #0)", d, s, ptosim::Scalar<int32_t>{static_cast<int32_t>(blockLen)});
}
inline void ptosim_merged(void *frame, MrgSortExecutedNumList &list)
{
    int64_t bits = ptosim::ask(frame);
    std::memcpy(&list, &bits, 8);
}
#define PTOSIM_MERGE(TYPES, PARAMETERS, INS, KINDS, ...)                                          \
    template <typename D, typename T, TYPES, bool exhausted, typename... E>                       \
    PTOSIM_CALLED Events<E...> TMRGSORT(D &d, MrgSortExecutedNumList &executedNumList, T &tmp, PARAMETERS, E &&...e) \
    {                                                                                             \
        void *frame = PTOSIM_FRAME;                                                               \
        ptosim::await(frame, e...);                                                               \
        int64_t made = ptosim::record(                                                            \
            frame, exhausted ? "merge pto.tmrgsort ins(" INS ", $1 {exhausted = true} : " KINDS ", #1) outs($0, %list : #0, vector<4xi16>)" \
                             : "merge pto.tmrgsort ins(" INS ", $1 {exhausted = false} : " KINDS ", #1) outs($0, %list : #0, vector<4xi16>)", \
            d, tmp, __VA_ARGS__);                                                                 \
        ptosim_merged(frame, executedNumList);                                                    \
        return {made};                                                                            \
    }
#define PTOSIM_COMMA ,
PTOSIM_MERGE(typename A PTOSIM_COMMA typename B, A &a PTOSIM_COMMA B &b, "$2, $3", "#2, #3", a, b)
PTOSIM_MERGE(typename A PTOSIM_COMMA typename B PTOSIM_COMMA typename C, A &a PTOSIM_COMMA B &b PTOSIM_COMMA C &c, "$2, $3, $4", "#2, #3, #4", a, b, c)
PTOSIM_MERGE(typename A PTOSIM_COMMA typename B PTOSIM_COMMA typename C PTOSIM_COMMA typename F,
             A &a PTOSIM_COMMA B &b PTOSIM_COMMA C &c PTOSIM_COMMA F &f, "$2, $3, $4, $5", "#2, #3, #4, #5", a, b, c, f)

// --- fills of what is not valid, quantisation ------------------------------------------------------------------------

#define PTOSIM_FILL(NAME, OP)                                                                     \
    template <typename D, typename S, typename... E> PTOSIM_CALLED Events<E...> NAME(D &d, S &s, E &&...e) \
    {                                                                                             \
        PTOSIM_RETURN("pto." OP " ins($1 : #1) outs($0 : #0)", d, s);                             \
    }
PTOSIM_FILL(TFILLPAD, "tfillpad")
PTOSIM_FILL(TFILLPAD_INPLACE, "tfillpad_inplace")
PTOSIM_FILL(TFILLPAD_EXPAND, "tfillpad_expand")
template <typename D, PadValue Pad = PadValue::Zero, typename... E> PTOSIM_CALLED Events<E...> TFILLPAD(D &d, D &s, E &&...e)
{
    if constexpr (D::Loc == TileType::Mat) {
        constexpr const char *words[] = {"null", "zero", "max", "min"};
        PTOSIM_RETURN(ptosim::kept("pto.tfillpad ins($1 : #1) outs($0 : #0) {padValue = #pto.pad_value<%s>}", words[static_cast<int>(Pad) & 3]), d, s);
    } else {
        PTOSIM_RETURN("pto.tfillpad ins($1 : #1) outs($0 : #0)", d, s);
    }
}

template <QuantType Type, typename D, typename S, typename P, typename... E>
PTOSIM_CALLED Events<E...> TQUANT(D &d, S &s, P &scale, E &&...e)
{
    static_assert(Type != QuantType::MXFP8, "TQUANT<QuantType::MXFP8> also takes exp, max and scaling");
    PTOSIM_RETURN(Type == QuantType::INT8_SYM ? "pto.tquant ins($1, $2 : #1, #2) outs($0 : #0) {quant_type = #pto<quant_type INT8_SYM>}"
                                              : "pto.tquant ins($1, $2 : #1, #2) outs($0 : #0) {quant_type = #pto<quant_type INT8_ASYM>}",
                  d, s, scale);
}
template <QuantType Type, typename D, typename S, typename P, typename... E>
PTOSIM_CALLED Events<E...> TQUANT(D &d, S &s, P &scale, std::nullptr_t, E &&...e)
{
    static_assert(Type != QuantType::MXFP8, "TQUANT<QuantType::MXFP8> also takes exp, max and scaling");
    PTOSIM_RETURN(Type == QuantType::INT8_SYM ? "pto.tquant ins($1, $2 : #1, #2) outs($0 : #0) {quant_type = #pto<quant_type INT8_SYM>}"
                                              : "pto.tquant ins($1, $2 : #1, #2) outs($0 : #0) {quant_type = #pto<quant_type INT8_ASYM>}",
                  d, s, scale);
}
template <QuantType Type, typename D, typename S, typename P, typename O, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<O>, Events<E...>> TQUANT(D &d, S &s, P &scale, O *offset, E &&...e)
{
    if (offset == nullptr) {
        PTOSIM_RETURN(Type == QuantType::INT8_SYM ? "pto.tquant ins($1, $2 : #1, #2) outs($0 : #0) {quant_type = #pto<quant_type INT8_SYM>}"
                                                  : "pto.tquant ins($1, $2 : #1, #2) outs($0 : #0) {quant_type = #pto<quant_type INT8_ASYM>}",
                      d, s, scale);
    }
    PTOSIM_RETURN(Type == QuantType::INT8_SYM ? "pto.tquant ins($1, $2, $3 : #1, #2, #3) outs($0 : #0) {quant_type = #pto<quant_type INT8_SYM>}"
                                              : "pto.tquant ins($1, $2, $3 : #1, #2, #3) outs($0 : #0) {quant_type = #pto<quant_type INT8_ASYM>}",
                  d, s, scale, *offset);
}
template <QuantType Type, typename D, typename S, typename X, typename M, typename C, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<C>, Events<E...>> TQUANT(D &d, S &s, X *exp, M *max, C *scaling, E &&...e)
{
    PTOSIM_RETURN("pto.tquant.mx ins($1 : #1) outs($0, $2, $3, $4 : #0, #2, #3, #4) {quant_type = #pto<quant_type MXFP8>}", d, s, *exp, *max, *scaling);
}
template <QuantType Type, VecStoreMode Mode = VecStoreMode::ND, typename D, typename S, typename X, typename M, typename C, typename Z, typename... E>
PTOSIM_CALLED std::enable_if_t<ptosim::is_tile<Z>, Events<E...>> TQUANT(D &d, S &s, X *exp, M *max, C *scaling, Z *exp_zz, E &&...e)
{
    PTOSIM_RETURN(Mode == VecStoreMode::NZ
                      ? "pto.tquant.mx ins($1 : #1) outs($0, $2, $3, $4, $5 : #0, #2, #3, #4, #5) {quant_type = #pto<quant_type MXFP8>, storeMode = #pto<vec_store_mode nz>}"
                      : "pto.tquant.mx ins($1 : #1) outs($0, $2, $3, $4, $5 : #0, #2, #3, #4, #5) {quant_type = #pto<quant_type MXFP8>, storeMode = #pto<vec_store_mode nd>}",
                  d, s, *exp, *max, *scaling, *exp_zz);
}
template <typename D, typename S, typename P, typename O, typename... E>
PTOSIM_CALLED Events<E...> TDEQUANT(D &d, S &s, P &scale, O &offset, E &&...e)
{
    PTOSIM_RETURN("pto.tdequant ins($1, $2, $3 : #1, #2, #3) outs($0 : #0)", d, s, scale, offset);
}
template <HistByte Byte, typename D, typename S, typename I, typename... E>
PTOSIM_CALLED Events<E...> THISTOGRAM(D &d, S &s, I &idx, E &&...e)
{
    PTOSIM_RETURN(ptosim::kept("pto.thistogram ins($1, $2 : #1, #2) outs($0 : #0) {byte = %d : i32}", static_cast<int>(Byte)), d, s, idx);
}

constexpr const char *ptosim_formats[] = {"width8_precision4", "width8_precision2", "width10_precision6"};
template <PrintFormat Format = PrintFormat::Width8_Precision4, typename S> PTOSIM_CALLED void TPRINT(S &s)
{
    ptosim::record(PTOSIM_FRAME, ptosim::kept("pto.tprint ins($0 : #0) {printFormat = #pto<print_format %s>}", ptosim_formats[static_cast<int>(Format) % 3]), s);
}
template <PrintFormat Format = PrintFormat::Width8_Precision4, typename S, typename G> PTOSIM_CALLED void TPRINT(S &s, G &g)
{
    ptosim::record(PTOSIM_FRAME, ptosim::kept("pto.tprint ins($0, $1 : #0, #1) {printFormat = #pto<print_format %s>}", ptosim_formats[static_cast<int>(Format) % 3]), s, g);
}

}  // namespace pto
