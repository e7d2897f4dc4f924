"""Findings about events of tiles tell what comes near to the one that is missing, and their hints mend it."""

import numpy as np
import pytest

import ptosim
from repair.tile_kernel import PARTS, TILE, event
from sanitize.repair import repaired

HEAD = f"""module attributes {{pto.target_arch = "ARCH"}} {{
  func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %two = arith.constant 2.0 : f32
    %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %a = pto.alloc_tile : {TILE}
    %b = pto.alloc_tile : {TILE}
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x64xf32> -> {PARTS}
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x64xf32> -> {PARTS}
"""
TAIL = "    pto.barrier #pto.pipe<PIPE_ALL>\n    return\n  }\n}\n"
LOAD = f"    pto.tload ins(%xp : {PARTS}) outs(%a : {TILE})\n"
TWICE = f"    pto.tmuls ins(%a, %two : {TILE}, f32) outs(%b : {TILE})\n"
STORE = f"    pto.tstore ins(%b : {TILE}) outs(%yp : {PARTS})\n"


def put(source: str, destination: str, number: int = 0) -> str:
    return f"    {event('record_event', source, destination, number)}\n"


def take(source: str, destination: str, number: int = 0) -> str:
    return f"    {event('wait_event', source, destination, number)}\n"


STORED = put("TVEC", "TSTORE_VEC") + take("TVEC", "TSTORE_VEC") + STORE


def kernel(body: str, arch: str = "a5") -> str:
    return HEAD.replace("ARCH", arch) + body + TAIL


def check(source: str) -> tuple[ptosim.Finding, ...]:
    x = np.arange(1024, dtype=np.float32)
    return ptosim.check(ptosim.load(source).kernel(), x, np.zeros_like(x)).findings


@pytest.mark.parametrize(
    ("between", "kind", "note"),
    [
        (
            put("TLOAD", "TSTORE_VEC") + take("TLOAD", "TSTORE_VEC"),
            "race",
            "the wait in line 16 holds MTE3, the access is on V",
        ),
        (
            put("TLOAD", "TVEC", 1) + take("TLOAD", "TVEC"),
            "unmatched-wait",
            "line 15 sets MTE2 -> V id 1, which nothing waits for",
        ),
        (
            put("TVEC", "TLOAD") + take("TLOAD", "TVEC"),
            "unmatched-wait",
            "line 15 sets a flag the other way round, V -> MTE2",
        ),
    ],
)
def test_what_comes_near_is_told(between: str, kind: str, note: str) -> None:
    source = kernel(LOAD + between + TWICE + STORED)
    finding = check(source)[0]
    assert finding.kind == kind
    assert finding.notes[-1] == note
    assert finding.hint is not None
    assert check(repaired(source, finding.hint)) == ()


def test_a_kernel_that_is_written_with_events_is_told_of_events() -> None:
    source = kernel(LOAD + TWICE + STORED)
    (finding,) = check(source)
    lines = f"after line 14 add  {put('TLOAD', 'TVEC').strip()}\nbefore line 15 add {take('TLOAD', 'TVEC').strip()}"
    assert (finding.kind, finding.hint) == ("race", lines)
    assert check(repaired(source, lines)) == ()
    flags = source.replace(STORED, "    pto.barrier #pto.pipe<PIPE_ALL>\n" + STORE)
    flags = flags.replace(LOAD, '    pto.set_flag["PIPE_S", "PIPE_V", "EVENT_ID0"]\n' + LOAD)
    flags = flags.replace(TWICE, TWICE + '    pto.wait_flag["PIPE_S", "PIPE_V", "EVENT_ID0"]\n')
    (finding,) = check(flags)
    assert finding.hint is not None and "pto.set_flag" in finding.hint


def test_a_wait_that_holds_the_right_pipe_is_no_near_miss() -> None:
    """Another wait for the same copies holds MTE3, but the one that matters is there, and too early."""
    waits = put("TLOAD", "TVEC") + take("TLOAD", "TVEC") + put("TLOAD", "TSTORE_VEC") + take("TLOAD", "TSTORE_VEC")
    (finding,) = check(kernel(waits + LOAD + TWICE + STORED))
    assert finding.kind == "race"
    assert not any("holds MTE3" in note for note in finding.notes)


@pytest.mark.parametrize(("arch", "hint"), [("a5", "no event is needed"), ("a3", "entries of one pipe are ordered by")])
def test_an_event_from_a_pipe_to_itself_is_none(arch: str, hint: str) -> None:
    with pytest.raises(ptosim.PTOError) as problem:
        ptosim.load(kernel(LOAD + put("TVEC", "TVEC") + TWICE + STORED, arch))
    (finding,) = problem.value.diagnostics
    assert (finding.kind, finding.message) == ("invalid", "pto.record_event joins PIPE_V with itself")
    assert finding.hint is not None
    assert finding.hint.startswith(hint)


def test_operations_that_overlap_on_an_older_machine_are_held_back() -> None:
    """No run shows it, and yet it is repaired with the rest: a wait that is missing, a barrier before what reads the
    result of an operation, none where a barrier before has ended that already."""
    again = f"    pto.tmuls ins(%b, %two : {TILE}, f32) outs(%b : {TILE})\n"
    source = kernel(LOAD + put("TLOAD", "TVEC") + TWICE + again + again + STORED, "a3")
    x = np.arange(1024, dtype=np.float32)
    report = ptosim.check(ptosim.load(source).kernel(), x, np.zeros_like(x))
    assert [finding.hint for finding in report.findings if finding.severity == "warning"] == [
        "before line 17 add pto.barrier #pto.pipe<PIPE_V>",
        "before line 18 add pto.barrier #pto.pipe<PIPE_V>",
    ]
    fix = report.fix()
    assert fix.verified
    wait, barrier = take("TLOAD", "TVEC"), "    pto.barrier #pto.pipe<PIPE_V>\n"
    held = LOAD + put("TLOAD", "TVEC") + wait + TWICE + barrier + again + barrier + again + STORED
    assert fix.text == kernel(held, "a3")
    assert check(fix.text) == ()


def test_one_barrier_holds_back_all_that_follows() -> None:
    """Two operations depend on the one before them: what ends before the first of them has ended before the second,
    which reads sixteen registers just as they were written and needs none of its own."""
    again = f"    pto.tmuls ins(%a, %two : {TILE}, f32) outs(%b : {TILE})\n"
    added = f"    pto.tadds ins(%a, %two : {TILE}, f32) outs(%a : {TILE})\n"
    source = kernel(LOAD + put("TLOAD", "TVEC") + take("TLOAD", "TVEC") + again + added + again + STORED, "a3")
    fix = ptosim.check(ptosim.load(source).kernel(), *(np.zeros(1024, np.float32) for _ in range(2))).fix()
    assert fix.verified
    barrier = "    pto.barrier #pto.pipe<PIPE_V>\n"
    assert fix.text == source.replace(added, barrier + added)


def test_a_flag_that_is_set_twice_is_deleted_though_the_end_is_not_waited_for():
    """The remark about the end has an edit of its own; it keeps nothing else from being mended by one line."""
    pair = put("TLOAD", "TVEC") + take("TLOAD", "TVEC")
    source = kernel(LOAD + put("TLOAD", "TVEC") + pair + TWICE + STORED).replace(
        "    pto.barrier #pto.pipe<PIPE_ALL>\n", ""
    )
    x = np.arange(1024, dtype=np.float32)
    fix = ptosim.check(ptosim.load(source).kernel(), x, np.zeros_like(x)).fix()
    assert fix.verified and fix.text == kernel(LOAD + pair + TWICE + STORED)


# --- lines that become no instruction ---------------------------------------------------------------------------------

VIEW = HEAD.rstrip().rpartition("\n")[2].replace("%yp", "%yq") + "\n"
PLACED = "    %c = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>\n"
WRONG = [
    ("wait_event", "TVEC", "TSTORE_VEC", take("TSTORE_VEC", "TVEC")),
    ("wait_event", "TVEC", "TSTORE_VEC", take("TVEC", "TSTORE_VEC", 1)),
    ("wait_event", "TLOAD", "TVEC", take("TLOAD", "TVEC") + take("TLOAD", "TVEC")),
    ("record_event", "TLOAD", "TVEC", put("TVEC", "TLOAD")),
    ("record_event", "TVEC", "TSTORE_VEC", take("TVEC", "TSTORE_VEC")),
]


@pytest.mark.parametrize(("name", "source", "destination", "wrong"), WRONG)
def test_events_in_front_of_views_and_allocations_are_seen(
    name: str, source: str, destination: str, wrong: str
) -> None:
    """A view has a line and becomes nothing: the line before it is none of its own."""
    body = put("TLOAD", "TVEC") + PLACED + take("TLOAD", "TVEC") + TWICE + put("TVEC", "TSTORE_VEC") + VIEW
    text = HEAD + LOAD + body + take("TVEC", "TSTORE_VEC") + STORE.replace("%yp", "%yq") + TAIL
    arrays = np.ones(1024, "f4"), np.zeros(1024, "f4")
    text = text.replace("ARCH", "a5")
    assert not ptosim.check(ptosim.load(text).kernel(), *arrays).findings
    right = f"    {event(name, source, destination)}\n"
    assert text.count(right) == 1
    fix = ptosim.check(ptosim.load(text.replace(right, wrong)).kernel(), *arrays).fix()
    assert fix.verified, fix.notes
    assert fix.text.replace("EVENT_ID1", "EVENT_ID0") == text  # either half may get the id of the other
