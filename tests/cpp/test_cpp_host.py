"""A host program runs as it stands: its memory, its launches, its arguments and its exit code."""

from pathlib import Path

import pytest

import ptosim
from cpp.kernels import ADD, NEEDS_COMPILER, without
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
