"""Bad input of kernels in C++: each is a diagnostic, with the C++ line where there is one."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from cpp.kernels import ADD, HEAD, NEEDS_COMPILER, SHAPES, kernel

pytestmark = NEEDS_COMPILER

HELPER = (
    "AICORE inline void inner(__gm__ float *p) { G g(p); V x; TLOAD(x, g); }\n"
    "AICORE inline void helper(__gm__ float *p) { inner(p); }\n"
)
CASES = [
    ("V x; TASSIGN(x, 0) TLOAD(x, x);", "syntax", "expected ';'"),
    ("V x; int q; TADD(x, x, q);", "syntax", "an operand of this intrinsic is a tile or a global tensor"),
    ("Tile<TileType::Vec, float, 16, 7> x;", "syntax", "a multiple of 32 bytes"),
    ("V x; TFOO(x, x);", "syntax", "'TFOO' was not declared"),
    ("V x; TIMG2COL(x, x, 0, 0);", "syntax", "TIMG2COL is not supported by ptosim yet"),
    ("Event<Op::TADD, Op::TSUB> e;", "syntax", "an Event stands between operations of two different pipes"),
    ("*(volatile int *)0x1234 = 3;", "out-of-bounds", "accesses address 0x1234, which lies in no argument"),
    ("volatile int z = n - 3; int y = 5 / z; (void)y;", "arithmetic", "divides by zero"),
    ("throw 3;", "trap", "throws an exception"),
    ("std::exit(3);", "trap", "calls exit()"),
    ("std::abort();", "trap", "aborts"),
    ("out[3] = 1.0f;", "unsupported", "written through a plain pointer"),
    (
        "G gi(in), go(out); V x; TASSIGN(x, 0); TLOAD(x, gi); TSTORE(go, x); if (out[2] > 3) TLOAD(x, gi);",
        "unsupported",
        "reads global memory that the kernel has written",
    ),
    ("G gi(in + 100000000); V x; TASSIGN(x, 0); TLOAD(x, gi);", "out-of-bounds", "lies in no argument"),
    ("G gi(in + 512); V x; TASSIGN(x, 0); TLOAD(x, gi);", "out-of-bounds", "reads bytes 2048 to 6143 of argument 1"),
    ("G gi(in); V x; TLOAD(x, gi);", "invalid", "was never assigned an address"),
    ("G gi(in); V x; TASSIGN(x, 262144 - 32); TLOAD(x, gi);", "out-of-bounds", "ends beyond the 262144 bytes of vec"),
    ("V x; TASSIGN(x, 33);", "misaligned", "is not aligned to 32 bytes"),
    ("float s = 0; for (int i = 0; i < 5000; i++) s += in[i]; (void)s;", "out-of-bounds", "is read at byte 4096"),
    ("PTO_ASSERT(n == 4);", "trap", "the assertion n == 4 does not hold"),
    ("set_flag(PIPE_V, PIPE_MTE3, (event_t)(n + 20));", "id-range", "event 23 does not exist"),
    ("helper(in);", "invalid", "was never assigned an address"),
    ("pipe_barrier((pipe_t)40);", "invalid", "pipe_barrier names a pipe that does not exist"),
]


def file(statement: str) -> str:
    parameters = "__gm__ float *out, __gm__ float *in, int n"
    text = (
        f"#include <cstdlib>\n{HEAD}{SHAPES}{HELPER}__global__ AICORE void k({parameters})\n{{\n    {statement}\n}}\n"
    )
    return text


def arguments() -> tuple[Any, ...]:
    return np.zeros((16, 64), "f4"), np.ones((16, 64), "f4"), 3


@pytest.mark.parametrize(("statement", "kind", "message"), CASES, ids=[case[2] for case in CASES])
def test_bad_statements_are_said_at_their_line(tmp_path: Path, statement: str, kind: str, message: str) -> None:
    text = file(statement)
    with pytest.raises(ptosim.PTOError) as problem:
        kernel(tmp_path, text)(*arguments())
    first = problem.value.diagnostics[0]
    assert first.kind == kind and message in first.message
    assert first.location is not None and first.location.file.endswith("kernel.cpp")
    lines = text.split("\n")
    at = lines[first.location.line - 1]
    assert at == f"    {statement}" or (statement.startswith("helper") and "inner" in at)


LATER = {
    "TIMG2COL": "TIMG2COL(x, x, 0, 0);",
    "TSETFMATRIX": "TSETFMATRIX(x);",
    "TSET_IMG2COL_RPT": "TSET_IMG2COL_RPT(x);",
    "TSET_IMG2COL_PADDING": "TSET_IMG2COL_PADDING(x);",
    "ConvTile": "ConvTile<TileType::Mat, half, 1024, Layout::NC1HWC0, ConvTileShape<1, 1, 4, 4, 16>> t;",
    "Signal": "comm::Signal s(in);",
    "Signal2D": "comm::Signal2D<2, 2> m(in);",
    "ParallelGroup": "comm::ParallelGroup<G> p(&g, 2, 0);",
    "TNOTIFY": "comm::TNOTIFY(g, 1, comm::NotifyOp::Set);",
    "TWAIT": "comm::TWAIT(g, 1, comm::WaitCmp::EQ);",
    "TTEST": "comm::TTEST(g, 1, comm::WaitCmp::EQ);",
    "TPUT": "comm::TPUT(g, g, x);",
    "TGET": "comm::TGET(g, g, x, x);",
    "TBROADCAST": "comm::TBROADCAST(g, g, x);",
    "TSCATTER": "comm::TSCATTER(g, g, x);",
    "TGATHER": "comm::TGATHER(g, g, x);",
    "TREDUCE": "comm::TREDUCE(g, g, x, x, comm::ReduceOp::Sum);",
    "TPUT_ASYNC": "comm::TPUT_ASYNC<comm::DmaEngine::SDMA>(g, g, n);",
    "TGET_ASYNC": "comm::TGET_ASYNC<comm::DmaEngine::URMA>(g, g, n);",
}


def test_all_that_is_left_for_later_is_refused_by_its_name(tmp_path: Path) -> None:
    text = file("G g(in); V x;\n" + "\n".join(LATER.values())).replace(
        "#include <cstdlib>", "#include <pto/comm/pto_comm_inst.hpp>"
    )
    with pytest.raises(ptosim.PTOError) as problem:
        kernel(tmp_path, text)(*arguments())
    said = {each.message: each.location.line for each in problem.value.diagnostics if each.location is not None}
    lines = text.split("\n")
    assert said == {f"{name} is not supported by ptosim yet": lines.index(line) + 1 for name, line in LATER.items()}


def test_names_of_both_families_are_told_apart(tmp_path: Path) -> None:
    text = file(
        "G g(in), o(out); Tile<TileType::Vec, int32_t, 16, 64> i, t; V x, y; TASSIGN(x, 0); TASSIGN(y, 0x2000); "
        "TASSIGN(i, 0x4000); TASSIGN(t, 0x6000); TLOAD(x, g); pipe_barrier(PIPE_ALL); TEXPANDS(i, 0); "
        "TGATHER(y, x, i, t); pipe_barrier(PIPE_ALL); TSTORE(o, y);"
    ).replace("using namespace pto;", "using namespace pto;\nusing namespace pto::comm;")
    out, given, n = arguments()
    kernel(tmp_path, text)(out, given, n)
    assert (out == given[0, 0]).all()


def test_the_calls_that_led_there_are_shown(tmp_path: Path) -> None:
    with pytest.raises(ptosim.PTOError) as problem:
        kernel(tmp_path, file("helper(in);"))(*arguments())
    (first,) = problem.value.diagnostics
    assert [other.role for other in first.related] == ["called here", "called here"]


@pytest.mark.parametrize(
    ("text", "expression", "message"),
    [
        ("__global__ AICORE void k(__gm__ float *a) {}", "nope", "'nope' was not declared"),
        ("void k(float *a) {}", "k", "is not __global__"),
        ("template <typename T> __global__ AICORE void k(__gm__ T *a) {}", "k", "is a template"),
        ("template <typename T> __global__ AICORE void k(__gm__ T *a) {}", None, "no expression says which kernel"),
        (
            "__global__ AICORE void k(__gm__ float *a) {}\n__global__ AICORE void k(__gm__ half *a) {}",
            "k",
            "is ambiguous",
        ),
        ("__global__ AICORE void k(__gm__ float *a) {}", "k; int x", "is no expression"),
    ],
)
def test_expressions_that_name_no_kernel(tmp_path: Path, text: str, expression: str | None, message: str) -> None:
    with pytest.raises(ptosim.PTOError, match=message):
        kernel(tmp_path, f"{HEAD}{text}\n", expression)


def test_errors_inside_headers_of_the_compiler_are_said_at_the_line_that_uses_them(tmp_path: Path) -> None:
    with pytest.raises(ptosim.PTOError) as problem:
        kernel(
            tmp_path,
            file("typename std::enable_if<false, int>::type x; V y; TADD(y, y, 3); std::enable_if_t<false> *z;"),
        )
    for each in problem.value.diagnostics:
        assert each.location is None or each.location.file.endswith("kernel.cpp")


def test_a_name_that_a_macro_makes_is_an_expression(tmp_path: Path) -> None:
    kernel_text = "template <typename T> __global__ AICORE void JOINED(run, one)(__gm__ T *a) {}"
    text = f"{HEAD}#define JOINED(a, b) a##_##b\n{kernel_text}\n"
    kernel(tmp_path, text, "JOINED(run, one)<float>")(np.zeros(4, "f4"))


def test_a_tile_is_not_used_when_its_fifo_has_ended(tmp_path: Path) -> None:
    text = f"""{HEAD}{SHAPES}
__global__ AICORE void k(__gm__ float *out)
{{
    V x;
    {{
        using Pipe = TPipe<0, Direction::DIR_C2V, 4096, 2>;
        Pipe pipe((__gm__ void *)nullptr, 0, 0);
#ifdef __DAV_VEC__
        TPOP<Pipe, V, TileSplitAxis::TILE_NO_SPLIT>(pipe, x);
        TFREE<Pipe, TileSplitAxis::TILE_NO_SPLIT>(pipe);
#endif
    }}
#ifdef __DAV_VEC__
    TADDS(x, x, 1.0f);
#endif
}}
"""
    with pytest.raises(ptosim.PTOError, match="popped from a FIFO that has ended") as problem:
        kernel(tmp_path, text)(np.zeros(4, "f4"))
    location = problem.value.diagnostics[0].location
    assert location is not None and "TADDS" in text.split("\n")[location.line - 1]


@pytest.mark.parametrize("parameter", ["Config c", "int &c"])
def test_parameters_that_no_launch_can_give_are_said_where_the_kernel_is_declared(
    tmp_path: Path, parameter: str
) -> None:
    with pytest.raises(ptosim.PTOError, match="launches kernels with pointers and numbers") as problem:
        kernel(
            tmp_path,
            f"{HEAD}struct Config {{ int a; }};\n__global__ AICORE void k(__gm__ float *a, {parameter}) {{}}\n",
        )
    location = problem.value.diagnostics[0].location
    assert location is not None and (location.line, location.column) == (4, 24)


def test_an_unknown_header_is_named(tmp_path: Path) -> None:
    with pytest.raises(ptosim.PTOError, match=r"pto/npu/foo/bar\.hpp"):
        kernel(tmp_path, f"#include <pto/npu/foo/bar.hpp>\n{file('')}")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((np.zeros(4, "f4"),), "takes 3 arguments"),
        ((np.zeros(4, "i4"), np.zeros(4, "f4"), 3), "argument 0"),
        ((np.zeros(4, "f4"), np.zeros(4, "f4"), None), "a number is expected"),
        ((np.zeros(4, "f4"), np.zeros(4, "f4"), 2.5), "expected an integer"),
    ],
)
def test_arguments_that_do_not_fit(tmp_path: Path, given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ptosim.PTOError, match=message):
        kernel(tmp_path, file(""))(*given)


def test_a_read_only_array_may_be_read_and_not_stored_to(tmp_path: Path) -> None:
    text = file("G gi(in), go(out); V x; TASSIGN(x, 0); TLOAD(x, gi); pipe_barrier(PIPE_ALL); TSTORE(go, x);")
    out, fixed, n = arguments()
    fixed.flags.writeable = False
    loaded = kernel(tmp_path, text)
    loaded(out, fixed, n)
    np.testing.assert_array_equal(out, fixed)
    with pytest.raises(ptosim.PTOError, match="read-only"):
        loaded(fixed, out, n)


def test_without_a_compiler_one_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kernel.cpp"
    path.write_text(file(""))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(ptosim.PTOError, match=r"there is none: looked for g\+\+, clang\+\+"):
        ptosim.load_cpp(path)


def test_on_windows_one_sentence_says_where_kernels_in_cpp_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ptosim.PTOError, match="on Windows use ptosim inside WSL"):
        kernel(tmp_path, ADD)
