"""Kernels in Python, from the call to the bytes: written by the pages of the surface, compared with NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ptosim
from ptosim import pto, scalar

RNG = np.random.default_rng(1)


@pto.jit(target="a5", mode="explicit", kernel_kind="vector")
def vector_add(
    x: pto.ptr(pto.f32, "gm"),
    y: pto.ptr(pto.f32, "gm"),
    z: pto.ptr(pto.f32, "gm"),
    *,
    BLOCK: pto.const_expr = 64,
):
    a = pto.castptr(0, pto.ptr(pto.f32, "ub"))
    b = pto.castptr(8192, pto.ptr(pto.f32, "ub"))
    c = pto.castptr(16384, pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(x, a, 0, 4096, nburst=(1, 4096, 4096))
    pto.mte_gm_ub(y, b, 0, 4096, nburst=(1, 4096, 4096))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    m = pto.make_mask(pto.f32, "ALL")
    for i in range(0, 1024, BLOCK):
        pto.vsts(pto.vadd(pto.vlds(a, i), pto.vlds(b, i), m), c, i, m)
    pto.set_flag(pto.Pipe.V, pto.Pipe.MTE3)
    pto.wait_flag(pto.Pipe.V, pto.Pipe.MTE3)
    pto.mte_ub_gm(c, z, 4096, nburst=(1, 4096, 4096))
    pto.pipe_barrier("ALL")


def vectors() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return RNG.random(1024, "f4"), RNG.random(1024, "f4"), np.zeros(1024, "f4")


def test_a_launch_on_a_grid_changes_arrays_in_place():
    x, y, z = vectors()
    vector_add[1](x, y, z)
    assert np.array_equal(z, x + y)


def test_every_form_of_a_launch_gives_the_same():
    x, y, z = vectors()
    forms = (
        lambda: vector_add[1, None](x, y, z),
        lambda: vector_add(x, y, z, grid=1),
        lambda: vector_add.compile(BLOCK=64)[1](x, y, z),
        lambda: vector_add[1](x.ctypes.data, y, z),
        lambda: vector_add(x, y, z, BLOCK=64),
    )
    for launch in forms:
        z[:] = 0
        launch()
        assert np.array_equal(z, x + y)


def test_the_text_is_that_of_the_assembler():
    text = vector_add.text
    for line in (
        'module attributes {pto.target_arch = "a5"} {',
        "func.func @vector_add(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %z: !pto.ptr<f32, gm>) "
        "attributes {pto.entry} {",
        "%a = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>",
        "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]",
        "scf.for %i = %c0 to %c1024 step %c64 {",
        "pto.barrier <PIPE_ALL>",
        "return",
    ):
        assert line in text
    assert str(vector_add) == vector_add.mlir_text() == text == vector_add.text()
    assert str(ptosim.load(text).text()) == str(ptosim.load(vector_add.compile().source).text())


def test_a_check_and_a_profile_name_python_lines():
    x, y, z = vectors()
    assert not ptosim.check(vector_add, x, y, z).findings
    profile = ptosim.profile(vector_add.compile(), x, y, z)
    lines = vector_add.__wrapped__.__code__
    last = lines.co_firstlineno + 25
    assert all(lines.co_firstlineno < event.line <= last for event in profile.timeline if event.line)
    assert ptosim.prove(vector_add).proven


@pto.jit(mode="explicit", kernel_kind="vector")
def unordered(x: pto.ptr(pto.f32, "gm"), z: pto.ptr(pto.f32, "gm")):
    ub = pto.castptr(0, pto.ptr(pto.f32, "ub"))
    m = pto.pset_b32("PAT_ALL")
    pto.mte_gm_ub(x, ub, 0, 256, nburst=(1, 256, 256))
    pto.vsts(pto.vexp(pto.vlds(ub, 0), m), ub, 0, m)
    pto.pipe_barrier("ALL")
    pto.mte_ub_gm(ub, z, 256, nburst=(1, 256, 256))


def test_a_finding_stands_at_its_line_and_columns_of_the_python_file():
    report = ptosim.check(unordered, np.ones(64, "f4"), np.zeros(64, "f4"))
    first = unordered.__wrapped__.__code__.co_firstlineno
    race = next(each for each in report.findings if each.kind == "race")
    assert race.location is not None and race.location.file == __file__
    assert race.location.line in (first + 4, first + 5)
    assert "pto.v" in race.location.source.line(race.location.line)[race.location.column - 1 :]


@pto.jit()
def rows(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm"), z: pto.ptr(pto.f32, "gm"), n: pto.i32):
    xv = pto.make_tensor_view(x, shape=[n, 256], strides=[256, 1])
    yv = pto.make_tensor_view(y, shape=[n, 256], strides=[256, 1])
    zv = pto.make_tensor_view(z, shape=[n, 256], strides=[256, 1])
    for r in range(0, n, 32):
        count = scalar.min(n - r, 32)
        a = pto.alloc_tile(shape=[32, 256], dtype=pto.f32, valid_shape=[count, 256])
        b = pto.alloc_tile(shape=[32, 256], dtype=pto.f32, valid_shape=[count, 256])
        pto.tile.load(xv, a, offsets=[r, 0])
        pto.tile.load(yv, b, offsets=[r, 0], sizes=[count, 256])
        pto.tile.add(a, b, a)
        pto.tile.store(a, zv, offsets=[r, 0])


def test_tiles_in_auto_mode_get_addresses_and_order():
    x, y, z = RNG.random((70, 256), "f4"), RNG.random((70, 256), "f4"), np.zeros((70, 256), "f4")
    rows[1](x, y, z, 70)
    assert np.array_equal(z, x + y)
    assert not ptosim.check(rows, x, y, z, 70).findings


@pto.tileop
def exponentials(x: pto.Tile, o: pto.Tile, rows: pto.i32, cols: pto.i32):
    m = pto.make_mask(pto.f32, "ALL")
    for r in range(rows):
        largest = pto.vdup(float("-inf"), m)
        for c in range(0, cols, 64):
            largest = pto.vmax(largest, pto.vlds(x[r, c:]), m)
        largest = pto.vdup(pto.vcmax(largest, m), m)
        total = pto.vdup(0.0, m)
        for c in range(0, cols, 64):
            e = pto.vexp(pto.vsub(pto.vlds(x[r, c:]), largest, m), m)
            total = pto.vadd(total, e, m)
            pto.vsts(e, o[r, c:], m)
        pto.mem_bar("VV_ALL")
        total = pto.vdup(pto.vcadd(total, m), m)
        for c in range(0, cols, 64):
            pto.vsts(pto.vdiv(pto.vlds(o[r, c:]), total, m), o[r, c:], m)


@pto.jit()
def softmax(x: pto.ptr(pto.f32, "gm"), y: pto.ptr(pto.f32, "gm"), n: pto.i32):
    xv = pto.make_tensor_view(x, shape=[n, 128], strides=[128, 1])
    yv = pto.make_tensor_view(y, shape=[n, 128], strides=[128, 1])
    t = pto.alloc_tile(shape=[16, 128], dtype=pto.f32)
    o = pto.alloc_tile(shape=[16, 128], dtype=pto.f32)
    for r in range(0, n, 16):
        pto.tile.load(xv, t, offsets=[r, 0])
        exponentials(t, o, 16, 128)
        pto.tile.store(o, yv, offsets=[r, 0])


def test_a_tileop_is_a_function_that_is_called():
    x = RNG.random((48, 128), "f4")
    y = np.zeros_like(x)
    softmax[1](x, y, 48)
    e = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(y, e / e.sum(1, keepdims=True), atol=1e-6)
    assert softmax.text.count("func.func private @exponentials__ptodsl_") == 1
    assert "pto.tileop.helper" in softmax.text
    assert not ptosim.check(softmax, x, y, 48).findings


@pto.jit(mode="explicit")
def counting(out: pto.ptr(pto.i32, "gm"), n: pto.i32):
    s = 0
    i = pto.i32(0)
    while i < n:
        if i % 2 == 0 and not (i == 4):  # noqa: SIM201
            s = s + i
        elif i > 6 or i == 3:
            s += 100
        else:
            s -= 1
        if s > 500:
            break
        i += 1
    t = 0
    for k in range(10, 0, -2):
        if k == 6:
            continue
        t += k
    else:  # noqa: PLW0120
        t += 1000
    v = [pto.i32(0), pto.i32(5)]
    for j in range(3):
        v[0] += scalar.index_cast(pto.i32, j)
        v[1] = v[1] * 2
    scalar.store(s, out + 0)
    scalar.store(t, out + 1)
    x = 7 if n > 3 else pto.i32(9)
    scalar.store(x, out, 2)
    scalar.store(v[0], out, 3)
    scalar.store(v[1], out, 4)
    for q in pto.static_range(3):
        scalar.store(q * n, out, 5 + q)


def counted(n: int) -> list[int]:
    s = i = 0
    while i < n:
        if i % 2 == 0 and i != 4:
            s += i
        elif i > 6 or i == 3:
            s += 100
        else:
            s -= 1
        if s > 500:
            break
        i += 1
    return [s, 10 + 8 + 4 + 2 + 1000, 7 if n > 3 else 9, 3, 40, 0, n, 2 * n]


@pytest.mark.parametrize("n", [0, 1, 3, 4, 20])
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_control_flow_means_what_it_means_in_python(n: int, engine: str):
    out = np.zeros(8, "i4")
    counting[1](out, n, engine=engine)
    assert out.tolist() == counted(n)


def test_constants_specialise():
    assert "step %c64" in vector_add.compile().text and "step %c128" in vector_add.compile(BLOCK=128).text
    assert vector_add.compile(BLOCK=128) is vector_add.compile(BLOCK=128)
    with pytest.raises(TypeError, match="has no constant 'WIDTH'; it has: BLOCK"):
        vector_add.compile(WIDTH=3)
    with pytest.raises(TypeError, match="not hashable"):
        vector_add.compile(BLOCK=[64])


def test_literals_keep_their_bits():
    @pto.jit(mode="explicit")
    def literals(out: pto.ptr(pto.f32, "gm")):
        scalar.store(pto.f32("-inf"), out, 0)
        scalar.store(pto.f32("0x7FC00001"), out, 1)
        scalar.store(0.1, out, 2)
        scalar.store(scalar.max(pto.f32(2.0), 3.0), out, 3)

    out = np.zeros(4, "f4")
    literals[1](out)
    assert out[0] == -math.inf and out.view("u4")[1] == 0x7FC00001 and out[2] == np.float32(0.1) and out[3] == 3


def test_the_check_of_tests_takes_kernels_in_python():
    from ptosim.testing import check

    x, y, z = vectors()
    check(vector_add, x, y, z, expect=x + y)
    check(vector_add, x, y, z, expect={"z": x + y}, constants={"BLOCK": 32})
    with pytest.raises(AssertionError, match="race"):
        check(unordered, np.ones(64, "f4"), np.zeros(64, "f4"))


TEXT = """
func.func @written(%out: !pto.ptr<i32, gm>, %n: i32) attributes {pto.entry} {
  %c0 = arith.constant 0 : index
  pto.store_scalar %n, %out[%c0] : !pto.ptr<i32, gm>, i32
  return
}
"""


def test_the_body_may_be_text():
    @pto.jit(source=TEXT)
    def written(out: pto.ptr(pto.i32, "gm"), n: pto.i32): ...

    out = np.zeros(1, "i4")
    written[1](out, 7)
    assert out[0] == 7

    @pto.jit(source=TEXT, name="written")
    def otherwise(out: pto.ptr(pto.f32, "gm"), n: pto.i32): ...

    with pytest.raises(TypeError, match="takes"):
        otherwise.compile()


def test_names_of_types_may_be_text():
    @pto.jit(mode="explicit")
    def annotated(out: 'pto.ptr(pto.i32, "gm")', n: "pto.i32"):  # noqa: UP037
        scalar.store(n, out)

    assert [each.type for each in annotated.signature] == ["!pto.ptr<i32, gm>", "i32"]


def test_notebooks_show_kernels_reports_plans_and_proofs_as_text():
    x, y, z = vectors()
    shown = (
        vector_add,
        vector_add.compile(),
        ptosim.check(vector_add, x, y, z),
        ptosim.profile(vector_add, x, y, z),
        rows.module().plan(),
        ptosim.prove(vector_add),
    )
    for each in shown:
        assert each._repr_html_().startswith(("<pre>", "<iframe "))
    assert "!pto.ptr&lt;f32, gm&gt;" in vector_add._repr_html_()


def test_two_threads_trace_at_once():
    from concurrent.futures import ThreadPoolExecutor

    def made(number: int) -> str:
        @pto.jit(mode="explicit", name=f"kernel_{number}")
        def threaded(out: pto.ptr(pto.i32, "gm"), n: pto.i32):
            for i in range(number):
                if n > i:
                    scalar.store(n * number, out, i)

        return threaded.text

    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(made, range(1, 9)))
    assert texts == [made(number) for number in range(1, 9)]


@pto.tileop
def doubled(t: pto.Tile, o: pto.Tile, rows: pto.i32):
    m = pto.make_mask(pto.f32, "ALL")
    for r in range(rows):
        v = pto.vlds(t[r, 0:])
        pto.vsts(pto.vadd(v, v, m), o[r, 0:], m)


@pto.func(returns=None)
def put(p: pto.ptr(pto.f32, "gm"), at: pto.i32):
    scalar.store(1.0, p, at)


@pto.func(returns=None)
def put_behind(p: pto.ptr(pto.f32, "gm"), at: pto.i32):
    put(p, at + 1)


@pto.simt
def put_many(p: pto.ptr(pto.f32, "gm"), at: pto.i32):
    scalar.store(1.0, p, pto.get_tid_x() + at)


@pto.jit(mode="explicit", kernel_kind="vector")
def calls_helpers(x: pto.ptr(pto.f32, "gm")):
    put(x, 3)
    put_behind(x, 4)
    put_behind(x, 400)  # wrong
    put_many[4, 1, 1](x, 8)
    put_many[4, 1, 1](x, 800)  # wrong


@pto.jit(kernel_kind="vector")
def forgets_a_row(x: pto.ptr(pto.f32, "gm")):
    v = pto.make_tensor_view(x, shape=[4, 64], strides=[64, 1])
    t, o = (pto.alloc_tile(shape=[4, 64], dtype=pto.f32) for _ in range(2))
    pto.tile.load(v, t)
    doubled(t, o, 3)
    doubled(o, t, 4)  # wrong
    pto.tile.store(t, v)


@pytest.mark.parametrize("kernel, kinds", [(calls_helpers, ["out-of-bounds"] * 2), (forgets_a_row, ["uninitialized"])])
def test_a_finding_in_a_helper_says_which_call_it_is(kernel: object, kinds: list[str]):
    with open(__file__) as file:
        wrong = [number for number, line in enumerate(file, 1) if line.endswith("# wrong\n")]
    found = [each for each in ptosim.check(kernel, np.zeros(256, "f4")).findings if each.kind == kinds[0]]
    assert [each.kind for each in found] == kinds
    calls = [[place.location.line for place in each.related if place.role == "called here"] for each in found]
    assert all(set(lines) & set(wrong) for lines in calls), calls
    assert kernel.text.count("func.func") == kernel.text.count("func.func private") + 1 + kernel.text.count(
        "simt_entry"
    )


def test_a_trap_in_a_helper_says_which_calls_led_there():
    for engine in ("native", "reference"):
        with pytest.raises(ptosim.PTOError) as caught:
            calls_helpers(np.zeros(256, "f4"), engine=engine)
        (trap,) = caught.value.diagnostics
        assert [each.role for each in trap.related] == ["called here"] * 2


def test_a_repair_in_a_helper_that_is_called_once_is_an_edit():
    @pto.tileop
    def stores_and_loads(t: pto.Tile, o: pto.Tile):
        m = pto.make_mask(pto.f32, "ALL")
        pto.vsts(pto.vlds(t[0, 0:]), o[0, 0:], m)
        pto.vsts(pto.vlds(o[0, 0:]), t[0, 0:], m)

    @pto.jit(kernel_kind="vector")
    def once(x: pto.ptr(pto.f32, "gm")):
        v = pto.make_tensor_view(x, shape=[1, 64], strides=[64, 1])
        t, o = (pto.alloc_tile(shape=[1, 64], dtype=pto.f32) for _ in range(2))
        pto.tile.load(v, t)
        stores_and_loads(t, o)
        pto.tile.store(t, v)

    report = ptosim.check(once, np.zeros(64, "f4"))
    assert report.findings[0].hint.endswith('add pto.mem_bar("VST_VLD")')
    assert '+        pto.mem_bar("VST_VLD")' in report.fix().diff


@pto.jit(mode="explicit", kernel_kind="vector")
def takes_scalars(out: pto.ptr(pto.f32, "gm"), b: pto.i1, u: pto.ui8, h: pto.f16, i: pto.index):
    if b:
        scalar.store(scalar.cast(h, pto.f32), out, i)
    if u > 3:
        scalar.store(1.0, out)


def test_scalars_are_pythons_or_numpys_and_arguments_may_be_named():
    for values in ((True, 200, 1.5, 2), (np.bool_(True), np.uint8(200), np.float16(1.5), np.int64(2))):
        out = np.zeros(3, "f4")
        takes_scalars[1](out, *values)
        assert out.tolist() == [1, 0, 1.5]
    named = dict(zip("buhi", values, strict=True))
    takes_scalars[1](out, **named)
    takes_scalars(out=out, grid=1, **named)
    with pytest.raises(TypeError, match="a launch has no option 'v'"):
        takes_scalars[1](out, **named, v=1)
