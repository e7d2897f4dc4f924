"""A host program runs as it stands: its memory, its launches, its arguments and its exit code."""

from pathlib import Path

import pytest

import ptosim
from cpp.kernels import ADD, NEEDS_COMPILER, without
from cpp.test_library_kernels import FIFO
from ptosim.cpp_host import run_host

pytestmark = NEEDS_COMPILER

MAIN = """#include <acl/acl.h>
#include <cstring>
void launch(float *o, float *a, float *b, void *s);
int main(int count, char **words)
{
    const int n = 64 * 64;
    float *x, *y, *host;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    aclrtMalloc((void **)&x, n * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&y, n * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMallocHost((void **)&host, n * 4);
    for (int i = 0; i < n; i++)
        host[i] = i;
    aclrtMemcpy(x, n * 4, host, n * 4, ACL_MEMCPY_HOST_TO_DEVICE);
    launch(y, x, x, stream);
    launch(x, y, y, stream);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(host, n * 4, x, n * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    for (int i = 0; i < n; i++)
        if (host[i] != 4.0f * i)
            return 9;
    return count == 2 && strcmp(words[1], "hello") == 0 ? 0 : 5;
}
"""


def files(folder: Path, kernel: str) -> list[str]:
    (folder / "main.cpp").write_text(MAIN)
    (folder / "add.cpp").write_text(kernel)
    return [str(folder / "main.cpp"), str(folder / "add.cpp")]


def test_launches_change_the_memory_of_the_host(tmp_path: Path) -> None:
    assert run_host(files(tmp_path, ADD), ["hello"]) == 0
    assert run_host(files(tmp_path, ADD)) == 5


def test_a_launch_that_goes_wrong_is_a_diagnostic(tmp_path: Path) -> None:
    with pytest.raises(ptosim.PTOError, match="unmatched-wait"):
        run_host(files(tmp_path, without(ADD, "set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);")), ["hello"])


MIXED_MAIN = """#include <acl/acl.h>
#include <cstdio>
#include <cstdint>
void launch(float *o, uint16_t *a, uint16_t *b, int tiles, void *s);
int main()
{
    const int n = 64 * 64;
    float *out, *host;
    uint16_t *a, *b, *half;
    aclrtMalloc((void **)&out, 2 * n * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&a, 2 * n * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&b, n * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMallocHost((void **)&host, 2 * n * 4);
    aclrtMallocHost((void **)&half, 2 * n * 2);
    for (int i = 0; i < 2 * n; i++)
        half[i] = 0x3C00;  // 1.0
    aclrtMemcpy(a, 2 * n * 2, half, 2 * n * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(b, n * 2, half, n * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    launch(out, a, b, 2, nullptr);
    aclrtMemcpy(host, 2 * n * 4, out, 2 * n * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    int tiles = static_cast<int>(host[2 * n - 1]) / 64;  // what the second launch does depends on the first
    aclrtMemset(out, 2 * n * 4, 0, 2 * n * 4);
    launch(out, a, b, tiles, nullptr);
    aclrtMemcpy(host, 2 * n * 4, out, 2 * n * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    printf("%g %g\\n", host[0], host[2 * n - 1]);
    return host[0] == 64 && host[n - 1] == 64 && host[n] == 0 ? 0 : 9;
}
"""


def test_kernels_of_both_halves_of_a_core_are_launched_by_a_host(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    launch = """void launch(float *o, uint16_t *a, uint16_t *b, int tiles, void *s)
{
    fused<<<1, nullptr, s>>>(o, (half *)a, (half *)b, tiles);
}
"""
    (tmp_path / "main.cpp").write_text(MIXED_MAIN)
    (tmp_path / "fused.cpp").write_text(FIFO + launch)
    assert run_host([str(tmp_path / "main.cpp"), str(tmp_path / "fused.cpp")]) == 0
    assert capfd.readouterr().out == "64 0\n"


def test_a_host_that_goes_another_way_the_second_time_is_a_diagnostic(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(
        """#include <acl/acl.h>
void launch(float *o, void *s);
int main()
{
    float *out;
    aclrtMalloc((void **)&out, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
#ifdef __DAV_VEC__
    launch(out, nullptr);
#endif
}
"""
    )
    (tmp_path / "kernel.cpp").write_text(
        """#include <pto/pto-inst.hpp>
__global__ AICORE void k(__gm__ float *out) {}
void launch(float *o, void *s) { k<<<1, nullptr, s>>>(o); }
"""
    )
    with pytest.raises(ptosim.PTOError, match="launches other kernels"):
        run_host([str(tmp_path / "main.cpp"), str(tmp_path / "kernel.cpp")])


ASKING = """#include <pto/pto-inst.hpp>
using namespace pto;
using V = Tile<TileType::Vec, float, 64, 64>;
using G = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
__global__ AICORE void normalised(__gm__ float *out, __gm__ float *in)
{
    HALF
    G gi(in + block_idx * 4096), go(out + block_idx * 4096);
    V x;
    TASSIGN(x, 0);
    TLOAD(x, gi);
    pipe_barrier(PIPE_ALL);
    float last = x.GetValue(4095), middle = x.GetValue(2048);
    pipe_barrier(PIPE_ALL);
    if (last != 0 && middle == 2048 + block_idx * 4096.0f)
        TMULS(x, x, 8191.0f / last);
    pipe_barrier(PIPE_ALL);
    TSTORE(go, x);
    END
}
void launch(float *o, float *a, float *b, void *s) { normalised<<<BLOCKS, nullptr, s>>>(o, a); }
"""


@pytest.mark.parametrize(
    "half",
    [("", ""), ("#ifdef __DAV_VEC__\n    if (get_subblockid() == 0) {", "}\n#endif")],
    ids=["one kind", "mixed"],
)
def test_a_launch_goes_by_what_the_machine_has_computed(tmp_path: Path, half: tuple[str, str]) -> None:
    words = {"HALF": half[0], "END": half[1], "BLOCKS": "2"}
    kernel = ASKING
    for word, text in words.items():
        kernel = kernel.replace(word, text)
    main = (
        MAIN.replace("64 * 64", "2 * 64 * 64").replace("launch(x, y, y, stream);", "launch(x, y, x, stream);")
    ).replace("host[i] != 4.0f * i", "host[i] != (i < 4096 ? i * (8191.0f / 4095.0f) : i)")
    # the second launch finds the end scaled already, so that nothing is scaled twice
    (tmp_path / "main.cpp").write_text(main)
    (tmp_path / "kernel.cpp").write_text(kernel)
    assert run_host([str(tmp_path / "main.cpp"), str(tmp_path / "kernel.cpp")], ["hello"]) == 0
