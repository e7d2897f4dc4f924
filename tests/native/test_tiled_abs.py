"""A whole kernel built by hand: |x| over two GM buffers in tiles through UB, compiled, cached, reloaded and run."""

import time
from collections.abc import Sequence

import numpy as np
import pytest

from native.handmade import explain, host_address
from ptosim.diagnostics import PTOError
from ptosim.effects.names import CoreKind, Space
from ptosim.machine.launch import KernelKind
from ptosim.machine.memory import pointer
from ptosim.native.host.cache import Cache, Compiled
from ptosim.native.host.toolchain import LoadedObject, compile_object, this_host
from ptosim.native.ir.context import ContextWord
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import F32, I64, PTR, Value
from ptosim.native.run.cores import Executable, Invocation
from ptosim.native.run.runtime import Runner
from ptosim.native.vector.registers import register_type
from ptosim.target.profile import load_target
from tables import table

UB_BYTES = 256 << 10
TILE = 4096  # a tile of 32x32 f32
OUT = 64 << 10  # where the results of a tile lie in UB
INPUT, OUTPUT, LOAD, STORE, TILES, ROWS = range(6)  # the sites


def tiled_abs() -> ObjectModule:
    """Block b takes `tiles` tiles from tile b·tiles on. Arguments: x, y, tiles, the register that is loaded first."""
    module = ObjectModule()
    for name in ("input", "output", "load", "store", "tiles", "rows"):
        module.site(name)
    function = module.function("aiv")
    arguments = function.word(ContextWord.ARGUMENTS).load(PTR, 8)
    x, y, tiles, first = (arguments.at(8 * number).load(I64, 8) for number in range(4))
    ub = function.word(ContextWord.UB).load(PTR, 8)
    block = function.word(ContextWord.BLOCK).load(I64, 8)

    def register(index: Value, _carried: list[Value]) -> Sequence[Value]:
        place = function.access((index + first) * 256, 256, UB_BYTES, 32, LOAD)
        value = ub.at(place).load(register_type(F32))
        result = function.intrinsic("llvm.fabs", value.kind, value)
        ub.at(function.access(index * 256 + OUT, 256, UB_BYTES, 32, STORE)).store(result)
        return ()

    def tile(number: Value, _carried: list[Value]) -> Sequence[Value]:
        offset = (block * tiles + number) * TILE
        ub.copy_from(host_address(function, x + offset, TILE, INPUT), TILE)
        function.for_loop(number.like(0), TILE // 256, 1, (), register, ROWS)
        host_address(function, y + offset, TILE, OUTPUT).copy_from(ub.at(OUT), TILE)
        return ()

    function.for_loop(tiles.like(0), tiles, 1, (), tile, TILES)
    function.finish()
    return module


def linked(image: bytes) -> Runner:
    code = LoadedObject(image, ["aiv"])
    spaces = {Space.UB: OUT + TILE}
    return Runner(Executable(KernelKind.VECTOR, code, {CoreKind.AIV: "aiv"}, explain, spaces), load_target("a5"))


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """From the disk, not from the compiler."""
    cache = Cache(tmp_path_factory.mktemp("cache") / "ptosim")
    key = cache.key(source="tiled abs", host=this_host().identity)
    module = tiled_abs()
    cache.store(key, Compiled(compile_object(module.text()), {"sites": module.sites}))
    found = Cache(cache.directory).load(key)
    assert found is not None
    assert found.data == {"sites": ["input", "output", "load", "store", "tiles", "rows"]}
    return linked(found.image)


def invocation(x: np.ndarray, y: np.ndarray, grid: int, tiles: int, first: int = 0, steps: int = 10**9) -> Invocation:
    buffers = [(array.ctypes.data, array.nbytes) for array in (x, y)]
    return Invocation(grid, [pointer(0), pointer(1), tiles, first], buffers, steps, owner=(x, y))


def sample(count: int) -> np.ndarray:
    values = np.random.default_rng(3).standard_normal(count).astype("f4")
    values[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, -1e-45, -3.4e38]
    return values


@pytest.mark.parametrize("threads", [1, 2, None])
@pytest.mark.parametrize("grid, tiles", [(1, 1), (3, 5), (16, 2)])
def test_it_computes_absolute_values(runner: Runner, threads: int | None, grid: int, tiles: int):
    x = sample(grid * tiles * TILE // 4)
    y = np.zeros_like(x)
    runner.run_apart(invocation(x, y, grid, tiles), threads)
    assert y.tobytes() == (x.view("u4") & 0x7FFFFFFF).tobytes()


@table(
    "short, first, steps, site, value, block, loops",
    (1, 0, 10**9, INPUT, pointer(0, 5 * TILE), 2, (1,)),  # x lacks its last byte
    (2, 0, 10**9, OUTPUT, pointer(1, 5 * TILE), 2, (1,)),
    (0, 1015, 10**9, LOAD, UB_BYTES, 0, (0, 9)),  # registers 1015 to 1030 of 1024
    (0, -1, 10**9, LOAD, -256, 0, (0, 0)),
    (0, 1 << 60, 10**9, LOAD, 0, 0, None),  # times 256 wraps to address 0, which is legal
    (0, 0, 33, ROWS, 0, 0, (1,)),
    (0, 0, 1, TILES, 0, 0, ()),
)
def test_what_goes_wrong_is_reported_and_nothing_outside_is_touched(
    runner: Runner, short: int, first: int, steps: int, site: int, value: int, block: int, loops: tuple[int, ...] | None
):
    """Three blocks of two tiles; each array lies in the middle of a larger one, whose other bytes are guards."""
    size = 6 * TILE
    rooms = [np.full(size + 2 * TILE, 0xA5, np.uint8) for _ in range(2)]
    x, y = (room[TILE : TILE + size - int(short == number)] for number, room in enumerate(rooms, 1))
    call = invocation(x, y, 3, 2, first, steps)
    if loops is None:
        runner.run_apart(call, 1)
    else:
        with pytest.raises(PTOError) as raised:
            runner.run_apart(call, 1)
        (diagnostic,) = raised.value.diagnostics
        assert diagnostic.message == f"site {site} found {value}"
        assert (diagnostic.block, diagnostic.loops) == (block, loops)
    for room in rooms:
        assert (room[:TILE] == 0xA5).all()
        assert (room[TILE + size :] == 0xA5).all()
    assert (rooms[0] == 0xA5).all()
    if short == 2:
        assert rooms[1][TILE + size - 1] == 0xA5


def test_how_fast_it_is(runner: Runner):
    """Figures to look at (pytest -s); how fast is fast enough is the benchmarks' business."""
    x = sample(1 << 20)
    y = np.zeros_like(x)
    started = time.perf_counter()
    image = compile_object(tiled_abs().text())
    compiled = time.perf_counter() - started
    started = time.perf_counter()
    linked(image)
    print(f"\ncompile {compiled * 1e3:.1f} ms, link {(time.perf_counter() - started) * 1e3:.1f} ms")  # noqa: T201
    for threads in (1, 2):
        best = min(
            _seconds(lambda threads=threads: runner.run_apart(invocation(x, y, 4, 256), threads)) for _ in range(5)
        )
        rate, bandwidth = 3 * x.size / 64 / best, 2 * x.nbytes / best
        print(f"{threads} thread(s): {rate / 1e6:.0f} M vector instructions/s, {bandwidth / 1e9:.1f} GB/s")  # noqa: T201
    print(f"copy: {2 * x.nbytes / min(_seconds(lambda: np.copyto(y, x)) for _ in range(5)) / 1e9:.1f} GB/s")  # noqa: T201
    runner.run_apart(invocation(x, y, 4, 256))
    assert y.tobytes() == np.abs(x).tobytes()


def _seconds(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
