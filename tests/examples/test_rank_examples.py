"""The examples of several ranks give what NumPy gives and check clean; their broken twins do not. No notice, wait or
fence can be dropped, and no comparison, number, peer or root changed, without a finding or another result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ptosim
from example_scripts import script

EXAMPLES = Path(__file__).parents[2] / "examples" / "ranks"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "worlds")
FOUR_ONLY = {"root_collectives"}
"""Their groups are written out."""
AGAIN = {"all_gather_async", "all_gather_ring", "all_reduce_ring", "gemm_all_reduce", "moe"}
"""Their words are 0 again at the end: they take no number of the run, and can be run twice as they are."""


def kernel(name: str, suffix: str = ".pto") -> ptosim.Kernel:
    return first(ptosim.load(EXAMPLES / f"{name}{suffix}"))


def first(module: ptosim.Module) -> ptosim.Kernel:
    """The kernel that its script is given: it launches those beside it, too."""
    return next(iter(module.kernels.values()))


def checked(name: str, subject: ptosim.Kernel) -> ptosim.CheckReport:
    report = script(f"ranks/{name}").launched(subject).world.check()
    return (
        script(f"ranks/{name}").launched(subject).world.check(repeat=2)
        if name in AGAIN and not report.findings
        else report
    )


def test_every_script_has_its_kernel_and_a_broken_twin() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.pto")) == sorted(
        f"{name}{suffix}" for name in NAMES for suffix in (".pto", ".broken.pto")
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_result_is_that_of_numpy(name: str, engine: str) -> None:
    subject = kernel(name)
    for ranks in (4,) if name in FOUR_ONLY else (1, 2, 4, 8):
        launched = script(f"ranks/{name}").launched(subject, ranks)
        launched.world.run(engine=engine)
        launched.compare()


@pytest.mark.parametrize("name", NAMES)
def test_every_schedule_gives_the_same(name: str) -> None:
    subject = kernel(name)
    for seed in range(3):
        launched = script(f"ranks/{name}").launched(subject)
        launched.world.run(engine="reference", schedule=f"random:{seed}")
        launched.compare()


@pytest.mark.parametrize("name", NAMES)
def test_it_checks_clean_and_its_twin_does_not(name: str) -> None:
    subject = kernel(name)
    report = checked(name, subject)
    assert not report.findings, report
    for ranks in (1, 2) if name in AGAIN else ():
        assert not script(f"ranks/{name}").launched(subject, ranks).world.check(repeat=2).findings
    broken = script(f"ranks/{name}").launched(kernel(name, ".broken.pto")).world.check()
    assert not broken.ok


def test_a_transfer_that_is_announced_too_early_wants_a_wait_for_its_event() -> None:
    (found,) = (
        script("ranks/all_gather_async").launched(kernel("all_gather_async", ".broken.pto")).world.check().findings
    )
    assert any("the transfer must have ended (pto.comm.wait_async_event)" in note for note in found.notes)


def test_what_the_page_shows_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parents[1])
    (code,) = re.findall(r"```python\n(.*?)```", Path("docs/explanation/ranks.md").read_text(), re.DOTALL)
    exec(code, {})


# --- mutants ----------------------------------------------------------------------------------------------------------

DROPPED = re.compile(
    r"^ *(%\w+ = )?pto\.(comm\.tnotify|comm\.twait|comm\.wait_async_event|fence\.barrier_all).*\n", re.MULTILINE
)
CHANGED = (("wait_cmp ge", "wait_cmp gt"), ("wait_cmp ge", "wait_cmp le"), ("notify_op set", "notify_op atomic_add"))


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """The text without each notice, wait and fence, and with other conditions."""
    for number, match in enumerate(DROPPED.finditer(text)):
        yield f"without {number}, {match[0].strip()[:21]}", text[: match.start()] + text[match.end() :]
    for old, new in CHANGED:
        for match in re.finditer(old, text):
            yield f"{new} for {old}", text[: match.start()] + new + text[match.end() :]


HARMLESS = {
    ("all_gather_async", "notify_op atomic_add for notify_op set"),
    ("all_gather_push", "notify_op atomic_add for notify_op set"),
    ("all_gather_pull", "notify_op atomic_add for notify_op set"),
    ("all_reduce", "notify_op atomic_add for notify_op set"),
    ("barrier", "notify_op atomic_add for notify_op set"),
    ("moe", "notify_op atomic_add for notify_op set"),
    ("ring_put", "notify_op atomic_add for notify_op set"),
    ("root_collectives", "notify_op atomic_add for notify_op set"),
    # the words begin at 0, and each gets one notice of 1: adding it sets it
    ("root_collectives", "without 0, pto.fence.barrier_all"),
    # the order of the broadcast behind the reduction is inserted anyway
    ("moe", "without 0, pto.fence.barrier_all"),
    # what is sent behind it ends with a fence of its own before anybody is told; the runs are coherent
}
"""What changes nothing in a first run, and why."""


@pytest.mark.parametrize("name", NAMES)
def test_nothing_can_be_left_out(name: str) -> None:
    text = (EXAMPLES / f"{name}.pto").read_text()
    survivors: set[tuple[str, str]] = set()
    for said, changed in mutants(text):
        subject = first(ptosim.load(changed))
        if not checked(name, subject).findings and not _differs(name, subject):
            survivors.add((name, said))
    assert survivors <= HARMLESS


VALUE = re.compile(r"^( *)(?:%\w+ = )?pto\.comm\.(?:tnotify|twait|ttest)\(%\w+, (%\w+) :.*\n", re.MULTILINE)
PEER = re.compile(r"^( *)%\w+ = func\.call @CommRemoteOffset_\w+\(%\w+, (%\w+)\).*\n", re.MULTILINE)
ROOT = re.compile(r"root = (\d) : i32")


def misdirected(text: str) -> Iterator[tuple[str, str]]:
    """The text with another number in each notice and wait, the other comparisons, another peer in each address,
    another root."""
    for number, match in enumerate(VALUE.finditer(text)):
        for by in (1, -1):
            made = f"{match[1]}%by = arith.constant {by} : i32\n{match[1]}%other = arith.addi {match[2]}, %by : i32\n"
            line = match[0].replace(f"{match[2]} :", "%other :", 1)
            what = re.sub(r".*pto\.comm\.(\w+).*\n", r"\1", match[0])
            yield f"{what} {number}, {by:+}", text[: match.start()] + made + line + text[match.end() :]
    for number, match in enumerate(re.finditer("wait_cmp ge", text)):
        for other in ("eq", "ne", "lt"):
            yield f"{other} {number}", text[: match.start()] + f"wait_cmp {other}" + text[match.end() :]
    for number, match in enumerate(PEER.finditer(text)):
        made = f"""%by_1 = arith.constant 1 : index
%by_sum = arith.addi {match[2]}, %by_1 : index
%by_next = arith.remui %by_sum, %everybody : index
"""
        line = match[0].replace(f", {match[2]})", ", %by_next)", 1)
        yield f"peer {number}, next", text[: match.start()] + made + line + text[match.end() :]
        if match[2] != "%c0":
            line = match[0].replace(f", {match[2]})", ", %peer_0)", 1)
            made = f"{match[1]}%peer_0 = arith.constant 0 : index\n"
            yield f"peer {number}", text[: match.start()] + made + line + text[match.end() :]
    for number, match in enumerate(ROOT.finditer(text)):
        other = str((int(match[1]) + 1) % 4)
        yield f"root {number}", text[: match.start(1)] + other + text[match.end(1) :]


OF_NO_CONSEQUENCE = {
    "all_gather_async": {"tnotify 0, +1", "tnotify 2, -1", "eq 0", "peer 1, next"},
    "all_gather_pull": {"tnotify 0, +1", "eq 0", "peer 0, next"},
    "all_gather_push": {"tnotify 0, +1", "eq 0"},
    "all_gather_ring": {"tnotify 2, -1"},
    "all_reduce": {"tnotify 0, +1", "eq 0", "peer 1, next"},
    "all_reduce_ring": {"tnotify 4, -1", "tnotify 5, -1", "eq 0", "eq 1"},
    "barrier": {"tnotify 2, +1", "tnotify 4, +1", "eq 0", "eq 1", "eq 2", "peer 0, next"},
    "gemm_all_reduce": {"tnotify 5, -1", "peer 0, next"},
    "moe": {"tnotify 0, +1", "tnotify 2, -1", "tnotify 3, +1", "tnotify 5, -1", "eq 0", "eq 1", "peer 3, next"},
    "reduce_scatter": {"eq 0"},
    "ring_put": {"tnotify 0, +1", "eq 0"},
    "root_collectives": {"tnotify 0, +1", "eq 0", "peer 8, next"},
}
"""+1: a notice of more than is waited for, by waits for at least that. -1: words that are set anew by the next run are
cleared to less than nothing. eq: a word goes no further than what is waited for: it gets one notice, or sums of as many
as are waited for, or the next one only behind an answer. next: a loop over all ranks tells all of them in another
order."""


QUICK = ("reduce_scatter", "ring_put")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in NAMES]
)
def test_no_number_peer_or_root_can_be_another(name: str) -> None:
    text = (EXAMPLES / f"{name}.pto").read_text()
    survivors: set[str] = set()
    for said, changed in misdirected(text):
        subject = first(ptosim.load(changed))
        if not checked(name, subject).findings and not _differs(name, subject):
            survivors.add(said)
    assert survivors == OF_NO_CONSEQUENCE.get(name, set())


def _differs(name: str, subject: ptosim.Kernel) -> bool:
    launched = script(f"ranks/{name}").launched(subject)
    try:
        launched.world.run()
    except ptosim.PTOError:
        return True
    return not all(
        np.array_equal(found, expected) for found, expected in zip(launched.found, launched.expected, strict=True)
    )
