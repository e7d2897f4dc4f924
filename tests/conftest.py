"""Sample or full: `make test` runs a repeatable sample of the long suites, `--full` all that they are meant to."""

import gc
import os
import random
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings

# Modules that tests share explain a failed assertion as the tests themselves do.
pytest.register_assert_rewrite(*(path.stem for path in Path(__file__).parent.iterdir() if path.stem.isidentifier()))

settings.register_profile("sample", max_examples=20, derandomize=True, deadline=None)
settings.register_profile("full", max_examples=200, derandomize=True, deadline=None)

os.environ["COLUMNS"] = "100"  # tables are as wide wherever tests run
os.environ["PTOSIM_CACHE"] = "off"  # tests compile what they run, and leave the user's cache alone


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the long suites at their full counts")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("full" if config.getoption("--full") else "sample")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept = set(_sampled([item for item in items if not item.get_closest_marker("full")]))
    checked = [item for item in items if item in kept and item.path.parent.name in COMPARED]
    for item in checked[:: COMPARED_OF[config.getoption("--full")]]:
        item.add_marker("compared")
    if config.getoption("--full"):
        for item in {*kept, *items[::SIFTED]}:
            item.add_marker("sifted")
        return
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def pytest_collection_finish() -> None:
    gc.freeze()  # tests that collect garbage need not look through all the others
    gc.set_threshold(20_000, 50, 100)  # thousands of modules are made and dropped; looking seldom is enough


CASES = {
    "tiles": 1,
    "golden": 2,
    **dict.fromkeys(("cpp", "examples", "native", "order", "reference", "repair", "sanitize", "timing"), 2),
    "fuzz": 6,
    "home": 4,
    "test_new_and_watch": 2,
    "language": 5,
    "vmi": 2,
    "test_logical_programs": 12,
    "test_substitutions": 26,
    "test_arguments": 1,
    "test_simt_examples": 1,
    "test_example_sizes": 1,
    "test_word_order": 1,
    "test_word_values": 1,
    "test_theorem": 1,
    "test_advice": 1,
    "test_accesses": 1,
    **dict.fromkeys(("test_example_arguments", "test_cli"), 8),
    "test_room_examples": 60,
    "test_layouts": 8,
    "test_mutated": 2,
    "test_sums": 10,
    **dict.fromkeys(
        ("test_filter_rarities", "test_awaited_bytes", "test_meetings_sifted", "test_polling", "test_library_kernels"),
        1,
    ),
}
"""Of the folders, or files, whose functions have many cases: how many of each function a sample takes."""


def _sampled(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Some cases of each function, always the same ones."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, cases in functions.items():
        most = CASES.get(cases[0].path.stem, CASES.get(cases[0].path.parent.name, len(cases)))
        yield from cases if len(cases) <= most else random.Random(name).sample(cases, most)


OF_THE_REFERENCE = {"reference", "sanitize", "seeds", "timing", "report", "machine"}
"""Folders whose tests mean the reference engine where they do not name one."""
JUDGED = OF_THE_REFERENCE | {"golden", "order", "repair", "tiles"}
"""Folders whose checks judge every block and whose profiles time the reference engine: that compiled code suspects the
right blocks and keeps the same times has tests of its own (native/test_sieve.py, timing/test_timed.py); with --full
some cases of tiles go through it as well."""
SIFTED = 8
"""Of so many cases one does, besides those of the sample."""
TIMED = {"timing", "report"}
"""Folders whose profiles are those that a user gets."""


COMPARED = {"golden", "order", "repair", "sanitize"}
"""Folders of whose sample some cases are checked by compiled code as well, which must find the same."""
COMPARED_OF = {False: 40, True: 3}
"""One of so many, with --full or without."""


@pytest.fixture(autouse=True)
def _compared_engines(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("compared"):
        from ptosim import checking
        from sifting import compared

        monkeypatch.setattr(checking, "observed", compared(checking.observed))


@pytest.fixture(autouse=True)
def _reference_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = request.path.parent.name
    if folder in JUDGED and not (folder == "tiles" and request.node.get_closest_marker("sifted")):
        from ptosim.api import Kernel, check, profile

        monkeypatch.setitem(check.__kwdefaults__, "engine", "reference")
        if folder not in TIMED:
            monkeypatch.setitem(profile.__kwdefaults__, "engine", "reference")
        if folder in OF_THE_REFERENCE:
            monkeypatch.setitem(Kernel.__call__.__kwdefaults__, "engine", "reference")


BY_HAND = {"test_pipes", "test_pipes_cores", "test_vector_program", "test_profile", "test_trace"}
"""Files whose totals are worked out by hand, from the figures of timing/by_hand.toml."""


@pytest.fixture(autouse=True)
def _figures_by_hand(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.stem in BY_HAND:
        from ptosim.target import profile

        shipped = profile._built_in
        by_hand = profile.load_target(Path(__file__).parent / "timing" / "by_hand.toml")
        monkeypatch.setattr(profile, "_built_in", lambda name: by_hand if name == "a5" else shipped(name))


AS_USUAL = {"native", "examples", "seeds"}
"""Folders whose kernels are all compiled as users get them. In others most are compiled quickly (quick_code.py), and so
are those of one file here, which are thousands."""
QUICK = {"test_sieve"}


@pytest.fixture(autouse=True)
def _quick_code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.parent.name in AS_USUAL and request.path.stem not in QUICK:
        return
    from ptosim.native.build import compilation
    from quick_code import mostly_quick

    first = crc32(request.node.nodeid.encode())
    monkeypatch.setattr(compilation, "compile_object", mostly_quick(compilation.compile_object, first))


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether a suite that counts its own cases should run all of them."""
    return bool(request.config.getoption("--full"))
