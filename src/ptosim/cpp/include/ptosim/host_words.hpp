// Words of the core and of its host (isa/22 section 7), and intrinsics that are not supported yet.
#pragma once
#include "raw_words.hpp"

// --- where the program runs ------------------------------------------------------------------------------------------

inline int64_t get_block_idx() { return ptosim::state().block; }
inline int64_t get_block_num() { return ptosim::state().blocks; }
inline int64_t get_subblockid() { return ptosim::state().half; }
inline int64_t get_subblockdim() { return 2; }
inline int64_t get_coreid() { return ptosim::state().block; }
inline int64_t get_task_ration() { return ptosim::state().halves; }
#define block_idx (get_block_idx())
#define block_num (get_block_num())
inline int64_t get_ctrl() { return ptosim::state().ctrl; }
inline void set_ctrl(uint64_t bits) { ptosim::state().ctrl = static_cast<int64_t>(bits); }
inline uint64_t sbitset0(uint64_t bits, int64_t index) { return bits & ~(uint64_t{1} << (index & 63)); }
inline uint64_t sbitset1(uint64_t bits, int64_t index) { return bits | (uint64_t{1} << (index & 63)); }
inline void set_mask_norm() {}
inline void set_mask_count() {}
inline void set_vector_mask(uint64_t, uint64_t) {}
inline void set_atomic_none() {}
inline void set_atomic_add() {}
inline void set_atomic_f32() {}
inline void set_atomic_f16() {}
inline void set_atomic_s32() {}
inline void set_atomic_s16() {}
inline void set_atomic_s8() {}
inline void set_padding(uint64_t) {}
PTOSIM_CALLED inline int64_t get_sys_cnt() { return ptosim::state().clock += 1; }
inline int64_t get_syscnt() { return get_sys_cnt(); }
PTOSIM_CALLED inline void dsb(mem_dsb_t memory = DSB_ALL)
{
    constexpr const char *texts[] = {"pto.dsb \"ALL\"", "pto.dsb \"DDR\"", "pto.dsb \"UB\"", "pto.dsb \"SEQ\""};
    ptosim::record(PTOSIM_FRAME, texts[memory & 3]);
}
template <typename P, typename... M> PTOSIM_CALLED void dcci(P *pointer, M...) { ptosim::touched(PTOSIM_FRAME, pointer); }
inline void mem_bar(mem_t) {}

#define PTO_ASSERT(condition, ...)                                                                \
    do {                                                                                          \
        if (!(condition))                                                                         \
            ptosim::fail(nullptr, "trap", "the assertion %s does not hold", #condition);     \
    } while (0)
#define PTO_CPU_ASSERT(...) ((void)0)

namespace cce {
template <typename... A> void printf(const char *format, A... arguments) { ptosim::say(format, arguments...); }
inline void printf(const char *text) { ptosim::say("%s", text); }
}  // namespace cce
template <typename T> T __cce_get_tile_ptr(T data) { return data; }

// --- not supported yet -----------------------------------------------------------------------------------------------

namespace ptosim {
template <typename...> constexpr bool never = false;
}
namespace pto {
#define PTOSIM_NOT_YET(NAME)                                                                      \
    template <auto... N, typename... T> RecordEvent NAME(T &&...)                                 \
    {                                                                                             \
        static_assert(ptosim::never<T...>, #NAME " is not supported by ptosim yet");              \
        return {};                                                                                \
    }
#define PTOSIM_NO_SUCH_TYPE(NAME)                                                                 \
    struct NAME {                                                                                 \
        template <typename... T> NAME(T &&...)                                                    \
        {                                                                                         \
            static_assert(ptosim::never<T...>, #NAME " is not supported by ptosim yet");          \
        }                                                                                         \
    }
PTOSIM_NOT_YET(TIMG2COL)
PTOSIM_NOT_YET(TSETFMATRIX)
PTOSIM_NOT_YET(TSET_IMG2COL_RPT)
PTOSIM_NOT_YET(TSET_IMG2COL_PADDING)
template <int...> struct ConvTileShape {};
template <TileType, typename, int, Layout, typename> PTOSIM_NO_SUCH_TYPE(ConvTile);
namespace comm {
enum class NotifyOp { AtomicAdd, Set };
enum class WaitCmp { EQ, NE, GT, GE, LT, LE };
enum class ReduceOp { Sum, Max, Min };
enum class DmaEngine { SDMA, URMA };
PTOSIM_NO_SUCH_TYPE(Signal);
template <int...> PTOSIM_NO_SUCH_TYPE(Signal2D);
template <typename> PTOSIM_NO_SUCH_TYPE(ParallelGroup);
PTOSIM_NO_SUCH_TYPE(AsyncSession);
PTOSIM_NO_SUCH_TYPE(AsyncEvent);
PTOSIM_NOT_YET(TNOTIFY)
PTOSIM_NOT_YET(TWAIT)
PTOSIM_NOT_YET(TTEST)
PTOSIM_NOT_YET(TPUT)
PTOSIM_NOT_YET(TGET)
PTOSIM_NOT_YET(TBROADCAST)
PTOSIM_NOT_YET(TSCATTER)
PTOSIM_NOT_YET(TGATHER)
PTOSIM_NOT_YET(TREDUCE)
PTOSIM_NOT_YET(TPUT_ASYNC)
PTOSIM_NOT_YET(TGET_ASYNC)
}  // namespace comm

#define PTOSIM_ALIAS(NAME)                                                                        \
    template <typename... T> decltype(auto) NAME##_IMPL(T &&...operands) { return NAME(operands...); }
PTOSIM_ALIAS(TCONCAT)
PTOSIM_ALIAS(TCOLEXPAND)
PTOSIM_ALIAS(MGATHER)
PTOSIM_ALIAS(MSCATTER)
}  // namespace pto
