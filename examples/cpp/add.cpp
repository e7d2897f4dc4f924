// z = x + y over rows of 256 floats. Blocks take turns with tiles of 32 rows; the last tile may be short.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int ROWS = 32, COLS = 256;

__global__ AICORE void add(__gm__ float *z, __gm__ float *x, __gm__ float *y, int rows)
{
    using Shapes = Shape<1, 1, 1, -1, COLS>;
    using Strides = Stride<1, 1, 1, COLS, 1>;
    using Rows = GlobalTensor<float, Shapes, Strides>;
    using Part = Tile<TileType::Vec, float, ROWS, COLS, BLayout::RowMajor, -1, COLS>;

    for (int row = get_block_idx() * ROWS; row < rows; row += get_block_num() * ROWS) {
        int count = rows - row < ROWS ? rows - row : ROWS;
        Rows gx(x + row * COLS, Shapes(count)), gy(y + row * COLS, Shapes(count)), gz(z + row * COLS, Shapes(count));
        Part a(count), b(count), c(count);
        TASSIGN(a, 0x0);
        TASSIGN(b, 0x8000);
        TASSIGN(c, 0x10000);

        TLOAD(a, gx);
        TLOAD(b, gy);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TADD(c, a, b);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(gz, c);
        // the next turn uses the same buffers
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    }
}

#ifdef HOST
void launch(float *z, float *x, float *y, int rows, void *stream) { add<<<4, nullptr, stream>>>(z, x, y, rows); }
#endif
