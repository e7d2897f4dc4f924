"""The contract of load, Module, Kernel and the arrays that a kernel is called with."""

import array
import ctypes
from functools import partial
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest

import ptosim
from ptosim.api import Launch
from ptosim.arguments import bind

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(autouse=True, params=["reference", "native"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Everything holds on both engines: calls that name none get this one."""
    monkeypatch.setitem(ptosim.Kernel.__call__.__kwdefaults__, "engine", request.param)
    return request.param


def kernel_text(parameters: str, body: str = "", name: str = "k", kernel: bool = True) -> str:
    mark = " attributes {pto.kernel}" if kernel else ""
    return f"  func.func @{name}({parameters}){mark} {{\n{body}    return\n  }}\n"


def module_text(*functions: str, target: str = "a5") -> str:
    return f'module attributes {{pto.target_arch = "{target}"}} {{\n{"".join(functions)}}}\n'


# Copies 64 bytes of each block from x to y, through UB.
COPY = """
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c64 = arith.constant 64 : i64
    %block_i64 = pto.get_block_idx
    %block = arith.index_cast %block_i64 : i64 to index
    %c16 = arith.constant 16 : index
    %offset = arith.muli %block, %c16 : index
    %px = pto.addptr %x, %offset : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %py = pto.addptr %y, %offset : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %ub = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %px, %ub, %c0, %c64 nburst(%c1, %c64, %c64)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %ub, %py, %c64 nburst(%c1, %c64, %c64)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
"""
COPY_TEXT = module_text(kernel_text("%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>", COPY))

STORE = """
    %c0 = arith.constant 0 : index
    pto.store_scalar %v, %p[%c0] : !pto.ptr<TYPE, gm>, TYPE
"""


def copy_kernel() -> ptosim.Kernel:
    return ptosim.load(COPY_TEXT).kernel()


def store_kernel(element: str) -> ptosim.Kernel:
    """Stores its scalar argument to its array argument."""
    parameters = f"%p: !pto.ptr<{element}, gm>, %v: {element}"
    return ptosim.load(module_text(kernel_text(parameters, STORE.replace("TYPE", element)))).kernel()


def refused(kernel: ptosim.Kernel, *arguments: Any, **options: Any) -> str:
    """The message of the single diagnostic with which a call is refused."""
    with pytest.raises(ptosim.PTOError) as caught:
        kernel(*arguments, **options)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.kind == "argument"
    return diagnostic.message


# --- load -------------------------------------------------------------------------------------------------------------


def test_load_takes_a_path_or_text() -> None:
    path = EXAMPLES / "abs.pto"
    for source in (path, str(path), path.read_text()):
        assert list(ptosim.load(source).kernels) == ["abs"]


@pytest.mark.parametrize("source", ["missing.pto", ".", "", "\0", "a" * 5000])
def test_a_source_that_cannot_be_read(source: str) -> None:
    with pytest.raises(ptosim.PTOError, match="cannot read"):
        ptosim.load(source)


@pytest.mark.parametrize("encoding, ending", [("utf-8-sig", "\n"), ("utf-8", "\r\n")])
def test_files_of_other_editors(tmp_path: Path, encoding: str, ending: str) -> None:
    path = tmp_path / "kernel.pto"
    path.write_text("func.func @f() {\n  return\n}\n", encoding, newline=ending)
    assert list(ptosim.load(path).kernels) == ["f"]
    path.write_text("// a note\nfunc.func @f() {\n  pto.nothing\n}\n", encoding, newline=ending)
    with pytest.raises(ptosim.PTOError) as raised:
        ptosim.load(path)
    location = raised.value.diagnostics[0].location
    assert location is not None and (location.line, location.column) == (3, 3)


def test_a_file_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "long.pto"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a hole: it takes no room
    with pytest.raises(ptosim.PTOError) as caught:
        ptosim.load(path)
    assert [(found.kind, found.message) for found in caught.value.diagnostics] == [
        ("limit", f"{path} has more than 2000000 characters")
    ]


def test_a_binary_file(tmp_path: Path) -> None:
    path = tmp_path / "garbage.pto"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(ptosim.PTOError, match="not a text file"):
        ptosim.load(path)


def test_the_first_syntax_error_has_a_place() -> None:
    with pytest.raises(ptosim.PTOError) as caught:
        ptosim.load("module {\n  func.func @k( {\n}\n")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.kind == "syntax"
    assert diagnostic.line == 2


def test_all_errors_of_the_verifier_come_in_source_order() -> None:
    body = """
    %c0 = arith.constant 0 : i64
    pto.set_flag["PIPE_V", "PIPE_V", "EVENT_ID0"]
    %ub = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID9"]
"""
    with pytest.raises(ptosim.PTOError) as caught:
        ptosim.load(module_text(kernel_text("", body)))
    found = [(diagnostic.line, diagnostic.kind) for diagnostic in caught.value.diagnostics]
    assert found == [(5, "wrong-pipe"), (7, "id-range")]
    assert str(caught.value).count("error:") == 2


def test_target_overrides_the_module() -> None:
    text = (EXAMPLES / "abs.pto").read_text()
    assert ptosim.load(text).verified.target == "a5"
    assert ptosim.load(text, target="a2a3").verified.target == "a2a3"
    with pytest.raises(ptosim.PTOError, match="a9"):
        ptosim.load(text, target="a9")


@pytest.mark.parametrize("target", [5, b"a5", ["a5"]])
def test_a_target_is_a_name(target: Any) -> None:
    with pytest.raises(ptosim.PTOError, match="target is the name of a machine, not"):
        ptosim.load(COPY_TEXT, target=target)


def test_warnings_do_not_stop_a_load() -> None:
    text = module_text(kernel_text("", "    pto.pipe_barrier #pto.pipe<PIPE_ALL>\n"))
    module = ptosim.load(text)
    assert all(warning.severity == "warning" for warning in module.warnings)
    older = module_text(kernel_text("%i: i64", "    pto.set_intra_block %i, %i : i64, i64\n"))
    assert [warning.line for warning in ptosim.load(older).warnings] == [3]


# --- modules and kernels ----------------------------------------------------------------------------------------------


def test_the_only_kernel_needs_no_name() -> None:
    module = ptosim.load(COPY_TEXT)
    assert module.kernel() is module.kernels["k"]
    assert module.kernel("k") is module.kernel()


@pytest.mark.parametrize(
    ("functions", "name", "message"),
    [
        ([kernel_text("", name="a"), kernel_text("", name="b")], None, "2 kernels; choose one of: a, b"),
        ([kernel_text("", name="a"), kernel_text("", name="b")], "c", "no kernel 'c'; the module has: a, b"),
        ([kernel_text("", name="a"), kernel_text("", name="help", kernel=False)], "help", "the module has: a"),
    ],
)
def test_a_kernel_that_is_not_there(functions: list[str], name: str | None, message: str) -> None:
    module = ptosim.load(module_text(*functions))
    with pytest.raises(ptosim.PTOError, match="kernel") as caught:
        module.kernel(name)
    assert message in str(caught.value)


def test_two_modules_with_one_symbol_are_one_kernel() -> None:
    text = """module attributes {pto.target_arch = "a5"} {
  module attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @k(%x: !pto.ptr<f32, gm>) attributes {pto.kernel} {
      return
    }
  }
  module attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    func.func @k(%x: !pto.ptr<f32, gm>) attributes {pto.kernel} {
      return
    }
  }
}
"""
    module = ptosim.load(text)
    assert list(module.kernels) == ["k"]
    module.kernel()(np.zeros(1, np.float32))


def test_signature() -> None:
    kernel = ptosim.load(module_text(kernel_text("%x: !pto.ptr<bf16, gm>, %n: i32, %scale: f32"))).kernel()
    assert kernel.signature == (
        ptosim.Parameter("x", "!pto.ptr<bf16, gm>"),
        ptosim.Parameter("n", "i32"),
        ptosim.Parameter("scale", "f32"),
    )
    assert "k(x: !pto.ptr<bf16, gm>" in repr(kernel)


# --- arrays -----------------------------------------------------------------------------------------------------------


class Interface:
    """Memory described by __array_interface__ only."""

    def __init__(self, owner: np.ndarray) -> None:
        self.owner = owner
        self.__array_interface__ = owner.__array_interface__


class Capsule:
    """Memory offered through DLPack only."""

    def __init__(self, owner: np.ndarray) -> None:
        self.owner = owner

    def __dlpack__(self, **options: Any) -> Any:
        return self.owner.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.owner.__dlpack_device__()


def numbers() -> np.ndarray:
    return np.arange(1, 17, dtype=np.float32)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda y: y,
        lambda y: y.reshape(4, 4),
        lambda y: y.view(np.uint8),
        lambda y: y.view("V4"),
        lambda y: y.view(np.matrix),
        lambda y: y.view(np.ma.MaskedArray),
        memoryview,
        lambda y: memoryview(y.reshape(2, 8)),
        Interface,
        Capsule,
        (ctypes.c_float * 16).from_buffer,
    ],
    ids="plain shaped bytes raw matrix masked memoryview shaped_memoryview interface dlpack ctypes".split(),
)
def test_kinds_of_arrays(wrap: Any) -> None:
    x, y = numbers(), np.zeros(16, np.float32)
    copy_kernel()(x, wrap(y))
    np.testing.assert_array_equal(y, x)


def test_the_array_of_the_standard_library() -> None:
    y = array.array("f", bytes(64))
    copy_kernel()(array.array("f", range(1, 17)), y)
    assert y.tolist() == list(range(1, 17))


def test_bfloat16_arrays() -> None:
    p = np.zeros(3, ml_dtypes.bfloat16)
    store_kernel("bf16")(p, 1.5)
    assert p.tolist() == [1.5, 0, 0]


class Tensor(Capsule):
    """Floats in the shape of a tensor, as DLPack knows them; the integers that NumPy knows are told to be such."""

    def __init__(self, array: np.ndarray, code: int) -> None:
        super().__init__(array.view(f"u{array.itemsize}"))
        self.code = code

    def __dlpack__(self, **options: Any) -> Any:
        capsule = super().__dlpack__(**options)
        start = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", ctypes.pythonapi)
        )(capsule, b"dltensor_versioned")
        element = 8 + 8 + 8 + 8 + 8 + 8 + 4  # behind version, owner, deleter, flags; address, device, sides
        ctypes.c_uint8.from_address(start + element).value = self.code
        return capsule


@pytest.mark.parametrize(
    ("element", "kind", "code"),
    [("bf16", "bfloat16", 4), ("f8E4M3FN", "float8_e4m3fn", 10), ("f8E5M2", "float8_e5m2", 12)],
)
def test_tensors_of_floats_that_numpy_lacks(element: str, kind: str, code: int) -> None:
    x, y = np.arange(1, 17).astype(getattr(ml_dtypes, kind)), np.zeros(16, getattr(ml_dtypes, kind))
    size = x.nbytes
    text = COPY_TEXT.replace("f32", element).replace("constant 64 : i64", f"constant {size} : i64")
    kernel = ptosim.load(text).kernel()
    kernel(Tensor(x, code), Tensor(y, code))
    np.testing.assert_array_equal(y, x)
    assert "elements of" in refused(copy_kernel(), Tensor(x, code), numbers())
    assert "elements of" in refused(kernel, numbers().astype(np.float16), Tensor(y, code))


def test_tensors_of_other_elements_are_refused() -> None:
    assert "cannot be shared" in refused(copy_kernel(), Tensor(numbers(), 99), numbers())


FITTING = {
    "i8": "int8 uint8 bool",
    "ui16": "int16 uint16",
    "i32": "int32 uint32",
    "f16": "float16",
    "bf16": "bfloat16 int16 uint16",
    "f32": "float32",
    "i64": "int64 uint64",
    "f8E5M2": "float8_e5m2 int8 uint8",
    "f8E4M3FN": "float8_e4m3fn int8 uint8",
    "!pto.hif8": "int8 uint8",
    "!pto.f4E2M1x2": "int8 uint8",
}
KINDS = (
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 datetime64 S4 U1 "
    "bfloat16 float8_e5m2 float8_e4m3fn"
).split()


@pytest.mark.parametrize("element", FITTING)
@pytest.mark.parametrize("kind", KINDS)
def test_which_elements_serve_which_pointers(element: str, kind: str) -> None:
    """Floats are no integers, f16 is no bf16; integers serve formats that NumPy lacks; uint8 is bytes."""
    array = np.zeros(16, getattr(ml_dtypes, kind, kind))
    kernel = ptosim.load(module_text(kernel_text(f"%p: !pto.ptr<{element}, gm>", ""))).kernel()
    if kind in (*FITTING[element].split(), "uint8"):
        kernel(array)
    else:
        assert "argument 0 (p: " in refused(kernel, array)


def test_the_grid_has_a_limit() -> None:
    text = module_text(kernel_text("%n: i32", ""))
    for call in (ptosim.load(text).kernel(), partial(ptosim.check, ptosim.load(text).kernel())):
        message = refused(cast("ptosim.Kernel", call), 1, grid=2**31 + 1)
        assert message == f"grid is at most {2**31 - 1}, not {2**31 + 1}"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (np.zeros(16, np.float64), "elements of float64 have 8 bytes, but f32 has 4; convert the array first"),
        (np.zeros(63, np.uint8), "63 raw bytes are no whole number of f32, which has 4 bytes"),
        (np.zeros(16, np.int32), "elements of int32 are not f32; convert the array"),
        (np.zeros(32, np.float32)[::2], "not C-contiguous"),
        (np.zeros((4, 4), np.float32).T, "not C-contiguous"),
        (np.frombuffer(bytes(64), np.float32), "read-only"),
        (memoryview(np.zeros(32, np.float32))[::2], "not C-contiguous"),
        (bytes(64), "read-only"),
        (np.zeros(16, ">f4"), "byte order"),
        (np.zeros(16, object), "Python objects"),
        (np.float32(1), "expected an array"),
        ([0.0] * 16, "expected an array (NumPy, buffer protocol, DLPack), not list"),
        (3, "not int"),
        (None, "not NoneType"),
        ("text", "not str"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:12],
)
def test_arrays_that_do_not_fit(value: Any, reason: str) -> None:
    message = refused(copy_kernel(), numbers(), value)
    assert message.startswith("argument 1 (y: !pto.ptr<f32, gm>): ")
    assert reason in message


class Elsewhere:
    """A tensor on a device that NumPy cannot reach."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("the tensor lives on another device")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


class Broken:
    def __init__(self) -> None:
        self.__array_interface__ = {"shape": "nonsense"}


@pytest.mark.parametrize("value", [Elsewhere(), Broken()], ids=["device", "broken"])
def test_memory_that_cannot_be_shared(value: Any) -> None:
    assert "cannot be shared" in refused(copy_kernel(), numbers(), value)


def test_the_number_of_arguments() -> None:
    message = refused(copy_kernel(), numbers())
    assert "takes 2 arguments (x: !pto.ptr<f32, gm>, y: !pto.ptr<f32, gm>), but 1 were given" in message


def test_an_empty_array_has_nothing_to_copy() -> None:
    with pytest.raises(ptosim.PTOError) as caught:
        copy_kernel()(numbers(), np.zeros(0, np.float32))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.kind == "out-of-bounds"
    assert "which has 0 bytes" in diagnostic.message


def test_arguments_that_share_memory_are_one_buffer() -> None:
    whole = np.arange(24, dtype=np.float32)
    copy_kernel()(whole[:16], whole[8:])
    np.testing.assert_array_equal(whole, [*range(8), *range(16)])


def test_a_shared_buffer_is_bounded_by_what_its_arguments_cover() -> None:
    whole = np.arange(40, dtype=np.float32)
    with pytest.raises(ptosim.PTOError, match="out-of-bounds"):
        copy_kernel()(whole[:16], whole[8:20])  # the copy would end at element 24 of 20
    np.testing.assert_array_equal(whole[20:], np.arange(20, 40))


def test_neighbours_in_memory_are_two_buffers() -> None:
    whole = np.arange(32, dtype=np.float32)
    with pytest.raises(ptosim.PTOError, match="out-of-bounds"):
        copy_kernel()(whole[16:], whole[:8])
    np.testing.assert_array_equal(whole[8:], np.arange(8, 32))


# --- scalars ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "value", "bits"),
    [
        ("i32", -1, 0xFFFFFFFF),
        ("i32", 0xFFFFFFFF, 0xFFFFFFFF),
        ("i32", np.int64(7), 7),
        ("i32", True, 1),
        ("i8", -128, 0x80),
        ("i64", -1, 2**64 - 1),
        ("f32", 1.5, 0x3FC00000),
        ("f32", 2, 0x40000000),
        ("f32", np.float64(-0.0), 0x80000000),
        ("f32", float("inf"), 0x7F800000),
        ("f32", 1e300, 0x7F800000),
        ("f32", ml_dtypes.bfloat16(1.5), 0x3FC00000),
        ("f16", 65519.0, 0x7BFF),
        ("bf16", 1.00390625, 0x3F80),
        ("bf16", 1.01171875, 0x3F82),
    ],
    ids=str,
)
def test_scalars(element: str, value: Any, bits: int) -> None:
    p = np.zeros(1, f"u{8 if element[-2:] == '64' else 1 if element == 'i8' else 2 if '16' in element else 4}")
    store_kernel(element)(p.view(np.uint8), value)
    assert int(p[0]) == bits


@pytest.mark.parametrize(
    ("element", "value", "reason"),
    [
        ("i32", 1.0, "expected an integer, not float"),
        ("i32", "1", "expected an integer, not str"),
        ("i32", 2**32, "does not fit 32 bits"),
        ("i32", -(2**31) - 1, "does not fit 32 bits"),
        ("i32", np.zeros(2, int), "expected an integer, not ndarray"),
        ("f32", "1.5", "expected a number, not str"),
        ("f32", 1j, "expected a number, not complex"),
        ("f32", None, "expected a number, not NoneType"),
        ("f32", 10**400, "does not fit f32"),
        ("f32", np.zeros(2), "expected a number, not ndarray"),
    ],
    ids=str,
)
def test_scalars_that_do_not_fit(element: str, value: Any, reason: str) -> None:
    p = np.zeros(4, np.uint8)
    message = refused(store_kernel(element), p, value)
    assert message.startswith(f"argument 1 (v: {element}): ")
    assert reason in message


# --- options ----------------------------------------------------------------------------------------------------------


def test_grid_counts_blocks() -> None:
    x, y = np.arange(48, dtype=np.float32), np.zeros(48, np.float32)
    copy_kernel()(x, y, grid=np.int64(2))
    np.testing.assert_array_equal(y, [*range(32), *[0] * 16])


@pytest.mark.parametrize("name", ["grid", "max_steps", "threads"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True, np.arange(2)])
def test_counts_are_positive_integers(name: str, value: Any) -> None:
    assert f"{name} is a positive integer" in refused(copy_kernel(), numbers(), numbers(), **{name: value})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oob": "ignore"}, "oob is 'error' or 'drop', not 'ignore'"),
        ({"engine": "fast"}, "engine is one of"),
        ({"schedule": "later", "engine": "reference"}, "schedule"),
        ({"schedule": "random:x", "engine": "reference"}, "schedule"),
        ({"schedule": "delay:PIPE_X", "engine": "reference"}, "schedule"),
        ({"schedule": f"random:{'9' * 5000}", "engine": "reference"}, "schedule"),
        ({"schedule": None, "engine": "reference"}, "schedule"),
    ],
    ids=lambda given: str(given)[:60],
)
def test_options_that_do_not_exist(options: dict[str, Any], message: str) -> None:
    assert message in refused(copy_kernel(), numbers(), numbers(), **options)


def test_other_schedules_are_for_the_reference_engine() -> None:
    for schedule in ("random:1", "delay:V"):
        message = refused(copy_kernel(), numbers(), numbers(), engine="native", schedule=schedule)
        assert "needs engine='reference'" in message
        copy_kernel()(numbers(), numbers(), engine="reference", schedule=schedule)


def test_a_launch_tells_of_every_block(engine: str) -> None:
    kernel = copy_kernel()
    x, y = np.arange(80, dtype=np.float32), np.zeros(80, np.float32)
    done: list[None] = []
    launch = Launch(bind(kernel.signature, (x, y)), 5, block_done=lambda: done.append(None))
    kernel.execute(launch, engine)
    assert len(done) == 5
    np.testing.assert_array_equal(x, y)


def test_out_of_bounds_is_an_error_or_dropped() -> None:
    x, y = numbers()[:12].copy(), np.full(10, -1, np.float32)
    with pytest.raises(ptosim.PTOError) as caught:
        copy_kernel()(x, y)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.kind == "out-of-bounds"
    assert diagnostic.line == 14  # the first copy, which reads 16 elements of 12
    assert "argument 0 (%x), which has 48 bytes: the first byte outside is 48" in diagnostic.message
    copy_kernel()(x, y, oob="drop")
    np.testing.assert_array_equal(y, np.arange(1, 11))
    whole = np.full(32, -1, np.float32)
    copy_kernel()(x, whole, oob="drop")  # what lies outside the source reads as zero
    np.testing.assert_array_equal(whole, [*range(1, 13), *[0] * 4, *[-1] * 16])


LOOP = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n_index = arith.index_cast %n : i32 to index
    scf.for %i = %c0 to %n_index step %c1 {
    }
"""


def test_max_steps_counts_the_iterations_of_a_block() -> None:
    kernel = ptosim.load(module_text(kernel_text("%n: i32", LOOP))).kernel()
    kernel(100, grid=3, max_steps=100)
    with pytest.raises(ptosim.PTOError) as caught:
        kernel(101, max_steps=100)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.kind == "limit"
    assert "100" in diagnostic.message


def test_an_endless_loop_ends() -> None:
    body = """
    %true = arith.constant true
    scf.while : () -> () {
      scf.condition(%true)
    } do {
      scf.yield
    }
"""
    kernel = ptosim.load(module_text(kernel_text("", body))).kernel()
    with pytest.raises(ptosim.PTOError, match="limit"):
        kernel(max_steps=10_000)


# --- after an error ---------------------------------------------------------------------------------------------------


def test_the_error_of_the_lowest_block_is_raised() -> None:
    x, y = np.arange(100, dtype=np.float32), np.zeros(32, np.float32)
    with pytest.raises(ptosim.PTOError) as caught:
        copy_kernel()(x, y, grid=6)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.block == 2  # blocks 2 to 5 all write outside


def test_bytes_outside_the_arguments_are_untouched() -> None:
    whole = np.full(64, 7, np.float32)
    with pytest.raises(ptosim.PTOError, match="out-of-bounds"):
        copy_kernel()(numbers(), whole[16:30])
    np.testing.assert_array_equal(whole[:16], 7)
    np.testing.assert_array_equal(whole[30:], 7)


def test_a_kernel_can_be_called_again_after_an_error() -> None:
    kernel = copy_kernel()
    with pytest.raises(ptosim.PTOError):
        kernel(numbers(), np.zeros(3, np.float32))
    y = np.zeros(16, np.float32)
    kernel(numbers(), y)
    np.testing.assert_array_equal(y, numbers())


def test_division_by_zero_names_the_line() -> None:
    body = """
    %c1 = arith.constant 1 : i32
    %q = arith.divsi %c1, %n : i32
"""
    kernel = ptosim.load(module_text(kernel_text("%n: i32", body))).kernel()
    kernel(5)
    with pytest.raises(ptosim.PTOError) as caught:
        kernel(0)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.kind, diagnostic.line) == ("arithmetic", 5)


def test_a_wait_that_nothing_satisfies_ends_at_once() -> None:
    body = '    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID3"]\n    pto.barrier #pto.pipe<PIPE_ALL>\n'
    kernel = ptosim.load(module_text(kernel_text("", body))).kernel()
    with pytest.raises(ptosim.PTOError) as caught:
        kernel()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.kind in ("unmatched-wait", "deadlock")
    assert diagnostic.line == 3
