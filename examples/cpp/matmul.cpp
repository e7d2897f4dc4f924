// c = a x b in half precision. A block owns 64 rows of a; tiles of 64 along k go through two buffers in turn.
#include <pto/pto-inst.hpp>
using namespace pto;

template <int K, int N>
__global__ AICORE void matmul(__gm__ float *c, __gm__ half *a, __gm__ half *b)
{
    constexpr int M = 64, STEP = 64;
    using RowsA = GlobalTensor<half, Shape<1, 1, 1, M, STEP>, Stride<M * K, M * K, M * K, K, 1>>;
    using RowsB = GlobalTensor<half, Shape<1, 1, 1, STEP, N>, Stride<K * N, K * N, K * N, N, 1>>;
    using RowsC = GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<M * N, M * N, M * N, N, 1>>;
    Tile<TileType::Mat, half, M, STEP, BLayout::ColMajor, M, STEP, SLayout::RowMajor> ma[2];
    Tile<TileType::Mat, half, STEP, N, BLayout::ColMajor, STEP, N, SLayout::RowMajor> mb[2];
    TileLeft<half, M, STEP> left[2];
    TileRight<half, STEP, N> right[2];
    TileAcc<float, M, N> sum;
    for (int i = 0; i < 2; i++) {
        TASSIGN(ma[i], i * 0x8000);
        TASSIGN(mb[i], 0x10000 + i * 0x8000);
        TASSIGN(left[i], i * 0x8000);
        TASSIGN(right[i], i * 0x8000);
        set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
        set_flag(PIPE_M, PIPE_MTE1, (event_t)i);
    }
    TASSIGN(sum, 0);

    int row = get_block_idx() * M;
    for (int k = 0; k < K / STEP; k++) {
        int s = k % 2;
        RowsA ga(a + row * K + k * STEP);
        RowsB gb(b + k * STEP * N);
        wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)s);
        TLOAD(ma[s], ga);
        TLOAD(mb[s], gb);
        set_flag(PIPE_MTE2, PIPE_MTE1, (event_t)s);
        wait_flag(PIPE_MTE2, PIPE_MTE1, (event_t)s);
        wait_flag(PIPE_M, PIPE_MTE1, (event_t)s);
        TMOV(left[s], ma[s]);
        TMOV(right[s], mb[s]);
        set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)s);
        set_flag(PIPE_MTE1, PIPE_M, (event_t)s);
        wait_flag(PIPE_MTE1, PIPE_M, (event_t)s);
        if (k == 0)
            TMATMUL(sum, left[s], right[s]);
        else
            TMATMUL_ACC(sum, sum, left[s], right[s]);
        set_flag(PIPE_M, PIPE_MTE1, (event_t)s);
    }
    for (int i = 0; i < 2; i++) {
        wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
        wait_flag(PIPE_M, PIPE_MTE1, (event_t)i);
    }

    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    RowsC gc(c + row * N);
    TSTORE(gc, sum);
}
