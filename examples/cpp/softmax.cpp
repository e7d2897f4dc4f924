// Softmax of each row. A block owns ROWS rows; events order the pipes.
#include <pto/pto-inst.hpp>
using namespace pto;

template <int ROWS, int COLS>
__global__ AICORE void softmax(__gm__ float *out, __gm__ float *in)
{
    using Rows = GlobalTensor<float, Shape<1, 1, 1, ROWS, COLS>, Stride<1, 1, 1, COLS, 1>>;
    using Part = Tile<TileType::Vec, float, ROWS, COLS>;
    using Column = Tile<TileType::Vec, float, ROWS, 1, BLayout::ColMajor>;
    constexpr int SIZE = ROWS * COLS * sizeof(float);

    int offset = get_block_idx() * ROWS * COLS;
    Rows gin(in + offset), gout(out + offset);
    Part x, e, tmp;
    Column most, sum;
    TASSIGN(x, 0);
    TASSIGN(e, SIZE);
    TASSIGN(tmp, 2 * SIZE);
    TASSIGN(most, 3 * SIZE);
    TASSIGN(sum, 3 * SIZE + 1024);

    Event<Op::TLOAD, Op::TROWMAX> loaded;
    Event<Op::TROWEXPANDDIV, Op::TSTORE_VEC> divided;
    loaded = TLOAD(x, gin);
    TROWMAX(most, x, tmp, loaded);
    TROWEXPANDSUB(e, x, most);
    TEXP(e, e);
    TROWSUM(sum, e, tmp);
    divided = TROWEXPANDDIV(e, e, sum);
    TSTORE(gout, e, divided);
}
