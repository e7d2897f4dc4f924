"""Synchronisation on one vector core and between cores: patterns that are clean, and each finding with its line."""

import numpy as np
import pytest

import ptosim
from golden.numbers import equal
from golden.program import constants, gm, line_of, module, outcome, ub
from golden.test_mixed import pair
from ptosim import PTOError
from ptosim.diagnostics import Finding
from tables import table

P, G, V, M = ub("f32"), gm("f32"), "!pto.vreg<64xf32>", "!pto.mask<b32>"
POINTERS = f"    %ub = pto.castptr %c0_i64 : i64 -> {P}\n    %out = pto.castptr %c4096_i64 : i64 -> {P}\n"
IN = (
    "    pto.mte_gm_ub %x, %ub, %c0_i64, %c1024_i64 nburst(%c1_i64, %c1024_i64, %c1024_i64)"
    f" : {G}, {P}, i64, i64, i64, i64, i64\n"
)
OUT = f"    pto.mte_ub_gm %out, %y, %c1024_i64 nburst(%c1_i64, %c1024_i64, %c1024_i64) : {P}, {G}, i64, i64, i64, i64\n"
WORK = f"""    pto.vecscope {{
      %all = pto.pset_b32 "PAT_ALL" : {M}
      scf.for %i = %c0 to %c256 step %c64 {{
        %v = pto.vlds %ub[%i] : {P} -> {V}
        %r = pto.vabs %v, %all : {V}, {M} -> {V}
        pto.vsts %r, %out[%i], %all : {V}, {P}, {M}
      }}
    }}
"""
END = "    pto.barrier #pto.pipe<PIPE_ALL>"
X = np.random.default_rng(0).normal(size=256).astype("f4")
ZEROS = np.zeros(256, "f4")


def set_flag(a: str, b: str, n: int = 0) -> str:
    return f'    pto.set_flag["PIPE_{a}", "PIPE_{b}", "EVENT_ID{n}"]\n'


def wait_flag(a: str, b: str, n: int = 0) -> str:
    return f'    pto.wait_flag["PIPE_{a}", "PIPE_{b}", "EVENT_ID{n}"]\n'


def flag(a: str, b: str, n: int = 0) -> str:
    return set_flag(a, b, n) + wait_flag(a, b, n)


def kernel(body: str, target: str = "a5") -> str:
    return module(body, f"%x: {G}, %y: {G}", target)


def found(text: str, *arguments: object, grid: int = 1) -> list[Finding]:
    return list(ptosim.check(ptosim.load(text).kernel(), *(arguments or (X, ZEROS)), grid=grid).findings)


def only(text: str, kind: str, severity: str, *arguments: object, grid: int = 1) -> Finding:
    """The one finding of a kernel."""
    findings = found(text, *arguments, grid=grid)
    assert [(f.kind, f.severity) for f in findings] == [(kind, severity)], "\n".join(map(str, findings))
    return findings[0]


def test_a_clean_kernel_says_nothing() -> None:
    text = kernel(POINTERS + IN + flag("MTE2", "V") + WORK + flag("V", "MTE3") + OUT + END)
    assert found(text) == []
    equal(outcome(text, X, ZEROS, schedules=["delay:MTE2", "delay:V", "delay:MTE3", "random:1"])[1], np.abs(X))


@pytest.mark.parametrize("form", ["literal", "typed", "reversed", "bracket", "dynamic", "short"])
def test_buffers_in_every_spelling(form: str) -> None:
    def op(name: str, pipe: str, number: int) -> str:
        return {
            "literal": f'    pto.{name} "PIPE_{pipe}", {number}, 0\n',
            "typed": f'    pto.{name} "PIPE_{pipe}", %c{number}_i64, %c0_i64 : i64, i64\n',
            "reversed": f'    pto.{name} %c{number}_i64, "PIPE_{pipe}"\n',
            "bracket": f"    pto.{name} [#pto.pipe<PIPE_{pipe}>, {number}, 0]\n",
            "dynamic": f'    pto.{name}_dyn "PIPE_{pipe}", %c{number}\n',
            "short": f'    pto.{name} "PIPE_{pipe}", {number}\n',
        }[form]

    body = (
        POINTERS
        + op("get_buf", "MTE2", 0)
        + IN
        + op("rls_buf", "MTE2", 0)
        + op("get_buf", "V", 0)
        + op("get_buf", "V", 1)
        + WORK
    )
    body += (
        op("rls_buf", "V", 0) + op("rls_buf", "V", 1) + op("get_buf", "MTE3", 1) + OUT + op("rls_buf", "MTE3", 1) + END
    )
    equal(outcome(kernel(body), X, ZEROS, schedules=["delay:MTE2", "delay:V", "random:1"])[1], np.abs(X))


def tiles(count: int, before: str, body: str, after: str) -> str:
    """A loop over tiles of 256 elements, two input and two output buffers of 1 KiB each."""
    return kernel(
        f"""    %in = pto.castptr %c0_i64 : i64 -> {P}
    %res = pto.castptr %c8192_i64 : i64 -> {P}
{before}    scf.for %t = %c0 to %c{count} step %c1 {{
      %pp = arith.remui %t, %c2 : index
      %uo = arith.muli %pp, %c256 : index
      %go = arith.muli %t, %c256 : index
      %ub = pto.addptr %in, %uo : {P} -> {P}
      %out = pto.addptr %res, %uo : {P} -> {P}
      %xt = pto.addptr %x, %go : {G} -> {G}
      %yt = pto.addptr %y, %go : {G} -> {G}
{body}    }}
{after}{END}"""
    )


TILE_IN, TILE_OUT = IN.replace("%x,", "%xt,"), OUT.replace("%y,", "%yt,")


def dyn(op: str, a: str, b: str) -> str:
    return f'      pto.{op}_flag_dyn["PIPE_{a}", "PIPE_{b}", %pp]\n'


def ping_pong(count: int, primed: bool = True, reverse: bool = True) -> str:
    before = "".join(set_flag("V", "MTE2", b) + set_flag("MTE3", "V", b) for b in (0, 1)) if primed and reverse else ""
    after = "".join(wait_flag("V", "MTE2", b) + wait_flag("MTE3", "V", b) for b in (0, 1)) if reverse else ""
    body = (dyn("wait", "V", "MTE2") if reverse else "") + TILE_IN + dyn("set", "MTE2", "V") + dyn("wait", "MTE2", "V")
    body += (
        (dyn("wait", "MTE3", "V") if reverse else "")
        + WORK
        + (dyn("set", "V", "MTE2") if reverse else "")
        + dyn("set", "V", "MTE3")
    )
    body += dyn("wait", "V", "MTE3") + TILE_OUT + (dyn("set", "MTE3", "V") if reverse else "")
    return tiles(count, before, body, after)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_ping_pong_with_flags(count: int) -> None:
    x = np.random.default_rng(1).normal(size=256 * count).astype("f4")
    equal(
        outcome(ping_pong(count), x, np.zeros_like(x), schedules=["delay:MTE2", "delay:V", "delay:MTE3", "random:2"])[
            1
        ],
        np.abs(x),
    )
    assert found(ping_pong(count), x, np.zeros_like(x)) == []


def test_ping_pong_without_priming_hangs() -> None:
    x = np.zeros(768, "f4")
    findings = found(ping_pong(3, primed=False), x, x.copy())
    assert [(f.kind, f.severity) for f in findings] == [("deadlock", "error")]
    with pytest.raises(PTOError) as caught:
        ptosim.load(ping_pong(3, primed=False)).kernel()(x, x.copy())
    assert caught.value.diagnostics[0].kind == "deadlock"


@pytest.mark.parametrize("count", [2, 3])
def test_missing_reverse_dependencies_show_from_the_third_tile_on(count: int) -> None:
    x = np.random.default_rng(1).normal(size=256 * count).astype("f4")
    kinds = {(f.kind, f.severity) for f in found(ping_pong(count, reverse=False), x, np.zeros_like(x))}
    assert kinds >= {("race", "error")} if count == 3 else ("race", "error") not in kinds


@pytest.mark.parametrize("count", [1, 2, 5])
def test_ping_pong_with_buffers(count: int) -> None:
    def op(name: str, pipe: str, first: int) -> str:
        return f'      pto.{name}_dyn "PIPE_{pipe}", %b{first}\n'

    body = "      %b0 = arith.addi %pp, %c0 : index\n      %b2 = arith.addi %pp, %c2 : index\n"
    body += (
        op("get_buf", "MTE2", 0)
        + TILE_IN
        + op("rls_buf", "MTE2", 0)
        + op("get_buf", "V", 0)
        + op("get_buf", "V", 2)
        + WORK
    )
    body += (
        op("rls_buf", "V", 0) + op("rls_buf", "V", 2) + op("get_buf", "MTE3", 2) + TILE_OUT + op("rls_buf", "MTE3", 2)
    )
    x = np.random.default_rng(1).normal(size=256 * count).astype("f4")
    text = tiles(count, "", body, "")
    equal(
        outcome(text, x, np.zeros_like(x), schedules=["delay:MTE2", "delay:V", "delay:MTE3", "random:2"])[1], np.abs(x)
    )
    assert found(text, x, np.zeros_like(x)) == []


# --- races ------------------------------------------------------------------------------------------------------------

STORE_S = f"    pto.store_scalar %f, %ub[%c0] : {P}, f32\n"
FLOAT = "    %f = arith.constant 1.0 : f32\n"
LOAD_S = f"    %s = pto.load_scalar %ub[%c0] : {P} -> f32\n    pto.store_scalar %s, %y[%c0] : {G}, f32\n"
SECOND = OUT.replace("%out,", "%ub,")


@table(
    "body, line, other",
    (IN + WORK + flag("V", "MTE3") + OUT, "pto.vlds", "pto.mte_gm_ub"),
    (IN + flag("MTE2", "V") + WORK + OUT, "pto.mte_ub_gm", "pto.vsts"),
    (IN + LOAD_S, "pto.load_scalar", "pto.mte_gm_ub"),
    (IN + flag("MTE2", "S") + FLOAT + STORE_S + WORK + flag("V", "MTE3") + OUT, "pto.vlds", "pto.store_scalar"),
    (IN + flag("MTE2", "V") + WORK + flag("V", "MTE3") + OUT + SECOND, "pto.mte_ub_gm %ub", "pto.mte_ub_gm %out"),
    (
        IN + IN.replace("%x,", "%y,") + flag("MTE2", "V") + WORK + flag("V", "MTE3") + OUT,
        "pto.mte_gm_ub %y",
        "pto.mte_gm_ub %x",
    ),
    ids=["mte2-v", "v-mte3", "mte2-s", "s-v", "mte3-mte3", "mte2-mte2"],
)
def test_races(body: str, line: str, other: str) -> None:
    text = kernel(POINTERS + body + END)
    race = only(text, "race", "error", X, X + 1)
    lines = {race.line, *(where.location.line for where in race.related)}
    assert race.line == line_of(text, line) and line_of(text, other) in lines
    assert race.hint


def test_a_buffer_refilled_while_it_is_read() -> None:
    again = IN.replace("%x,", "%y,")
    text = kernel(POINTERS + IN + flag("MTE2", "V") + WORK + flag("V", "MTE3") + OUT + again + END)
    (race,) = found(text, X, X + 1)  # MTE3 has not stored %y either, and one edge from there is enough for both
    pairs = {(f.line, where.location.line) for f in (race, *race.consequences) for where in f.related}
    for other in ("pto.mte_ub_gm", "pto.vlds"):
        assert (line_of(text, "pto.mte_gm_ub %y"), line_of(text, other)) in pairs


def test_repairs_of_races() -> None:
    for body in (
        IN + flag("MTE2", "S") + FLOAT + STORE_S + flag("S", "V") + WORK + flag("V", "MTE3") + OUT,
        IN + flag("MTE2", "V") + WORK + flag("V", "MTE3") + OUT + '    pto.pipe_barrier "PIPE_MTE3"\n' + SECOND,
        IN
        + "    pto.barrier #pto.pipe<PIPE_MTE2>\n"
        + IN.replace("%x,", "%y,")
        + flag("MTE2", "V")
        + WORK
        + flag("V", "MTE3")
        + OUT,
        IN
        + flag("MTE2", "V")
        + WORK
        + flag("V", "MTE2")
        + IN.replace("%x,", "%y,")
        + flag("MTE2", "MTE3", 4)
        + flag("V", "MTE3")
        + OUT,
        IN + "    pto.barrier #pto.pipe<PIPE_ALL>\n" + WORK + "    pto.barrier #pto.pipe<PIPE_ALL>\n" + OUT,
        IN + flag("MTE2", "S") + flag("S", "V") + WORK + flag("V", "S") + flag("S", "MTE3") + OUT,
    ):
        assert found(kernel(POINTERS + body + END), X, X + 1) == []


def test_equal_bytes_are_a_warning() -> None:
    text = kernel(POINTERS + IN + flag("MTE2", "V") + WORK + flag("V", "MTE3") + OUT + OUT + END)
    only(text, "race", "warning")


def test_blocks_on_the_same_bytes() -> None:
    block = "    %b = pto.get_block_idx\n    %bf = arith.sitofp %b : i64 to f32\n"
    adding = WORK.replace("pto.vabs %v, %all : ", "pto.vadds %v, %bf, %all : ").replace(
        f"{V}, {M} -> {V}", f"{V}, f32, {M} -> {V}"
    )
    text = kernel(POINTERS + block + IN + flag("MTE2", "V") + adding + flag("V", "MTE3") + OUT + END)
    assert only(text, "race", "error", X, ZEROS, grid=2).line == line_of(text, "pto.mte_ub_gm")
    assert found(text, X, ZEROS, grid=1) == []


# --- inside of a scope ------------------------------------------------------------------------------------------------


def scope(lines: str) -> str:
    body = (
        f'    pto.vecscope {{\n      %all = pto.pset_b32 "PAT_ALL" : {M}\n'
        f"      %v = pto.vlds %ub[%c0] : {P} -> {V}\n{lines}    }}\n"
    )
    fill = "".join(f"      pto.vsts %v, %out[%c{64 * i}], %all : {V}, {P}, {M}\n" for i in range(4))
    return kernel(
        POINTERS + FLOAT + IN + flag("MTE2", "V") + body.replace("FILL", fill) + flag("V", "MTE3") + OUT + END
    )


def vsts(value: str, place: str, at: int) -> str:
    return f"      pto.vsts {value}, {place}[%c{at}], %all : {V}, {P}, {M}\n"


def vlds(name: str, place: str, at: int) -> str:
    return f"      {name} = pto.vlds {place}[%c{at}] : {P} -> {V}\n"


ALIASES = [
    (vsts("%v", "%ub", 64) + vlds("%w", "%ub", 64), "VST_VLD", "error"),
    (vsts("%v", "%ub", 64) + vlds("%w", "%ub", 72), "VST_VLD", "error"),
    (vlds("%w", "%ub", 64) + vsts("%v", "%ub", 64), "VLD_VST", "warning"),
    (vsts("%v", "%ub", 64) + vlds("%u", "%out", 512) + vsts("%v", "%ub", 72), "VST_VST", "warning"),
    (f"      pto.store_scalar %f, %ub[%c64] : {P}, f32\n" + vlds("%w", "%ub", 64), "ST_VLD", "error"),
    (vsts("%v", "%ub", 64) + f"      %s = pto.load_scalar %ub[%c70] : {P} -> f32\n", "VST_LD", "error"),
]


@pytest.mark.parametrize("lines, fence, severity", ALIASES)
def test_aliasing_accesses_need_a_fence(lines: str, fence: str, severity: str) -> None:
    both = lines.rstrip("\n").split("\n")
    rest = "FILL"
    text = scope(lines + rest)
    finding = next(f for f in found(text) if f.kind == "scope-alias")
    assert finding.severity == severity
    assert finding.line == next(n for n, words in enumerate(text.split("\n"), 1) if words == both[-1])
    fenced = "\n".join([*both[:-1], f'      pto.mem_bar "{fence}"', both[-1]]) + "\n"
    assert not [f for f in found(scope(fenced + rest)) if f.kind == "scope-alias"]
    attribute = fenced.replace(f'"{fence}"', f"#pto.membar<{fence}>")
    assert not [f for f in found(scope(attribute + rest)) if f.kind == "scope-alias"]
    wrong = {
        "VST_VLD": "VLD_VST",
        "VLD_VST": "VST_VLD",
        "VST_VST": "VST_VLD",
        "ST_VLD": "VST_VLD",
        "VST_LD": "VST_VLD",
    }[fence]
    assert [f for f in found(scope(fenced.replace(fence, wrong) + rest)) if f.kind == "scope-alias"]


def test_values_that_depend_on_a_load_cannot_overtake_it() -> None:
    text = kernel(
        POINTERS + IN + flag("MTE2", "V") + WORK.replace("%r, %out", "%r, %ub") + flag("V", "MTE3") + SECOND + END
    )
    assert found(text) == []


def test_fences_by_option() -> None:
    text = scope(vlds("%w", "%ub", 64) + vsts("%v", "%ub", 64) + "FILL")
    loaded = ptosim.load(text).kernel()
    assert ptosim.check(loaded, X, ZEROS).ok
    assert not ptosim.check(loaded, X, ZEROS, mem_bar="strict").ok
    assert not ptosim.check(loaded, X, ZEROS, mem_bar="off").findings


# --- protocol ---------------------------------------------------------------------------------------------------------


def good(extra: str, where: str = "before") -> str:
    middle = (
        POINTERS
        + (extra if where == "before" else "")
        + IN
        + (extra if where == "inside" else "")
        + flag("MTE2", "V")
        + WORK
        + flag("V", "MTE3")
    )
    return kernel(middle + OUT + (extra if where == "after" else "") + END)


@table(
    "text, kind, severity, fragment",
    (good(wait_flag("MTE3", "V")), "unmatched-wait", "error", 'pto.wait_flag["PIPE_MTE3", "PIPE_V"'),
    (good(set_flag("MTE3", "V"), "after"), "undrained", "warning", 'pto.set_flag["PIPE_MTE3", "PIPE_V"'),
    (good('    pto.rls_buf "PIPE_V", 3, 0\n'), "buffer-misuse", "error", "pto.rls_buf"),
    (good('    pto.get_buf "PIPE_V", 3, 0\n'), "buffer-misuse", "error", "pto.get_buf"),
    (
        good('    pto.get_buf "PIPE_V", 3, 0\n    pto.rls_buf "PIPE_V", 3, 1\n'),
        "buffer-misuse",
        "error",
        "pto.rls_buf",
    ),
    (good("    pto.sync.set <PIPE_FIX>, 1\n"), "wrong-pipe", "error", "pto.sync.set"),
    (good('    pto.set_flag["PIPE_MTE1", "PIPE_MTE2", "EVENT_ID0"]\n'), "wrong-pipe", "error", "PIPE_MTE1"),
    (good('    pto.set_flag["PIPE_FIX", "PIPE_V", "EVENT_ID0"]\n'), "wrong-pipe", "error", "PIPE_FIX"),
    (good("    pto.sync.set <PIPE_V>, 17\n"), "id-range", "error", "pto.sync.set"),
    (good("    pto.trap\n"), "trap", "error", "pto.trap"),
    (
        kernel(POINTERS + IN + flag("MTE2", "V") + WORK + flag("V", "MTE3") + OUT),
        "lint",
        "warning",
        "pto.mte_ub_gm",
    ),
    (kernel(POINTERS + WORK + flag("V", "MTE3") + OUT + END), "uninitialized", "warning", "pto.vlds"),
    ids=[
        "unmatched",
        "undrained",
        "release",
        "get",
        "mode",
        "pipe",
        "flag-pipe",
        "cores",
        "id",
        "trap",
        "drain",
        "uninitialized",
    ],
)
def test_each_kind_of_finding(text: str, kind: str, severity: str, fragment: str) -> None:
    findings = [f for f in found(text) if f.kind == kind]
    assert findings and findings[0].severity == severity and findings[0].line == line_of(text, fragment)
    assert ptosim.check(ptosim.load(text).kernel(), X, ZEROS).ok == (severity == "warning")


def test_two_pipes_that_wait_for_each_other() -> None:
    text = kernel(
        POINTERS
        + IN
        + wait_flag("MTE3", "V", 5)
        + flag("MTE2", "V")
        + WORK
        + flag("V", "MTE3")
        + OUT
        + set_flag("MTE3", "V", 5)
        + END
    )
    deadlock = only(text, "deadlock", "error")
    lines = {deadlock.line, *(where.location.line for where in deadlock.related)}
    assert lines >= {line_of(text, 'pto.wait_flag["PIPE_MTE3"'), line_of(text, 'pto.wait_flag["PIPE_V", "PIPE_MTE3"')}
    for engine in ("reference", "native"):
        with pytest.raises(PTOError) as caught:
            ptosim.load(text).kernel()(X, ZEROS.copy(), engine=engine)
        assert caught.value.diagnostics[0].kind == "deadlock"


def test_a_flag_set_twice() -> None:
    text = good(
        set_flag("MTE2", "V", 3) + set_flag("MTE2", "V", 3) + wait_flag("MTE2", "V", 3) + wait_flag("MTE2", "V", 3),
        "inside",
    )
    assert {(f.kind, f.severity) for f in found(text)} == {("double-set", "warning")}


def test_overlapping_rows_and_copies_onto_themselves() -> None:
    rows = IN.replace(
        "%c1024_i64 nburst(%c1_i64, %c1024_i64, %c1024_i64)", "%c512_i64 nburst(%c4_i64, %c256_i64, %c256_i64)"
    )
    text = kernel(POINTERS + rows + flag("MTE2", "V") + WORK + flag("V", "MTE3") + OUT + END)
    assert {(f.kind, f.severity) for f in found(text, np.resize(X, 400), ZEROS)} == {("overlap", "warning")}
    move = f"    pto.mte_ub_ub %ub, %ub2, %c8_i64 nburst(%c1_i64, %c0_i64, %c0_i64) : {P}, {P}, i64, i64, i64, i64\n"
    body = (
        POINTERS
        + f"    %ub2 = pto.castptr %c128_i64 : i64 -> {P}\n"
        + IN
        + flag("MTE2", "V")
        + move
        + WORK
        + flag("V", "MTE3")
        + OUT
        + END
    )
    assert ("overlap", "warning") in {(f.kind, f.severity) for f in found(kernel(body))}


def test_loop_registers_left_set() -> None:
    old = f"""    %no = arith.constant false
    pto.set_loop_size_outtoub %c2_i64, %c1_i64 : i64, i64
    pto.set_loop1_stride_outtoub %c512_i64, %c512_i64 : i64, i64
    pto.copy_gm_to_ubuf %x, %ub, %c0_i64, %c1_i64, %c512_i64, %c0_i64, %c0_i64, %no, %c0_i64, %c512_i64, %c512_i64
      : {G}, {P}, i64, i64, i64, i64, i64, i1, i64, i64, i64
"""
    text = kernel(POINTERS + old + flag("MTE2", "V") + WORK + flag("V", "MTE3") + OUT + END)
    assert found(text) == []
    copy = old[old.index("    pto.copy_gm_to_ubuf") :]
    relies = old + "    pto.barrier #pto.pipe<PIPE_MTE2>\n" + copy
    assert {(f.kind, f.severity) for f in found(text.replace(old, relies))} == {("lint", "warning")}


def test_uninitialised_values_that_decide() -> None:
    compare = f'        %k = pto.vcmp %v, %r, %all, "lt" : {V}, {V}, {M} -> {M}\n        pto.vsts %r, %out[%i], %k :'
    text = kernel(
        POINTERS + WORK.replace("        pto.vsts %r, %out[%i], %all :", compare) + flag("V", "MTE3") + OUT + END
    )
    assert ("uninitialized", "error") in {(f.kind, f.severity) for f in found(text)}
    text = kernel(POINTERS + LOAD_S + END)
    assert ("uninitialized", "error") in {(f.kind, f.severity) for f in found(text)}


def test_tails_that_were_never_written_are_a_warning_at_most() -> None:
    tail = WORK.replace('pto.pset_b32 "PAT_ALL"', 'pto.pset_b32 "PAT_H"')
    text = kernel(POINTERS + IN + flag("MTE2", "V") + tail + flag("V", "MTE3") + OUT + END)
    assert {(f.kind, f.severity) for f in found(text)} == {("uninitialized", "warning")}


def test_bytes_that_nobody_wrote() -> None:
    text = kernel(POINTERS + IN + flag("MTE2", "V") + WORK + flag("V", "MTE3") + OUT + END)
    report = ptosim.check(ptosim.load(text).kernel(), X, np.zeros(300, "f4"))
    assert any("1024" in f.message or f.bytes for f in report.notes), str(report)


# --- between cores ----------------------------------------------------------------------------------------------------


def signals(cube: str, vector: str, target: str = "a5") -> str:
    return pair(
        target, cube + "      pto.barrier #pto.pipe<PIPE_ALL>\n", vector + "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    )


NOTHING = (np.zeros(4, "i4"), np.zeros(4, "i4"))


def kinds(text: str) -> set[tuple[str, str]]:
    return {(f.kind, f.severity) for f in found(text, *NOTHING)}


def sync(what: str, pipe: str, *ids: int) -> str:
    return "".join(f"      pto.sync.{what} <PIPE_{pipe}>, {i}\n" for i in ids)


def test_signals_that_match() -> None:
    assert (
        kinds(
            signals(
                sync("set", "FIX", 1, 17) + sync("wait", "MTE1", 2, 18), sync("wait", "V", 1) + sync("set", "MTE3", 2)
            )
        )
        == set()
    )
    assert kinds(signals(sync("set", "FIX", 1), sync("wait", "V", 1), "a2a3")) == set()
    assert kinds(signals(sync("wait", "FIX", 1), sync("set", "V", 1), "a2a3")) == set()


def test_the_second_vector_core_may_count_from_sixteen() -> None:
    vector = """      %s = pto.get_subblock_idx
      %i = arith.index_cast %s : i64 to index
      %o = arith.muli %i, %c16 : index
      %id = arith.addi %o, %c1 : index
      pto.sync.wait <PIPE_V>, %id
"""
    assert kinds(signals(sync("set", "FIX", 1, 17), vector)) == set()


def test_signals_that_do_not_match() -> None:
    assert kinds(signals(sync("set", "FIX", 1), sync("wait", "V", 1))) == {("unmatched-wait", "error")}
    assert kinds(signals(sync("set", "FIX", 1, 17), "")) == {("undrained", "warning")}
    assert ("id-range", "error") in kinds(signals(sync("set", "FIX", 1, 17), sync("wait", "V", 17)))
    once = signals(sync("wait", "MTE1", 0), sync("set", "MTE3", 0))
    assert kinds(once) == {("undrained", "warning")}


def test_the_offset_of_fifteen_is_named() -> None:
    """The seed page prints +15; what it reaches is id 0 of the second core only by +16."""
    text = signals(sync("set", "FIX", 2, 17), sync("wait", "V", 2))
    findings = found(text, *NOTHING)
    assert any(f.kind == "lint" and "16" in f.message for f in findings), "\n".join(map(str, findings))


def test_too_many_signals() -> None:
    loop = """      scf.for %i = %c0 to %c16 step %c1 {
        pto.sync.set <PIPE_FIX>, 1
      }
"""
    text = signals(loop, "")
    assert ("semaphore-overflow", "error") in kinds(text)
    fine = signals(loop.replace("%c16", "%c15"), "")
    assert kinds(fine) == {("undrained", "warning")}


def test_cores_that_wait_for_each_other() -> None:
    text = signals(
        sync("wait", "FIX", 1) + sync("wait", "FIX", 17) + sync("set", "FIX", 2, 18),
        sync("wait", "V", 2) + sync("set", "V", 1),
    )
    assert kinds(text) == {("deadlock", "error")}
    for engine in ("reference", "native"):
        with pytest.raises(PTOError) as caught:
            ptosim.load(text).kernel()(*NOTHING, engine=engine)
        assert caught.value.diagnostics[0].kind == "deadlock"


def test_a_wait_stalls_one_pipe_on_a5_and_the_core_on_a2a3() -> None:
    """V signals what the cube core waits for before it answers; MTE3 waits for the answer first in the program."""
    cube = sync("wait", "MTE1", 1) + sync("wait", "MTE1", 17) + sync("set", "FIX", 2, 18)
    vector = sync("wait", "MTE3", 2) + sync("set", "V", 1)
    assert kinds(signals(cube, vector)) == set()
    cube = sync("wait", "FIX", 1) + sync("set", "FIX", 2)
    assert kinds(signals(cube, vector, "a2a3")) == {("deadlock", "error")}


def test_wrong_targets() -> None:
    for op, target in (("set_cross_core %c0_i64, %c1_i64 : i64, i64", "a5"), ("set_intra_core <PIPE_V>, 1", "a2a3")):
        text = kernel(f"    pto.{op}\n" + END, target)
        with pytest.raises(PTOError) as caught:
            ptosim.load(text)
        assert caught.value.diagnostics[0].kind == "wrong-target"
    text = kernel('    pto.get_buf "PIPE_V", 1, 0\n    pto.rls_buf "PIPE_V", 1, 0\n' + END, "a2a3")
    assert {(w.kind, w.severity) for w in ptosim.load(text).warnings} == {("wrong-target", "warning")}


def test_constants_are_declared_once() -> None:
    assert constants("%c1 %c1 %c2_i64").count("\n") == 1


def test_a_fence_outside_of_a_scope_orders_nothing() -> None:
    text = kernel(
        POINTERS
        + '    pto.mem_bar "VV_ALL"\n'
        + IN
        + '    pto.mem_bar "VV_ALL"\n'
        + WORK
        + flag("V", "MTE3")
        + OUT
        + END
    )
    assert [(w.kind, w.severity) for w in ptosim.load(text).warnings] == [("lint", "warning")] * 2
    only(text, "race", "error")
