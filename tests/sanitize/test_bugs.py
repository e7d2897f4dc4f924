"""The bugs that people lose weeks on, in kernels that look almost right."""

import re
from pathlib import Path

import numpy as np
import pytest

import ptosim
from sanitize.kernels import ALL, COPY, check, kinds, load, order, put, store, take, text
from sanitize.repair import repaired

EXAMPLES = Path(__file__).parents[2] / "examples"
SKELETON = Path(__file__).parents[1] / "skeleton"
PINGPONG = (EXAMPLES / "pingpong.pto").read_text()
TILES = 4


def pingpong(source: str, tiles: int = TILES) -> ptosim.Finding:
    x = np.linspace(-1, 1, tiles * 1024, dtype=np.float32)
    return ptosim.check(ptosim.load(source).kernel(), x, np.zeros_like(x), tiles, 1024)


def lines_with(word: str, where: str) -> list[int]:
    """The numbers of lines with this word: before the tile loop, in it, or behind it."""
    numbered = list(enumerate(PINGPONG.split("\n")))
    first = next(number for number, line in numbered if "scf.for %i" in line)
    last = next(number for number, line in numbered if "drain what was primed" in line)
    parts = {"before": numbered[:first], "inside": numbered[first:last], "behind": numbered[last:]}
    return [number for number, line in parts[where] if f"pto.{word}" in line]


def without(number: int) -> str:
    lines = PINGPONG.split("\n")
    return "\n".join([*lines[:number], "", *lines[number + 1 :]])


def test_the_ping_pong_kernel_is_clean() -> None:
    assert pingpong(PINGPONG).findings == ()
    assert len(lines_with("wait_flag", "inside")) == 4
    assert len(lines_with("wait_flag", "behind")) == 4
    assert len(lines_with("set_flag", "before") + lines_with("set_flag", "inside")) == 8


@pytest.mark.parametrize("number", lines_with("wait_flag", "inside"))
def test_a_wait_dropped_inside_the_loop_is_a_race(number: int) -> None:
    found = kinds(pingpong(without(number)))
    assert "race!" in found
    assert set(found) <= {"race!", "double-set", "undrained"}


@pytest.mark.parametrize("number", lines_with("wait_flag", "inside"))
def test_the_cause_leads(number: int) -> None:
    """The wait that is gone was for another pipe; copies that overlap because of it come behind, then the warnings."""
    leading, *others = pingpong(without(number)).findings
    waiting = PINGPONG.split("\n")[number]
    source, destination = re.findall(r'"PIPE_(\w+)"', waiting)
    assert {leading.pipe, *re.findall(r"MTE\d|\bV\b", leading.message)} == {source, destination}
    (note,) = [note for note in leading.notes if "a wait may be missing" in note]
    assert f"from {source} to {destination}" in note
    assert sorted(others, key=lambda finding: finding.severity != "error") == others


@pytest.mark.parametrize("number", lines_with("wait_flag", "behind"))
def test_a_drain_dropped_is_undrained(number: int) -> None:
    assert kinds(pingpong(without(number))) == ["undrained"]


@pytest.mark.parametrize("number", lines_with("set_flag", "before") + lines_with("set_flag", "inside"))
def test_any_set_dropped_hangs(number: int) -> None:
    (found,) = kinds(pingpong(without(number)))
    assert found in ("deadlock!", "unmatched-wait!")


def test_an_unprimed_reverse_wait_hangs_in_the_first_iteration() -> None:
    report = pingpong(without(lines_with("set_flag", "before")[0]))
    assert kinds(report) == ["deadlock!"]
    (deadlock,) = report.findings
    assert deadlock.loops == (0,)
    assert deadlock.message == "b0.aiv0 MTE2, b0.aiv0 V wait for each other"
    assert any("flag V -> MTE2 id 0, count 0" in note for note in deadlock.notes)
    assert any("flag MTE2 -> V id 0, count 0" in note for note in deadlock.notes)


@pytest.mark.parametrize("number", lines_with("set_flag", "before"))
def test_the_hint_primes_it_again(number: int) -> None:
    (deadlock,) = pingpong(without(number)).findings
    assert deadlock.hint is not None
    assert deadlock.hint.endswith(f"{PINGPONG.split(chr(10))[number].partition('//')[0].strip()}  // prime")
    assert pingpong(repaired(without(number), deadlock.hint)).findings == ()


def test_the_hint_primes_and_drains_what_is_neither() -> None:
    loop = (
        take("V", "MTE2", 3) + load() + order("MTE2", "V") + COPY + put("V", "MTE2", 3) + order("V", "MTE3") + store()
    )
    loop += "    pto.barrier #pto.pipe<PIPE_MTE3>\n" + order("MTE3", "V")
    source = text(f"    scf.for %i = %c0 to %c4 step %c1 {{\n{loop}    }}\n" + ALL)
    arrays = np.zeros(64, np.float32), np.zeros(64, np.float32)
    (deadlock,) = ptosim.check(ptosim.load(source).kernel(), *arrays).findings
    assert deadlock.hint == (
        'before line 13 add pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID3"]  // prime\n'
        'after line 30 add  pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID3"]  // drain'
    )
    assert ptosim.check(ptosim.load(repaired(source, deadlock.hint)).kernel(), *arrays).findings == ()


def test_another_circle_has_no_such_hint() -> None:
    """Where nothing is repeated, nothing is primed: the wait goes behind its set."""
    report = check(take("V", "MTE2") + load() + order("MTE2", "V") + COPY + put("V", "MTE2") + ALL)
    assert kinds(report) == ["deadlock!"]
    assert report.findings[0].hint == "move line 13 after line 22"


def test_a_missing_reverse_dependency_shows_from_the_third_tile_on() -> None:
    """Two buffers: the third tile is the first that overwrites one."""
    source = PINGPONG
    for word in ('"PIPE_V", "PIPE_MTE2"',):
        source = "\n".join("" if word in line else line for line in source.split("\n"))
    assert pingpong(source, tiles=2).findings == ()
    report = pingpong(source, tiles=3)
    races = [finding for finding in report.findings if finding.kind == "race"]
    assert any(race.message == "MTE2 may write ub[0:4096] before V has read it" for race in races)
    assert all(race.loops[:1] == (2,) for race in races)
    assert "race!" in kinds(pingpong(source, tiles=9))


CLUSTER = """    pto.section.cube {
      scf.for %i = %c0 to %c20 step %c1 {
        pto.sync.wait <PIPE_FIX>, 0
WAIT        pto.sync.set <PIPE_FIX>, 1
        pto.sync.set <PIPE_FIX>, 17
      }
    }
    pto.section.vector {
      scf.for %i = %c0 to %c20 step %c1 {
        pto.sync.set <PIPE_MTE3>, 0
        pto.sync.wait <PIPE_MTE3>, 1
      }
    }
"""


def test_two_vector_cores_signal_and_the_cube_core_waits_once() -> None:
    """The semaphore of the second vector core drifts up by one in each iteration."""
    twenty = "    %c20 = arith.constant 20 : index\n"
    assert kinds(check(twenty + CLUSTER.replace("WAIT", "        pto.sync.wait <PIPE_FIX>, 16\n"))) == []
    report = check(twenty + CLUSTER.replace("WAIT", ""))
    assert "semaphore-overflow!" in kinds(report)
    overflow = next(finding for finding in report.findings if finding.kind == "semaphore-overflow")
    assert "aiv1 -> aic id 0 (16 on aic)" in overflow.message  # the id that the missing wait needs
    assert overflow.line == 23
    few = CLUSTER.replace("WAIT", "").replace("%c20", "%c4")
    assert kinds(check(few)) == ["undrained"]


def test_a_scalar_store_races_with_a_vector_function() -> None:
    scalar = "    %f = arith.constant 1.0 : f32\n    pto.store_scalar %f, %in[%c0] : !pto.ptr<f32, ub>, f32\n"
    report = check(load() + order("MTE2", "S") + scalar + COPY + order("V", "MTE3") + store() + ALL)
    assert kinds(report) == ["race!"]
    assert report.findings[0].message == "V may read ub[0:4] before S has written it"
    ordered = load() + order("MTE2", "S") + scalar + order("S", "V") + COPY + order("V", "MTE3") + store() + ALL
    assert kinds(check(ordered)) == []


def test_ub_that_overflows() -> None:
    far = "    %top = arith.constant 262080 : i64\n    %end = pto.castptr %top : i64 -> !pto.ptr<f32, ub>\n"
    report = check(far + load(dest="%end") + ALL)
    assert kinds(report) == ["out-of-bounds!"]
    assert "ub, which has 262144 bytes: the first byte outside is 262144" in report.findings[0].message


@pytest.mark.parametrize("name", ["late_set", "mixed_signal"])
def test_the_other_kernels_of_the_skeleton_are_clean(name: str) -> None:
    kernel = ptosim.load(SKELETON / f"{name}.pto").kernel()
    arrays = [np.ones(256, np.float32) for _ in kernel.signature]
    assert ptosim.check(kernel, *arrays).findings == ()


def test_flags_of_odd_and_even_rounds() -> None:
    """A wait that is only met every other time hangs for an odd count."""
    pair = put("MTE2", "V") + "    scf.for %i = %c0 to {} step %c1 {{\n{}    }}\n" + ALL
    twice = take("MTE2", "V") + put("V", "MTE2") + take("V", "MTE2") + put("MTE2", "V")
    assert kinds(check(load() + pair.format("%c4", twice))) == ["undrained"]
    once = take("MTE2", "V")
    assert kinds(check(load() + pair.format("%c4", once))) == ["unmatched-wait!"]


WRAPPED = f"    %far = arith.constant {1 << 62} : index\n"  # elements of 4 bytes: 2 to the 64


@pytest.mark.parametrize("mask", ['"PAT_ALL"', '"PAT_VL32"'])
def test_offsets_that_wrap_reach_the_bytes_that_they_are_found_at(mask: str) -> None:
    """One scope through an offset that wraps to 0: in order or not as it would be without; wrapping itself is remarked
    on, at the load and at the store."""
    copy = WRAPPED + COPY.replace("%c0", "%far").replace('"PAT_ALL"', mask)
    width = 256 if "ALL" in mask else 128
    out = f"    %width = arith.constant {width} : i64\n" + store(length="%width") + ALL
    assert kinds(check(load() + order("MTE2", "V") + copy + order("V", "MTE3") + out)) == ["lint"] * 2
    race, *_ = check(load() + copy + order("V", "MTE3") + out).findings
    assert race.message == "V may read ub[0:256] before MTE2 has written it"
    race, *_ = check(load() + order("MTE2", "V") + copy + out).findings
    assert race.message == f"MTE3 may read ub[256:{256 + width}] before V has written it"


def test_a_wait_for_another_core_that_is_gone_is_named() -> None:
    source = (EXAMPLES / "producer_consumer_a5.pto").read_text()
    (line,) = [line for line in source.split("\n") if "pto.wait_intra_block <PIPE_MTE1>, %half" in line]
    x, y = np.ones((2, 4, 256), np.float32), np.zeros((2, 4, 256), np.float32)
    kernel = ptosim.load(source.replace(line, "")).kernel()
    leading, *_ = ptosim.check(kernel, x, y, 4).findings
    assert (leading.kind, leading.core) == ("race", "b0.aic")
    (note,) = [note for note in leading.notes if "a wait may be missing" in note]
    assert "semaphores from aiv0 to aic" in note
