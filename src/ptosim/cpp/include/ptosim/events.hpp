// Flags, barriers and events (isa/22 section 3).
#pragma once
#include "recording.hpp"

namespace ptosim {

constexpr const char *pipe_names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "ALL", "MTE4", "MTE5", "V2", "FIX"};

inline const char *name_of(void *frame, const char *word, pipe_t pipe)
{
    if (pipe < 0 || pipe > 10)
        fail(frame, "invalid", "%s names a pipe that does not exist", word);
    return pipe_names[pipe];
}

template <int Tag> inline int64_t flagged(void *frame, const char *word, pipe_t source, pipe_t destination, int64_t id)
{
    static const char *known[2][16][16];
    name_of(frame, word, source);
    name_of(frame, word, destination);
    const char *&text = known[word[0] == 'w'][source][destination];
    if (text == nullptr)
        text = kept("%s %s %s", word, pipe_names[source], pipe_names[destination]);
    return record(frame, text, Index{id});
}

}  // namespace ptosim

// --- flags and barriers ----------------------------------------------------------------------------------------------

PTOSIM_CALLED inline void set_flag(pipe_t source, pipe_t destination, int id)
{
    ptosim::flagged<0>(PTOSIM_FRAME, "set_flag", source, destination, id);
}
PTOSIM_CALLED inline void wait_flag(pipe_t source, pipe_t destination, int id)
{
    ptosim::flagged<0>(PTOSIM_FRAME, "wait_flag", source, destination, id);
}
PTOSIM_CALLED inline void pipe_barrier(pipe_t pipe)
{
    ptosim::record(PTOSIM_FRAME, ptosim::kept("pto.barrier <PIPE_%s>", ptosim::name_of(PTOSIM_FRAME, "pipe_barrier", pipe)));
}
PTOSIM_CALLED inline void get_buf(pipe_t pipe, int id, int mode = 0)
{
    ptosim::record(PTOSIM_FRAME, ptosim::kept("get_buf %s %d", ptosim::name_of(PTOSIM_FRAME, "get_buf", pipe), mode), ptosim::Index{id});
}
PTOSIM_CALLED inline void rls_buf(pipe_t pipe, int id, int mode = 0)
{
    ptosim::record(PTOSIM_FRAME, ptosim::kept("rls_buf %s %d", ptosim::name_of(PTOSIM_FRAME, "rls_buf", pipe), mode), ptosim::Index{id});
}

// --- between cores ---------------------------------------------------------------------------------------------------

PTOSIM_CALLED inline void set_intra_block(pipe_t pipe, int id)
{
    ptosim::record(PTOSIM_FRAME, ptosim::kept("intra set_intra_block %s", ptosim::name_of(PTOSIM_FRAME, "set_intra_block", pipe)), ptosim::Index{id});
}
PTOSIM_CALLED inline void wait_intra_block(pipe_t pipe, int id)
{
    ptosim::record(PTOSIM_FRAME, ptosim::kept("intra wait_intra_block %s", ptosim::name_of(PTOSIM_FRAME, "wait_intra_block", pipe)), ptosim::Index{id});
}
// A message as ffts_cross_core_sync takes it: 1 in bit 0, the mode in bits 4-5, the flag in bits 8-11.
#define PTOSIM_FFTS_MESSAGE(mode, flag) ((uint64_t)(0x1 | (((mode) & 0x3) << 4) | (((flag) & 0xf) << 8)))
inline uint64_t getFFTSMsg(uint64_t mode, uint64_t flag) { return PTOSIM_FFTS_MESSAGE(mode, flag); }
namespace pto {
inline uint16_t getFFTSMsg(uint16_t mode, uint16_t flag, uint16_t base = 0x1)
{
    return static_cast<uint16_t>((base & 0xf) | ((mode & 0x3) << 4) | ((flag & 0xf) << 8));
}
}  // namespace pto
PTOSIM_CALLED inline void ffts_cross_core_sync(pipe_t pipe, uint64_t message)
{
    ptosim::record(PTOSIM_FRAME, ptosim::kept("cross set %s %d", ptosim::name_of(PTOSIM_FRAME, "ffts_cross_core_sync", pipe), static_cast<int>((message >> 4) & 3)),
                   ptosim::Index{static_cast<int64_t>((message >> 8) & 15)});
}
PTOSIM_CALLED inline void wait_flag_dev(int id)
{
    ptosim::record(PTOSIM_FRAME, "cross wait S 2", ptosim::Index{id});
}
PTOSIM_CALLED inline void wait_flag_dev(pipe_t pipe, int id)
{
    ptosim::record(PTOSIM_FRAME, ptosim::kept("cross wait %s 2", ptosim::name_of(PTOSIM_FRAME, "wait_flag_dev", pipe)), ptosim::Index{id});
}
inline void set_ffts_base_addr(uint64_t) {}
inline void set_cross_core_sync_base(uint64_t) {}

namespace pto {

// --- events ----------------------------------------------------------------------------------------------------------

struct RecordEvent {
    int64_t ptosim_record = -1;
};

constexpr pipe_t ptosim_pipe(Op op)
{
    switch (op) {
    case Op::TLOAD:
    case Op::TEXPANDS_MAT:
    case Op::TPREFETCH:
        return PIPE_MTE2;
    case Op::TSTORE_VEC:
    case Op::TSTORE_MAT:
        return PIPE_MTE3;
    case Op::SCALAR:
    case Op::TRESHAPE:
    case Op::TCI:
    case Op::TSETFMATRIX:
    case Op::TSET_IMG2COL_RPT:
    case Op::TSET_IMG2COL_PADDING:
        return PIPE_S;
    case Op::TMOV_M2B:
    case Op::TMOV_M2L:
    case Op::TMOV_M2R:
    case Op::TEXTRACT_M2LR:
    case Op::TIMG2COL:
        return PIPE_MTE1;
    case Op::TMATMUL:
    case Op::TGEMV:
    case Op::TMATMUL_MX:
    case Op::TGEMV_MX:
        return PIPE_M;
    case Op::TMOV_V2M:
    case Op::TEXTRACT_V2M:
    case Op::TMOV_M2S:
    case Op::TMOV_A2V:
    case Op::TMOV_A2M:
    case Op::TSTORE_ACC:
    case Op::TEXTRACT_A2M:
    case Op::TINSERT_A2M:
        return PIPE_FIX;
    case Op::OP_COUNT:
        return PIPE_ALL;
    default:
        return PIPE_V;
    }
}

template <pipe_t Source, pipe_t Destination> struct EventIdCounter {
    static event_t GetNextId() { return static_cast<event_t>(ptosim::next_event(Source, Destination)); }
    static event_t PeekNextId() { return static_cast<event_t>(ptosim::next_event(Source, -1 - Destination)); }
    static void Reset() { ptosim::next_event(-1 - Source, Destination); }
};

template <Op SrcOp, Op DstOp, bool AutoToken = true, event_t EventID = EVENT_ID0> struct Event {
    static constexpr pipe_t srcPipe = ptosim_pipe(SrcOp);
    static constexpr pipe_t dstPipe = ptosim_pipe(DstOp);
    static constexpr bool ptosim_crosses = SrcOp == Op::TMOV_A2V || SrcOp == Op::TMOV_V2M || SrcOp == Op::TEXTRACT_V2M;
    static_assert(SrcOp != DstOp, "an Event stands between two different operations");
    static_assert(srcPipe != dstPipe, "an Event stands between operations of two different pipes; use TSYNC<Op>() within one");

    event_t token;

    Event() : token(AutoToken ? EventIdCounter<srcPipe, dstPipe>::GetNextId() : EventID) {}
    PTOSIM_CALLED Event(RecordEvent) : token(AutoToken ? EventIdCounter<srcPipe, dstPipe>::GetNextId() : EventID)
    {
        ptosim_set(PTOSIM_FRAME);
    }
    PTOSIM_CALLED Event &operator=(RecordEvent)
    {
        ptosim_set(PTOSIM_FRAME);
        return *this;
    }

    PTOSIM_CALLED Event &InitAddr(uint64_t) { return *this; }
    PTOSIM_CALLED Event &Init() { return ptosim_set(PTOSIM_FRAME); }
    PTOSIM_CALLED Event &Record() { return ptosim_set(PTOSIM_FRAME); }
    PTOSIM_CALLED Event &Wait() { return ptosim_wait(PTOSIM_FRAME); }
    template <uint8_t CrossCoreId> PTOSIM_CALLED Event &Init() { return ptosim_signal(PTOSIM_FRAME, CrossCoreId); }
    template <uint8_t CrossCoreId> PTOSIM_CALLED Event &Record() { return ptosim_signal(PTOSIM_FRAME, CrossCoreId); }
    template <uint8_t CrossCoreId> PTOSIM_CALLED Event &Wait()
    {
#if __NPU_ARCH__ == 2201
        ptosim::record(PTOSIM_FRAME, "cross wait S 2", ptosim::Index{CrossCoreId});
#else
        const char *text = ptosim::kept("intra wait_intra_block %s", ptosim::pipe_names[dstPipe]);
        ptosim::record(PTOSIM_FRAME, text, ptosim::Index{CrossCoreId});
        if constexpr (SrcOp == Op::TMOV_V2M || SrcOp == Op::TEXTRACT_V2M)
            ptosim::record(PTOSIM_FRAME, text, ptosim::Index{CrossCoreId + 16});
#endif
        return *this;
    }

    Event &ptosim_set(void *frame)
    {
        ptosim::flagged<0>(frame, "set_flag", srcPipe, dstPipe, token);
        return *this;
    }
    Event &ptosim_wait(void *frame)
    {
        ptosim::flagged<0>(frame, "wait_flag", srcPipe, dstPipe, token);
        return *this;
    }
    Event &ptosim_signal(void *frame, int id)
    {
#if __NPU_ARCH__ == 2201
        ptosim::record(frame, ptosim::kept("cross set %s 2", ptosim::pipe_names[srcPipe]), ptosim::Index{id});
#else
        const char *text = ptosim::kept("intra set_intra_block %s", ptosim::pipe_names[srcPipe]);
        ptosim::record(frame, text, ptosim::Index{id});
        if constexpr (SrcOp == Op::TMOV_A2V)
            ptosim::record(frame, text, ptosim::Index{id + 16});
#endif
        return *this;
    }
};

}  // namespace pto
namespace ptosim {

template <typename E> struct is_event_of : std::false_type {};
template <pto::Op A, pto::Op B, bool T, event_t I> struct is_event_of<pto::Event<A, B, T, I>> : std::true_type {};
template <> struct is_event_of<pto::RecordEvent> : std::true_type {};
template <typename E> constexpr bool is_event = is_event_of<std::remove_cv_t<std::remove_reference_t<E>>>::value;
template <typename... E> using Events = std::enable_if_t<(is_event<E> && ...), pto::RecordEvent>;

inline void await_one(void *frame, const pto::RecordEvent &event)
{
    record(frame, "after", Index{event.ptosim_record});
}
template <pto::Op A, pto::Op B, bool T, event_t I> void await_one(void *frame, pto::Event<A, B, T, I> &event)
{
    event.ptosim_wait(frame);
}
template <typename... E> void await(void *frame, E &...events) { (await_one(frame, events), ...); }

}  // namespace ptosim
namespace pto {

template <typename... E> PTOSIM_CALLED ptosim::Events<E...> TSYNC(E &&...events)
{
    void *frame = PTOSIM_FRAME;
    auto wait = [frame](auto &event) {
        if constexpr (std::is_same_v<std::remove_cv_t<std::remove_reference_t<decltype(event)>>, RecordEvent>)
            ptosim::record(frame, "after all", ptosim::Index{event.ptosim_record});
        else
            event.ptosim_wait(frame);
    };
    (wait(events), ...);
    return {};
}

template <Op Class> PTOSIM_CALLED void TSYNC()
{
    constexpr pipe_t pipe = ptosim_pipe(Class);
#if __NPU_ARCH__ == 2201
    static_assert(pipe == PIPE_V, "TSYNC<Op>() takes an operation of V on a2 and a3");
#else
    static_assert(pipe == PIPE_MTE2 || pipe == PIPE_MTE3 || pipe == PIPE_ALL, "TSYNC<Op>() takes an operation of MTE2, MTE3 or all pipes on a5");
#endif
    ptosim::record(PTOSIM_FRAME, ptosim::kept("pto.barrier <PIPE_%s>", ptosim::pipe_names[pipe]));
}

}  // namespace pto
