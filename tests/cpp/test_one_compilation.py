"""A file is compiled once for all kernels that it launches itself, and for those that are no templates."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import ptosim
from cpp.kernels import ADD, HEAD, NEEDS_COMPILER
from ptosim.cpp.cpp_source import spelled

pytestmark = NEEDS_COMPILER

LAUNCHES = (
    ADD
    + """template <typename T, int N> void launch_all(T *o, T *a, T *b, void *s)
{
    if constexpr (std::is_same_v<T, aclFloat16>)
        run<half, N, 64><<<1, nullptr, s>>>((half *)o, (half *)a, (half *)b);
    else
        run<T, N, 64><<<1, nullptr, s>>>(o, a, b);
}
template void launch_all<aclFloat16, 16>(aclFloat16 *o, aclFloat16 *a, aclFloat16 *b, void *s);
template void launch_all<int32_t, 16>(int32_t *o, int32_t *a, int32_t *b, void *s);
"""
)


def counting_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """A compiler that notes each kernel file that it compiles; programs are kept in a cache of the test's own."""
    monkeypatch.setenv("PTOSIM_CACHE", str(folder / "cache"))
    script, log = folder / "compiler", folder / "log"
    known = shutil.which("g++") or shutil.which("clang++")
    script.write_text(f'#!/bin/sh\ncase "$*" in *ptosim_main.cpp*) echo one >> "{log}";; esac\nexec {known} "$@"\n')
    script.chmod(0o755)
    log.touch()
    return str(script), log


def compilations(log: Path) -> int:
    return log.read_text().count("one")


def test_all_specialisations_of_a_file_come_from_one_compilation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler, log = counting_compiler(tmp_path, monkeypatch)
    path = tmp_path / "kernel.cpp"
    path.write_text(LAUNCHES)
    cases = [("float, 64, 64", "f4", 64), ("half, 0x10, 64", "f2", 16), ("int32_t,16,64", "i4", 16)]
    for module in (ptosim.load_cpp(path, compiler=compiler), ptosim.load_cpp(path, compiler=compiler)):
        for arguments, kind, rows in cases:
            a = np.arange(rows * 64).reshape(rows, 64).astype(kind)
            out = np.zeros_like(a)
            module.kernel(f"run<{arguments}>")(out, a, a)
            np.testing.assert_array_equal(out, a + a)
    assert compilations(log) == 1
    ptosim.load_cpp(path, compiler=compiler).kernel("run<float, 32, 64>")
    assert compilations(log) == 2


def test_a_change_of_a_file_that_launches_and_is_included_compiles_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler, log = counting_compiler(tmp_path, monkeypatch)
    path = tmp_path / "kernel.cpp"
    path.write_text('#include "launches.hpp"\n')
    for count in (1, 1, 2):
        if count == 2:
            (tmp_path / "launches.hpp").write_text(LAUNCHES.replace("TADD", "TSUB"))
        elif not (tmp_path / "launches.hpp").exists():
            (tmp_path / "launches.hpp").write_text(LAUNCHES)
        ptosim.load_cpp(path, compiler=compiler).kernel("run<float, 64, 64>")
        assert compilations(log) == count


def test_a_launch_by_a_name_that_several_kernels_have_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cpp"
    path.write_text(
        f"{HEAD}__global__ AICORE void k(__gm__ float *a) {{}}\n__global__ AICORE void k(__gm__ half *a) {{}}\n"
        "__global__ AICORE void other(__gm__ float *a) {}\n"
        "void launch(float *a, void *s) { k<<<1, nullptr, s>>>(a); other<<<1, nullptr, s>>>(a); }\n"
    )
    ptosim.load_cpp(path).kernel("other")(np.zeros(4, "f4"))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("run<half, 0x10, 64>", "run<_Float16, 16, 64>"),
        ("run<std::uint8_t,  3u>", "run<unsigned char, 3>"),
        ("sorted<pto::CmpMode::EQ>", "sorted<CmpMode::EQ>"),
        ("own::run<int64_t, true>", "own::run<long int, true>"),
        ("inner<f4x2>", "{anonymous}::inner<f4x2>"),
    ],
)
def test_one_kernel_is_spelled_one_way(written: str, said: str) -> None:
    assert spelled(written) == spelled(said)
    assert spelled("run<float, 16>") != spelled("run<float, 160>")
