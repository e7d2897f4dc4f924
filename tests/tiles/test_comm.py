"""Copies between ranks, signals and collectives against closed forms, on both engines: i is the index of an element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptosim
from rank_programs import ENGINES, RANKS, Writer, dtype_of

CONTEXT = {"ctx": "!pto.ptr<i64>", "rank": "i32", "ranks": "i32"}


def counted(count: int, element: str, start: int) -> np.ndarray[Any, Any]:
    return (np.arange(count) + start).astype(dtype_of(element))


# --- copies -----------------------------------------------------------------------------------------------------------

SHAPES = [
    ((256,), "f32", "1x256xf32", False),
    ((4096,), "i32", "1x1024xi32", False),
    ((512,), "ui8", "1x512xui8", False),
    ((16, 16), "f32", "16x16xf32", False),
    ((8, 32), "i16", "16x32xi16", False),
    ((128, 64), "f32", "16x64xf32", False),
    ((128, 64), "bf16", "16x64xbf16", True),
    ((65, 104), "i32", "16x32xi32, valid=?x?", False),
    ((65, 104), "i32", "16x32xi32, valid=?x?", True),
    ((7, 10), "f32", "5x8xf32, valid=?x?", True),
    ((2, 2, 1, 32, 32), "f32", "16x32xf32", False),
    ((64, 128), "f16", "16x32xf16", True),
    ((2047, 32), "i8", "64x32xi8, valid=?x?", False),
]


def copying(name: str, shape: tuple[int, ...], element: str, tile: str, pong: bool, target: str) -> Writer:
    """Every rank copies between its array and the window of a neighbour: tput to the one before, tget from the next."""
    pointer = f"!pto.ptr<{element}>"
    w = Writer({"x": pointer, "window": pointer, **CONTEXT}, target)
    buffers = [w.tile(tile), w.tile(tile)] if pong else [w.tile(tile)]
    theirs = w.view(w.remote("%window", element, w.neighbour(-1 if name == "pto.comm.tput" else 1)), shape, element)
    mine = w.view("%x", shape, element)
    w.call(name, *((theirs, mine) if name == "pto.comm.tput" else (mine, theirs)), ("buf", buffers))
    return w


@pytest.mark.parametrize(("shape", "element", "tile", "pong"), SHAPES)
@pytest.mark.parametrize("name", ["pto.comm.tput", "pto.comm.tget"])
@pytest.mark.parametrize("target", ["a5", "a3"])
def test_copies(name: str, shape: tuple[int, ...], element: str, tile: str, pong: bool, target: str) -> None:
    kernel = copying(name, shape, element, tile, pong, target).kernel()
    count = int(np.prod(shape))
    for engine in ENGINES:
        for ranks in RANKS:
            world = ptosim.World(ranks)
            window = world.symmetric(count, dtype_of(element))
            x = [counted(count, element, 10 * rank) for rank in range(ranks)]
            if name == "pto.comm.tget":
                for rank in range(ranks):
                    window[rank][:], x[rank] = x[rank], np.zeros_like(x[rank])
            world.launch(kernel, ptosim.each(*x), window, world.context(window), ptosim.RANK, ptosim.RANKS)
            world.run(engine=engine)
            for rank in range(ranks):
                expected = counted(count, element, 10 * ((rank + 1) % ranks))
                assert np.array_equal(window[rank] if name == "pto.comm.tput" else x[rank], expected), (
                    engine,
                    ranks,
                    rank,
                )


@pytest.mark.parametrize(("rows", "cols"), [(0, 64), (3, 64), (33, 7), (16, 0), (16, 1)])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_copy_of_extents_that_only_the_run_knows(rows: int, cols: int, engine: str) -> None:
    """A tile of 8 x 32; no rows or no columns: nothing happens."""
    w = Writer({"x": "!pto.ptr<f32>", "y": "!pto.ptr<f32>", "rows": "index", "cols": "index"})
    parts = [w.part(pointer, (64, 64), "f32", ("%rows", "%cols")) for pointer in ("%y", "%x")]
    w.call("pto.comm.tput", *parts, ("buf", [w.tile("8x32xf32, valid=?x?"), w.tile("8x32xf32, valid=?x?")]))
    x, y = np.arange(4096, dtype="f4").reshape(64, 64), np.zeros((64, 64), "f4")
    expected = y.copy()
    expected[:rows, :cols] = x[:rows, :cols]
    w.kernel()(x, y, rows, cols, engine=engine)
    assert np.array_equal(y, expected)


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "i32", "i16", "i8"])
@pytest.mark.parametrize("ranks", RANKS)
def test_every_rank_adds_to_the_first(element: str, ranks: int) -> None:
    """Sums of small integers are exact in every type."""
    w = Writer({"x": f"!pto.ptr<{element}>", "window": f"!pto.ptr<{element}>", **CONTEXT})
    first = w.view(w.remote("%window", element, w.constant(0)), (32, 32), element)
    adds = " {atomicType = #pto<atomic_type atomic_add>}"
    w.call("pto.comm.tput", first, w.view("%x", (32, 32), element), ("buf", [w.tile(f"8x32x{element}")]), rest=adds)
    kernel = w.kernel()
    for engine in ENGINES:
        world = ptosim.World(ranks)
        window = world.symmetric((32, 32), dtype_of(element))
        x = [(np.arange(1024) % 8).astype(dtype_of(element)) for _ in range(ranks)]
        world.launch(kernel, ptosim.each(*x), window, world.context(window), ptosim.RANK, ptosim.RANKS)
        world.run(engine=engine)
        assert np.array_equal(window[0].reshape(-1).astype("f8"), ranks * (np.arange(1024) % 8))
        assert not any(window[rank].any() for rank in range(1, ranks))


# --- signals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ranks", RANKS)
def test_notices(engine: str, ranks: int) -> None:
    """Everybody adds 1 to word 0 of rank 0, sets word 1 of the next to 100 + rank, and word 2 + rank of rank 0."""
    w = Writer({"words": "!pto.ptr<i32>", **CONTEXT})
    first = w.remote("%words", "i32", w.constant(0))
    w.notify(w.view(first, (1,), "i32"), 1)
    mine = w.new(f"arith.addi %rank, {w.constant(100, 'i32')} : i32")
    w.notify(w.view(w.remote("%words", "i32", w.neighbour(1)), (1,), "i32", at=w.constant(1)), mine, "set")
    slot = w.new(f"arith.addi {w.index('%rank')}, {w.constant(2)} : index")
    w.notify(w.view(first, (1,), "i32", at=slot), mine, "set")
    world = ptosim.World(ranks)
    words = world.symmetric(16, "i4")
    world.launch(w.kernel(), words, world.context(words), ptosim.RANK, ptosim.RANKS)
    world.run(engine=engine)
    assert words[0][0] == ranks
    assert [int(words[(rank + 1) % ranks][1]) for rank in range(ranks)] == [100 + rank for rank in range(ranks)]
    assert words[0][2 : 2 + ranks].tolist() == [100 + rank for rank in range(ranks)]


@pytest.mark.parametrize("engine", ENGINES)
def test_adding_wraps(engine: str) -> None:
    w = Writer({"words": "!pto.ptr<i32>"})
    w.notify(w.view("%words", (1,), "i32"), 2**31 - 1)
    w.notify(w.view("%words", (1,), "i32"), 2)
    words = np.zeros(4, "i4")
    w.kernel()(words, engine=engine)
    assert words.tolist() == [1 - 2**31, 0, 0, 0]


COMPARISONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}


@pytest.mark.parametrize("cmp", COMPARISONS)
@pytest.mark.parametrize("word", [-1, 50, 100])
def test_a_test_compares_signed_words(cmp: str, word: int) -> None:
    w = Writer({"words": "!pto.ptr<i32>", "out": "!pto.ptr<i32>"})
    view, type_ = w.view("%words", (1,), "i32")
    limit = w.constant(50, "i32")
    ok = w.new(f"pto.comm.ttest({view}, {limit} : {type_}, i32) {{cmp = #pto<wait_cmp {cmp}>}} -> i1")
    answer = w.new(f"arith.extui {ok} : i1 to i32")
    w.do(f"pto.store_scalar {answer}, %out[{w.constant(0)}] : !pto.ptr<i32>, i32")
    kernel = w.kernel()
    for engine in ENGINES:
        out = np.full(1, -7, "i4")
        kernel(np.array([word], "i4"), out, engine=engine)
        assert out[0] == COMPARISONS[cmp](word, 50)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("changed", "expected"), [(None, 1), ((2, 4), 0), ((5, 11), 0), ((2, 3), 1), ((6, 4), 1)])
def test_all_words_of_a_view_count_and_no_others(engine: str, changed: tuple[int, int] | None, expected: int) -> None:
    """A view of 4 x 8 words that begins at (2, 4) of 16 columns."""
    w = Writer({"words": "!pto.ptr<i32>", "out": "!pto.ptr<i32>"})
    view, type_ = w.view("%words", (4, 8), "i32", (16, 1), at=w.constant(36))
    ok = w.new(f"pto.comm.ttest({view}, {w.constant(1, 'i32')} : {type_}, i32) {{cmp = #pto<wait_cmp eq>}} -> i1")
    w.do(f"pto.store_scalar {w.new(f'arith.extui {ok} : i1 to i32')}, %out[{w.constant(0)}] : !pto.ptr<i32>, i32")
    words, out = np.ones((8, 16), "i4"), np.full(1, -7, "i4")
    if changed:
        words[changed] = 2
    w.kernel()(words, out, engine=engine)
    assert out[0] == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ranks", [2, 4])
def test_waits_go_through_phases(engine: str, ranks: int) -> None:
    """Rank 0 waits for 1, 3 and 5 of each other rank in turn and answers; the others count up by its answers."""
    w = Writer({"words": "!pto.ptr<i32>", "log": "!pto.ptr<i32>", **CONTEXT})
    first = w.new(f"arith.cmpi eq, %rank, {w.constant(0, 'i32')} : i32")
    mine = w.index("%rank")
    theirs = w.view(w.remote("%words", "i32", w.constant(0)), (1,), "i32", at=mine)
    all_, own = w.view("%words", (ranks - 1,), "i32", at=w.constant(1)), w.view("%words", (1,), "i32")
    peers = [w.view(w.remote("%words", "i32", w.constant(peer)), (1,), "i32") for peer in range(1, ranks)]
    w.do(f"scf.if {first} {{")
    for phase in (1, 3, 5):
        w.wait(all_, phase)
        w.do(f"pto.store_scalar {w.constant(phase, 'i32')}, %log[{w.constant(phase // 2)}] : !pto.ptr<i32>, i32")
        for peer in peers:
            w.notify(peer, phase, "set")
    w.do("} else {")
    for phase in (1, 3, 5):
        w.notify(theirs, 1 if phase == 1 else 2)
        w.wait(own, phase)
    w.do("}")
    world = ptosim.World(ranks)
    words = world.symmetric(16, "i4")
    logs = [np.zeros(3, "i4") for _ in range(ranks)]
    world.launch(w.kernel(), words, ptosim.each(*logs), world.context(words), ptosim.RANK, ptosim.RANKS)
    world.run(engine=engine)
    assert logs[0].tolist() == [1, 3, 5]
    assert words[0][1:ranks].tolist() == [5] * (ranks - 1)
    assert [int(words[rank][0]) for rank in range(1, ranks)] == [5] * (ranks - 1)


@pytest.mark.parametrize("schedule", [f"random:{seed}" for seed in range(4)])
def test_other_orders_give_the_same(schedule: str) -> None:
    kernel = copying("pto.comm.tput", (64, 32), "f32", "8x32xf32", True, "a5").kernel()
    world = ptosim.World(4)
    window = world.symmetric(2048, "f4")
    x = [counted(2048, "f32", 10 * rank) for rank in range(4)]
    world.launch(kernel, ptosim.each(*x), window, world.context(window), ptosim.RANK, ptosim.RANKS)
    world.run(engine="reference", schedule=schedule)
    assert all(np.array_equal(window[rank], x[(rank + 1) % 4]) for rank in range(4))


# --- collectives ------------------------------------------------------------------------------------------------------


def collective(
    name: str,
    members: int,
    shape: tuple[int, ...],
    element: str,
    tile: str,
    root: int,
    pong: bool,
    op: str,
    view: tuple[int, ...] = (),
):
    """The root runs it on a buffer of its own (`view`: one of these extents) and the windows of all ranks; the others
    do nothing."""
    whole = shape if name in ("pto.comm.tbroadcast", "pto.comm.treduce") else (shape[0] * members, *shape[1:])
    w = Writer({"buffer": f"!pto.ptr<{element}>", "window": f"!pto.ptr<{element}>", **CONTEXT})
    tiles = [w.tile(tile), w.tile(tile)] if pong else [w.tile(tile)]
    acc = [w.tile(tile)] if name == "pto.comm.treduce" else []
    is_root = w.new(f"arith.cmpi eq, %rank, {w.constant(root, 'i32')} : i32")
    group = [w.view(w.remote("%window", element, w.constant(peer)), shape, element) for peer in range(members)]
    buffer = w.view("%buffer", view or whole, element)
    settings = f"root = {root} : i32" + (f", reduceOp = #pto<reduce_op {op}>" if op else "")
    w.do(f"scf.if {is_root} {{")
    w.call(name, buffer, *acc, ("recv", tiles), ("group", group), rest=f" {{{settings}}}")
    w.do("}")
    return w


COLLECTIVES = [
    ((256,), "f32", "1x256xf32", 0, False),
    ((4096,), "i32", "1x1024xi32", 1, True),
    ((128, 32), "i32", "16x32xi32", 1, False),
    ((64, 32), "f16", "16x32xf16", 0, True),
    ((33, 24), "i16", "8x16xi16, valid=?x?", 1, False),
    ((160, 64), "f32", "16x64xf32", 0, True),
]


@pytest.mark.parametrize(("shape", "element", "tile", "root", "pong"), COLLECTIVES)
@pytest.mark.parametrize("name", ["pto.comm.tbroadcast", "pto.comm.tgather", "pto.comm.tscatter"])
def test_collectives(name: str, shape: tuple[int, ...], element: str, tile: str, root: int, pong: bool) -> None:
    count, dtype = int(np.prod(shape)), dtype_of(element)
    for ranks in RANKS:
        chosen = root % ranks
        kernel = collective(name, ranks, shape, element, tile, chosen, pong, "").kernel()
        for engine in ENGINES:
            world = ptosim.World(ranks)
            window = world.symmetric(count, dtype)
            size = count if name == "pto.comm.tbroadcast" else (ranks + 1) * count
            buffers = [np.full(size, -1, dtype) for _ in range(ranks)]
            for rank in range(ranks):
                if name == "pto.comm.tgather":
                    window[rank][:] = counted(count, element, 100 * rank)
                else:
                    window[rank][:] = -1
                    buffers[rank][:] = counted(size, element, 100 * rank)
            given = buffers[chosen].copy()
            world.launch(kernel, ptosim.each(*buffers), window, world.context(window), ptosim.RANK, ptosim.RANKS)
            world.run(engine=engine)
            for rank in range(ranks):
                part = slice(rank * count, (rank + 1) * count)
                if name == "pto.comm.tbroadcast":
                    assert np.array_equal(window[rank], given)
                elif name == "pto.comm.tscatter":
                    assert np.array_equal(window[rank], given[part])
                else:
                    assert np.array_equal(buffers[chosen][part], counted(count, element, 100 * rank))
            if name == "pto.comm.tgather":
                assert (buffers[chosen][ranks * count :] == dtype.type(-1)).all()


@pytest.mark.parametrize("name", ["pto.comm.tgather", "pto.comm.tscatter"])
@pytest.mark.parametrize(("length", "of_view"), [(1024, 1024), (1024, 256), (700, 256)])
def test_members_of_a_line_follow_each_other_behind_a_view_of_fewer(name: str, length: int, of_view: int) -> None:
    """Four members of 256. The address runs on behind the view; the end of the buffer stops a run."""
    kernel = collective(name, 4, (256,), "f32", "1x256xf32", 1, False, "", view=(of_view,)).kernel()
    for engine in ENGINES:
        world = ptosim.World(4)
        window, buffers = world.symmetric(256, "f4"), [counted(length, "f32", 5000 * rank) for rank in range(4)]
        for rank in range(4):
            window[rank][:] = counted(256, "f32", 100 * rank)
        given = buffers[1].copy()
        world.launch(kernel, ptosim.each(*buffers), window, world.context(window), ptosim.RANK, ptosim.RANKS)
        said = [(found.kind, found.severity) for found in world.check().findings]
        assert ("lint", "warning") in said if of_view < 1024 else not said
        assert ("out-of-bounds" in [kind for kind, _ in said]) == (length < 1024)
        if length < 1024:
            with pytest.raises(ptosim.PTOError, match="out-of-bounds"):
                world.run(engine=engine)
            continue
        world.run(engine=engine)
        for rank in range(4):
            found = (buffers[1][256 * rank :][:256], window[rank])[name.endswith("tscatter")]
            expected = (counted(256, "f32", 100 * rank), given[256 * rank :][:256])[name.endswith("tscatter")]
            assert np.array_equal(found, expected)


@pytest.mark.parametrize(("shape", "element", "tile", "root", "pong"), COLLECTIVES)
@pytest.mark.parametrize("op", ["sum", "max", "min"])
def test_reductions(op: str, shape: tuple[int, ...], element: str, tile: str, root: int, pong: bool) -> None:
    count, dtype = int(np.prod(shape)), dtype_of(element)
    join = {"sum": np.add, "max": np.maximum, "min": np.minimum}[op]
    for ranks in RANKS:
        chosen = root % ranks
        kernel = collective("pto.comm.treduce", ranks, shape, element, tile, chosen, pong, op).kernel()
        for engine in ENGINES:
            world = ptosim.World(ranks)
            window = world.symmetric(count, dtype)
            generator = np.random.default_rng(ranks)
            for rank in range(ranks):
                window[rank][:] = generator.integers(-50, 50, count) / (8 if dtype.kind == "f" else 1)
            buffers = [np.zeros(count, dtype) for _ in range(ranks)]
            world.launch(kernel, ptosim.each(*buffers), window, world.context(window), ptosim.RANK, ptosim.RANKS)
            world.run(engine=engine)
            expected = window[chosen].copy()
            for rank in range(ranks):
                if rank != chosen:
                    expected = join(expected, window[rank])
            assert np.array_equal(buffers[chosen], expected)


@pytest.mark.parametrize("root", range(4))
def test_a_float_sum_begins_with_the_root_and_goes_upwards(root: int) -> None:
    """1e8 + 1 - 1e8 depends on the order: each sum is rounded to f32."""
    kernel = collective("pto.comm.treduce", 4, (64,), "f32", "1x64xf32", root, False, "sum").kernel()
    terms = np.array([1e8, 1.0, -1e8, 3.0], "f4")
    expected = terms[root]
    for rank in range(4):
        if rank != root:
            expected = np.float32(expected + terms[rank])
    for engine in ENGINES:
        world = ptosim.World(4)
        window = world.symmetric(64, "f4")
        for rank in range(4):
            window[rank][:] = terms[rank]
        buffers = [np.zeros(64, "f4") for _ in range(4)]
        world.launch(kernel, ptosim.each(*buffers), window, world.context(window), ptosim.RANK, ptosim.RANKS)
        world.run(engine=engine)
        assert (buffers[root] == expected).all()


# --- transfers with an event ------------------------------------------------------------------------------------------


def transferring(name: str, target: str, settings: str = "", done: str = "wait_async_event", scratch: str = "1x32xi8"):
    """Every rank puts its line into the window of the next one, or gets that of the next; blocks have shares."""
    w = Writer({"x": "!pto.ptr<f32>", "window": "!pto.ptr<f32>", "workspace": "!pto.ptr<i8>", **CONTEXT}, target)
    tile, type_ = w.tile(scratch)
    family = name.rpartition(".")[0]
    session = w.new(
        f"{family}.build_async_session({tile}, %workspace : {type_}, !pto.ptr<i8>) {settings}-> !pto.async_session"
    )
    theirs, mine = w.view(w.remote("%window", "f32", w.neighbour(1)), (1, 256), "f32"), w.view("%x", (1, 256), "f32")
    dst, src = (theirs, mine) if "tput" in name else (mine, theirs)
    event = w.new(f"{name}({dst[0]}, {src[0]}, {session} : {dst[1]}, {src[1]}, !pto.async_session) -> !pto.async_event")
    if done:
        w.new(f"{family}.{done}({event}, {session} : !pto.async_event, !pto.async_session) -> i1")
    return w


@pytest.mark.parametrize("name", ["pto.comm.tput_async", "pto.comm.tget_async", "pto.tput_async", "pto.tget_async"])
@pytest.mark.parametrize("target", ["a5", "a3"])
@pytest.mark.parametrize("ranks", [1, 4])
def test_transfers(name: str, target: str, ranks: int) -> None:
    """With pto.comm.build_async_session (the older name is pto.build_async_session), and pto.comm.wait_async_event or
    pto.comm.test_async_event."""
    for done in ("wait_async_event", "test_async_event"):
        kernel = transferring(name, target, done=done).kernel()
        for engine in ENGINES:
            world = ptosim.World(ranks)
            window, work = world.symmetric(256, "f4"), world.symmetric(64, "i1")
            x = [counted(256, "f32", 1000 * rank) for rank in range(ranks)]
            if "tget" in name:
                for rank in range(ranks):
                    window[rank][:], x[rank] = x[rank], np.zeros_like(x[rank])
            world.launch(kernel, ptosim.each(*x), window, work, world.context(window), ptosim.RANK, ptosim.RANKS)
            world.run(engine=engine)
            for rank in range(ranks):
                found = window[(rank + 1) % ranks] if "tput" in name else x[rank]
                source = rank if "tput" in name else (rank + 1) % ranks
                assert np.array_equal(found, counted(256, "f32", 1000 * source))


@pytest.mark.parametrize("target", ["a5", "a3"])
@pytest.mark.parametrize("name", ["pto.comm.tput_async", "pto.comm.tget_async"])
@pytest.mark.parametrize("grid", [1, 3])
def test_an_offset_moves_both_sides_of_a_transfer_the_same_in_every_block(name: str, target: str, grid: int) -> None:
    kernel = transferring(name, target, "{comm_block_offset = 1024 : i64} ").kernel()
    for engine in ENGINES:
        world = ptosim.World(2)
        window, work = world.symmetric(768, "f4"), world.symmetric(64, "i1")
        x = [counted(768, "f32", 1000 * rank) for rank in range(2)]
        for rank in range(2):
            window[rank][:] = -1
        given = [line.copy() for line in x]
        world.launch(kernel, ptosim.each(*x), window, work, world.context(window), ptosim.RANK, ptosim.RANKS, grid=grid)
        world.run(engine=engine)
        for rank in range(2):
            moved, source = (window[1 - rank], given[rank]) if "tput" in name else (x[rank], np.full(768, -1, "f4"))
            kept = np.full(768, -1, "f4") if "tput" in name else given[rank]
            assert np.array_equal(moved[256:512], source[256:512])
            assert np.array_equal(moved[:256], kept[:256]) and np.array_equal(moved[512:], kept[512:])


def test_prefetches_are_hints() -> None:
    """pto.make_prefetch_async_context, pto.tprefetch_async and pto.get_prefetch_async_session change nothing."""
    w = Writer({"x": "!pto.ptr<f32>", "workspace": "!pto.ptr<i8>"})
    context = w.new("pto.make_prefetch_async_context(%workspace : !pto.ptr<i8>) -> !pto.prefetch_async_context")
    view, type_ = w.view("%x", (16, 16), "f32")
    event = w.new(f"pto.tprefetch_async({view}, {context} : {type_}, !pto.prefetch_async_context) -> !pto.async_event")
    session = w.new(f"pto.get_prefetch_async_session {context} : !pto.prefetch_async_context -> !pto.async_session")
    w.new(f"pto.comm.wait_async_event({event}, {session} : !pto.async_event, !pto.async_session) -> i1")
    for engine in ENGINES:
        x = counted(256, "f32", 5)
        w.kernel()(x, np.zeros(64, "i1"), engine=engine)
        assert np.array_equal(x, counted(256, "f32", 5))


# --- as micro-instructions --------------------------------------------------------------------------------------------


def test_what_is_lowered_loads_again_and_does_the_same() -> None:
    """pto.comm.tnotify, pto.comm.twait and pto.comm.ttest become pto.sim.notify, pto.sim.wait_words and
    pto.sim.test_words; the rest are copies, tokens and vector scopes."""
    w = Writer({"x": "!pto.ptr<f32>", "window": "!pto.ptr<f32>", "words": "!pto.ptr<i32>", **CONTEXT})
    peer = w.neighbour(1)
    theirs = w.view(w.remote("%window", "f32", peer), (32, 32), "f32")
    w.call("pto.comm.tput", theirs, w.view("%x", (32, 32), "f32"), ("buf", [w.tile("8x32xf32")]))
    w.fence()
    w.notify(w.view(w.remote("%words", "i32", peer), (1,), "i32"), 1)
    word, type_ = w.view("%words", (1,), "i32")
    w.wait((word, type_), 1)
    ok = w.new(f"pto.comm.ttest({word}, {w.constant(1, 'i32')} : {type_}, i32) {{cmp = #pto<wait_cmp eq>}} -> i1")
    w.do(f"pto.store_scalar {w.new(f'arith.extui {ok} : i1 to i32')}, %words[{w.constant(1)}] : !pto.ptr<i32>, i32")
    module = ptosim.load(w.text())
    text = module.lowered().source
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
    assert "pto.comm." not in code and "pto.sim.group" not in code
    assert all(name in code for name in ("pto.sim.notify", "pto.sim.wait_words", "pto.sim.test_words"))
    for kernel in (module.kernel(), ptosim.load(text).kernel()):
        world = ptosim.World(2)
        window, words = world.symmetric((32, 32), "f4"), world.symmetric(4, "i4")
        x = [counted(1024, "f32", 10 * rank) for rank in range(2)]
        world.launch(kernel, ptosim.each(*x), window, words, world.context(window), ptosim.RANK, ptosim.RANKS)
        world.run()
        assert all(np.array_equal(window[rank].reshape(-1), x[1 - rank]) for rank in range(2))
        assert [words[rank][:2].tolist() for rank in range(2)] == [[1, 1], [1, 1]]


def test_a_transfer_is_lowered_to_one_and_a_wait() -> None:
    text = ptosim.load(transferring("pto.comm.tget_async", "a5").text()).lowered().source
    assert text.count(" = pto.sim.transfer %") == text.count("\n    pto.sim.wait_transfers %") == 1


@pytest.mark.parametrize(("tile", "remarks"), [("1x64xf32", 1), ("1x256xf32", 0)])
def test_a_copy_in_parts_remarks_that_its_views_should_lie_apart(tile: str, remarks: int) -> None:
    """It is no instruction: source and destination that overlap are copied chunk by chunk all the same."""
    w = Writer({"x": "!pto.ptr<f32>"})
    source, dest = (w.view("%x", (1, 256), "f32", at=w.constant(at)) for at in (0, 64))
    w.call("pto.comm.tget", dest, source, ("buf", [w.tile(tile)]))
    assert w.kernel().module.lowered().source.count("pto.sim.apart %") == remarks
    expected = np.arange(320, dtype="f4")
    for first in range(0, 256, 64 if remarks else 256):
        width = 64 if remarks else 256
        expected[64 + first : 64 + first + width] = expected[first : first + width].copy()
    for engine in ENGINES:
        x = np.arange(320, dtype="f4")
        w.kernel()(x, engine=engine)
        np.testing.assert_array_equal(x, expected)
