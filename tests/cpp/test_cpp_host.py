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
