"""The pytest plugin: marks that check a kernel file, and `.pto` files whose lines say how they are to be checked.

    @pytest.mark.ptosim("softmax.pto", args="rand:24x128 zeros:24x128 24", grid=3, cycles_at_most=4000)
    def test_softmax(): ...

    // CHECK-WITH: rand:24x128 zeros:24x128 24 --grid 3

Nothing of ptosim is imported before a kernel is checked.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

MARK = "// CHECK-WITH:"
STORE = "ptosim-cycles.toml"
_OPTIONS = {
    **{f"--{name}": name for name in ("grid", "ranks", "kernel", "target")},
    "--cycles-at-most": "cycles_at_most",
}
_NUMBERS = ("grid", "ranks", "cycles_at_most")
_CYCLES = pytest.StashKey[dict[str, dict[str, int]]]()
"""By the path of a store: cycles by the key of a launch."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ptosim")
    group.addoption(
        "--ptosim-update", action="store_true", help=f"write the cycles of checked kernels to {STORE} beside them"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "ptosim(file, args='auto', grid=1, ranks=None, kernel=None, target=None, clean=True, cycles_at_most=None): "
        "check a kernel",
    )
    config.stash[_CYCLES] = {}


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    if file_path.suffix != ".pto":
        return None
    return _KernelFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownMemberType]


class _KernelFile(pytest.File):
    def collect(self) -> Iterable[pytest.Item]:
        lines = self.path.read_text("utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            before, mark, words = line.partition(MARK)
            if mark and not before.strip():
                name = f"line {number}: {words.strip()}"
                yield _CheckedLine.from_parent(  # pyright: ignore[reportUnknownMemberType]
                    self, name=name, words=words.strip(), number=number
                )


class _CheckedLine(pytest.Item):
    """One line of a kernel file that says how it is checked."""

    def __init__(self, *, words: str, number: int, **given: Any) -> None:
        super().__init__(**given)  # pyright: ignore[reportUnknownMemberType]
        self.words, self.number = words, number

    def runtest(self) -> None:
        _checked(self.config, self.path, **_launch(self.words, f"{self.path}:{self.number}"))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.number - 1, f"{self.path.name}: {self.words}"


def _launch(words: str, place: str) -> dict[str, Any]:
    """Argument words and options of a line."""
    launch: dict[str, Any] = {"args": []}
    rest = iter(shlex.split(words))
    for word in rest:
        if word not in _OPTIONS:
            if word.startswith("--"):
                pytest.fail(f"{place}: {word} is none of {', '.join(_OPTIONS)}", pytrace=False)
            launch["args"].append(word)
            continue
        value = next(rest, "")
        if not value or (_OPTIONS[word] in _NUMBERS and not value.isdecimal()):
            pytest.fail(f"{place}: {word} needs a {'number' if _OPTIONS[word] in _NUMBERS else 'name'}", pytrace=False)
        launch[_OPTIONS[word]] = int(value) if _OPTIONS[word] in _NUMBERS else value
    return launch


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A marked test checks its kernels before its body."""
    for mark in pyfuncitem.iter_markers("ptosim"):
        if len(mark.args) != 1 or mark.kwargs.keys() - {*_OPTIONS.values(), "args", "clean"}:
            pytest.fail(f"@pytest.mark.ptosim takes a file and {', '.join(sorted(_OPTIONS.values()))}", pytrace=False)
        _checked(pyfuncitem.config, pyfuncitem.path.parent / mark.args[0], **mark.kwargs)
    return (yield)


def _checked(config: pytest.Config, path: Path, **launch: Any) -> None:
    from ptosim.diagnostics import PTOError
    from ptosim.testing import check_file

    args = launch.get("args", "auto")
    launch["args"] = words = args.split() if isinstance(args, str) else [str(each) for each in args]
    key = " ".join(
        (*words, *(f"--{name} {launch[name]}" for name in ("grid", "ranks", "kernel", "target") if launch.get(name)))
    )
    store = path.parent / STORE
    update = bool(config.getoption("--ptosim-update"))
    stored = None if update else _stored(store).get(path.name, {}).get(key)
    try:
        cycles = check_file(path, **launch, count_cycles=update or stored is not None)
    except (AssertionError, PTOError) as wrong:
        pytest.fail(str(wrong), pytrace=False)
    if update and cycles is not None:
        config.stash[_CYCLES].setdefault(str(store), {})[f"{path.name}\n{key}"] = cycles
    elif stored is not None and cycles is not None and cycles > stored:
        again = "if that is right, run pytest with --ptosim-update"
        pytest.fail(
            f"{path.name} takes {cycles} cycles, and {stored} are stored in {store.name}; {again}", pytrace=False
        )


# --- cycles that are kept ---------------------------------------------------------------------------------------------


def _stored(store: Path) -> dict[str, dict[str, int]]:
    """By file and launch."""
    import tomllib

    try:
        return tomllib.loads(store.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as reason:
        pytest.fail(f"{store}: {reason}", pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Cycles go into their files at the end; a worker of xdist hands them to the session that has started it."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["ptosim_cycles"] = session.config.stash[_CYCLES]
    else:
        _write(session.config.stash[_CYCLES])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    for store, cycles in getattr(node, "workeroutput", {}).get("ptosim_cycles", {}).items():
        node.config.stash[_CYCLES].setdefault(store, {}).update(cycles)


def _write(found: dict[str, dict[str, int]]) -> None:
    for place, cycles in found.items():
        store = Path(place)
        kept = _stored(store)
        for name, number in cycles.items():
            file, key = name.split("\n")
            kept.setdefault(file, {})[key] = number
        lines = ["# Cycles of kernels, written by pytest --ptosim-update.\n"]
        for file, launches in sorted(kept.items()):
            lines.append(f"\n[{json.dumps(file)}]\n")
            lines += [f"{json.dumps(key)} = {number}\n" for key, number in sorted(launches.items())]
        store.write_text("".join(lines), "utf-8")
