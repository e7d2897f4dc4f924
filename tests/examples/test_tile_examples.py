"""Every tile example gives what NumPy gives, on both engines and in every schedule, although it says nothing of order
and addresses; it checks clean, and what it is lowered to gives the same bytes."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import ptosim
from example_scripts import script
from observed import findings

EXAMPLES = Path(__file__).parents[2] / "examples" / "tiles"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.pto"))
ROWS = (0, 1, 16, 33)
"""Beside the default size: no row, one, a whole tile or half of one, one row more than two tiles or one."""


@cache
def kernel_of(name: str) -> ptosim.Kernel:
    """What an example is read and compiled to serves all its tests."""
    return ptosim.load(EXAMPLES / f"{name}.pto").kernel()


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def test_every_kernel_has_its_script():
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == NAMES


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("rows", [None, *ROWS])
def test_the_result_is_that_of_numpy(name: str, rows: int | None, engine: str):
    launch = script(f"tiles/{name}").launch(**({} if rows is None else {"rows": rows}))
    kernel = kernel_of(name)
    kernel(*launch.arguments, grid=launch.grid, engine=engine)
    launch.compare()


def test_it_checks_clean(name: str):
    launch = script(f"tiles/{name}").launch()
    report = ptosim.check(kernel_of(name), *launch.arguments, grid=launch.grid)
    assert not report.findings, report


@pytest.mark.parametrize("schedule", ["random:1", "random:2", "delay:MTE2", "delay:V", "delay:MTE3"])
def test_every_schedule_gives_the_same_bytes(name: str, schedule: str):
    first, second = script(f"tiles/{name}").launch(), script(f"tiles/{name}").launch()
    kernel = kernel_of(name)
    kernel(*first.arguments, grid=first.grid)
    kernel(*second.arguments, grid=second.grid, engine="reference", schedule=schedule)
    for one, other in zip(first.arguments, second.arguments, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_what_it_is_lowered_to_gives_the_same_bytes(name: str):
    first, second = script(f"tiles/{name}").launch(), script(f"tiles/{name}").launch()
    kernel_of(name)(*first.arguments, grid=first.grid)
    kernel_of(name).module.lowered().kernel()(*second.arguments, grid=second.grid, engine="reference")
    for one, other in zip(first.arguments, second.arguments, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


# --- FIFOs ------------------------------------------------------------------------------------------------------------

ENTRY = re.compile(r"^ *(?:%\w+ = )?pto\.(tpush_to|tpop_from|tfree_from)_ai[cv].*$", re.MULTILINE)
POP = re.compile(r"pto\.tpop_from_ai[cv] (?:\((%\w+), (%\w+)\) )?\{.*\} -> (.*)")
ENTRIES = [
    (name, number) for name in NAMES for number, _ in enumerate(ENTRY.finditer((EXAMPLES / f"{name}.pto").read_text()))
]


@pytest.mark.parametrize("name", sorted({name for name, _ in ENTRIES}))
def test_a_launch_of_one_row_is_clean(name: str):
    launch = script(f"tiles/{name}").launch(rows=1)
    assert not ptosim.check(kernel_of(name), *launch.arguments, grid=launch.grid).findings


@pytest.mark.parametrize(("name", "number"), ENTRIES)
def test_a_push_a_pop_or_a_free_that_is_missing_is_reported(name: str, number: int):
    """A tile of its own stands for one that nobody pops."""
    text = (EXAMPLES / f"{name}.pto").read_text()
    entry = list(ENTRY.finditer(text))[number]
    instead = POP.sub(_tile, entry[0]) if entry[1] == "tpop_from" else ""
    launch = script(f"tiles/{name}").launch(rows=1)
    try:
        kernel = ptosim.load(text[: entry.start()] + instead + text[entry.end() :]).kernel()
    except ptosim.PTOError:
        return
    assert findings(kernel, *launch.arguments, grid=launch.grid)


def _tile(pop: re.Match[str]) -> str:
    valid = f"valid_row = {pop[1]} valid_col = {pop[2]} " if pop[1] else ""
    return f"pto.alloc_tile {valid}: {pop[3]}"


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention_over_many_keys(causal: bool, engine: str):
    launch = script("tiles/flash_attention").launch(rows=128, keys=1024, causal=causal)
    kernel = kernel_of("flash_attention")
    kernel(*launch.arguments, grid=launch.grid, engine=engine)
    launch.compare()


def test_causal_attention_checks_clean():
    launch = script("tiles/flash_attention").launch(rows=256, keys=256, causal=True)
    report = ptosim.check(kernel_of("flash_attention"), *launch.arguments, grid=launch.grid)
    assert not report.findings, report
