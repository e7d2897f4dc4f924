// y = 2 * x for rows of 64 columns, in tiles of 32 rows that are spread over blocks; the last tile may be short.
#include <pto/pto-inst.hpp>

using namespace pto;

constexpr int ROWS = 32, COLUMNS = 64;

__global__ AICORE void NAME(__gm__ float *x, __gm__ float *y, int32_t rows)
{
    using Rows = GlobalTensor<float, Shape<1, 1, 1, -1, COLUMNS>, Stride<1, 1, 1, COLUMNS, 1>>;
    using V = Tile<TileType::Vec, float, ROWS, COLUMNS, BLayout::RowMajor, -1, -1>;
    const int step = get_block_num() * ROWS;
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    for (int row = get_block_idx() * ROWS; row < rows; row += step) {
        const int count = rows - row < ROWS ? rows - row : ROWS;
        Rows from(x + row * COLUMNS, Shape<1, 1, 1, -1, COLUMNS>(count)), to(y + row * COLUMNS, Shape<1, 1, 1, -1, COLUMNS>(count));
        V a(count, COLUMNS), b(count, COLUMNS);
        TASSIGN(a, 0x0);
        TASSIGN(b, 0x4000);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        TLOAD(a, from);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
        TMULS(b, a, 2.0f);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(to, b);
        set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    }
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
}
