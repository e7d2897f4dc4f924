"""Kernels whose blocks tell each other by words in GM: each block runs a body of its own. The launch has four arrays of
i32: x, words, d (data that is handed on) and y."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import ptosim

ENGINES = ("reference", "native")
GM, UB, VIEW = "!pto.ptr<i32, gm>", "!pto.ptr<i32, ub>", "!pto.partition_tensor_view<1xi32>"
ALL = "pto.barrier #pto.pipe<PIPE_ALL>\n"
FENCE = "pto.fence.barrier_all #pto.fence_scope<gm>\n"
DSB = 'pto.dsb "DDR"\n'
COPIES = "pto.barrier #pto.pipe<PIPE_MTE3>\n"
LANES = 64
PARTS = 4
"""Stretches of 64 elements that d and y have."""


def kernel(*bodies: str) -> str:
    """Block k runs body k."""
    pointers = [f"%{name}: {GM}" for name in ("x", "words", "d", "y")]
    blocks: list[str] = []
    for number, body in enumerate(bodies):
        blocks += [f"%is{number} = arith.cmpi eq, %block, %l{number} : i64", f"scf.if %is{number} {{", body, "}"]
    return "\n".join(
        (
            'module attributes {pto.target_arch = "a5"} {',
            f"func.func @words({', '.join(pointers)}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{",
            *(f"%c{value} = arith.constant {value} : index" for value in (0, 1, 16)),
            *(f"%n{value} = arith.constant {value} : i32" for value in range(8)),
            *(f"%l{value} = arith.constant {value} : i64" for value in (*range(8), 32, 256, 512)),
            *(f"%at{part} = arith.constant {LANES * part} : index" for part in range(PARTS)),
            f"%ub = pto.castptr %l0 : i64 -> {UB}",
            f"%ones = pto.castptr %l512 : i64 -> {UB}",
            *(
                f"%{name}{part} = pto.addptr %{name}, %at{part} : {GM} -> {GM}"
                for name in ("d", "y")
                for part in range(PARTS)
            ),
            "%view = pto.make_tensor_view %words, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>",
            "%word = pto.partition_view %view, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32>",
            f"%far = pto.addptr %words, %c16 : {GM} -> {GM}",
            "%far_view = pto.make_tensor_view %far, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>",
            "%other = pto.partition_view %far_view, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32>",
            "%block = pto.get_block_idx",
            *blocks,
            ALL,
            "return",
            "}",
            "}",
            "",
        )
    )


def arguments() -> tuple[np.ndarray, ...]:
    return np.ones(LANES, "i4"), np.zeros(32, "i4"), np.zeros(LANES * PARTS, "i4"), np.zeros(LANES * PARTS, "i4")


def load(gm: str, ub: str = "%ub", size: str = "%l256") -> str:
    types = f"{GM}, {UB}, i64, i64, i64, i64, i64"
    return f"pto.mte_gm_ub {gm}, {ub}, %l0, {size} nburst(%l1, {size}, {size}) : {types}\n"


def store(gm: str, ub: str = "%ub", size: str = "%l256") -> str:
    return f"pto.mte_ub_gm {ub}, {gm}, {size} nburst(%l1, {size}, {size}) : {UB}, {GM}, i64, i64, i64, i64\n"


def flag(source: str, destination: str, event: int = 0) -> str:
    names = f'["PIPE_{source}", "PIPE_{destination}", "EVENT_ID{event}"]\n'
    return f"pto.set_flag{names}pto.wait_flag{names}"


FILL = load("%x") + load("%x", "%ones", "%l32") + flag("MTE2", "MTE3")
"""Ones in the data of UB and in what is copied to words."""


def add(gm: str = "%words") -> str:
    """One is added to a word, and to the seven behind it, by an atomic copy."""
    return f"pto.set_atomic_add\npto.set_atomic_s32\n{store(gm, '%ones', '%l32')}pto.set_atomic_none\n"


def put(gm: str = "%words") -> str:
    """The same words are set to one by a copy."""
    return store(gm, "%ones", "%l32")


def notify(value: int = 1, op: str = "set", word: str = "%word") -> str:
    """`word`: %word, or %other, which lies 64 bytes behind it."""
    return f"pto.comm.tnotify({word}, %n{value} : {VIEW}, i32) {{notifyOp = #pto<notify_op {op}>}}\n"


def wait(value: int = 1, cmp: str = "ge", word: str = "%word") -> str:
    return f"pto.comm.twait({word}, %n{value} : {VIEW}, i32) {{cmp = #pto<wait_cmp {cmp}>}}\n"


def poll(value: int = 1, predicate: str = "slt", looks: int | None = None) -> str:
    """A loop that goes on while the word compares so, and not beyond so many looks."""
    few = [] if looks is None else [f"%most = arith.constant {looks} : i32", "%few = arith.cmpi slt, %n, %most : i32"]
    both = [] if looks is None else ["%go = arith.andi %few, %open : i1"]
    return "\n".join(
        (
            "%rounds, %last = scf.while (%n = %n0) : (i32) -> (i32, i32) {",
            f"%seen = pto.ld_dev %words[%c0] : {GM} -> i32",
            f"%open = arith.cmpi {predicate}, %seen, %n{value} : i32",
            *few,
            *both,
            f"scf.condition({'%open' if looks is None else '%go'}) %n, %seen : i32, i32",
            "} do {",
            "^bb0(%m: i32, %old: i32):",
            "%next = arith.addi %m, %n1 : i32",
            "scf.yield %next : i32",
            "}",
            "",
        )
    )


def hand_on(gm: str = "%d0", to: str = "%y0") -> str:
    """Data is read and handed on."""
    return load(gm) + flag("MTE2", "MTE3", 1) + store(to)


def checked(text: str, grid: int, engine: str = "native") -> list[tuple[str, str]]:
    report = ptosim.check(ptosim.load(text).kernel(), *arguments(), grid=grid, engine=engine)
    return [(found.kind, found.severity) for found in report.findings]


def errors(text: str, grid: int) -> list[str]:
    """The kinds of error that a check finds, the same in both engines."""
    found = [[kind for kind, severity in checked(text, grid, engine) if severity == "error"] for engine in ENGINES]
    assert found[0] == found[1]
    return found[0]


def outcomes(text: str, grid: int, seeds: int = 12) -> set[bytes]:
    """What schedules leave."""
    return {bytes_of(text, grid, schedule) for schedule in schedules(seeds)}


def bytes_of(text: str, grid: int, schedule: str, engine: str = "reference") -> bytes:
    """What a run leaves in all arrays."""
    given = arguments()
    ptosim.load(text).kernel()(*given, grid=grid, engine=engine, schedule=schedule)
    return b"".join(each.tobytes() for each in given)


def schedules(seeds: int) -> Sequence[str]:
    return (
        "program",
        *(f"delay:{pipe}" for pipe in ("S", "MTE2", "MTE3")),
        *(f"random:{seed}" for seed in range(seeds)),
    )
