"""The floors of the house: a module imports from the floors below its own, rooms of one floor not each other."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "architecture.md"

# Floors side by side do not import each other: language and machine, tiles and order, the two engines, sanitize and
# timing.
HEIGHT = {
    "places": -1,
    "diagnostics": 0,
    "target": 1,
    "effects": 2,
    "language": 3,
    "machine": 3,
    "tiles": 4,
    "author": 4,
    "vmi": 4,
    "order": 4,
    "argument_uses": 4,
    "arguments": 4,
    "argument_words": 4.5,
    "options": 5,
    "reference": 5,
    "native": 5,
    "argument_trials": 6,
    "sanitize": 6,
    "timing": 6,
    "repair": 7,
    "report": 8,
    "example_arguments": 9,
    "kernel_launch": 9,
    "loading": 9,
    "timed_run": 9,
    "cpp": 9,
    "module": 10,
    "ordered_text": 10,
    "cpp_answers": 10.25,
    "checking": 10.5,
    "cpp_module": 10.5,
    "cpp_host": 10.5,
    "api": 11,
    "ranks": 12,
    "fit": 12,
    "ptodsl": 12,
    "testing": 14,
    "home": 15,
    "fleet": 14,
    "pytest_plugin": 15,
    "cli": 16,
    "__init__": 17,
    "__main__": 17,
}
ENGINES = {"reference", "native"}
ROOMS = set(
    "scalar control pointer scope sync dma vector_memory predicate arithmetic conversion reduction compare rearrange "
    "sfu system cube_load mad fixpipe".split()
)
ARRAYS_AND_COMPILERS = {"numpy", "ml_dtypes", "llvmlite", "xdsl"}
# effects and machine must be free of these, hence so must what they stand on.
BANNED = {
    "diagnostics": ARRAYS_AND_COMPILERS | {"rich", "click"},
    "target": ARRAYS_AND_COMPILERS,
    "effects": ARRAYS_AND_COMPILERS,
    "machine": ARRAYS_AND_COMPILERS,
}


def module_name(path: Path) -> tuple[str, bool]:
    """The dotted name of a source file, and whether it is a package."""
    parts = path.relative_to(SRC).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return ".".join(parts[:-1] if is_package else parts), is_package


def imported(module: str, is_package: bool, text: str) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything a module imports, also inside functions and under TYPE_CHECKING."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import():
                for alias in node.names:
                    yield node.lineno, alias.name
            case ast.ImportFrom():
                above = package[: len(package) - node.level + 1] if node.level else []
                base = [*above, *(node.module or "").split(".")] if node.module else above
                for alias in node.names:
                    yield node.lineno, ".".join([*base, alias.name])
            case ast.Call(
                func=ast.Name("import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, ".".join([*package, name[1:]]) if name.startswith(".") else name
            case _:
                pass


def floor_and_room(module: str) -> tuple[str, str | None]:
    """`ptosim.language.micro.sync` is the room `sync` of the floor `language`; its own names are of `__init__`."""
    _, *parts = module.split(".")
    if not parts or parts[0] not in HEIGHT:
        return "__init__", None
    return parts[0], next((part for part in parts[1:] if part in ROOMS), None)


def reason(module: str, name: str) -> str | None:
    """Why the module may not import that name, or None."""
    floor, room = floor_and_room(module)
    top = name.split(".")[0]
    if top != "ptosim":
        return f"{floor} is free of {top}" if top in BANNED.get(floor, ()) else None
    other, other_room = floor_and_room(name)
    if floor == other:
        both = room is not None and other_room is not None
        return f"room {room} imports room {other_room}" if both and room != other_room else None
    if HEIGHT[other] >= HEIGHT[floor]:
        return f"{floor} may not import {other}"
    if floor in ("sanitize", "timing") and other in ENGINES:
        return f"{floor} imports no engine"
    return None


def violations(module: str, is_package: bool, text: str) -> list[str]:
    found: list[str] = []
    for line, name in imported(module, is_package, text):
        if why := reason(module, name):
            found.append(f"{module}:{line}: {name}: {why}")
    return found


FILES = sorted((SRC / "ptosim").rglob("*.py"))


def test_the_page_of_the_house_draws_these_floors():
    floors = {height: {name for name in HEIGHT if HEIGHT[name] == height} for height in {*HEIGHT.values()}}
    drawn = next(line for line in PAGE.read_text().splitlines() if line.startswith("cli →"))
    named = [{*floor.split(", ")} for floor in drawn.split(" → ")]
    assert named == [floors[height] for height in sorted(floors, reverse=True)[1:]]  # without the package itself


def test_imports_go_down():
    modules = {path: module_name(path) for path in FILES}
    nowhere = [module for module, _ in modules.values() if module != "ptosim" and module.split(".")[1] not in HEIGHT]
    assert nowhere == [], "these stand on no floor"
    assert [found for path, names in modules.items() for found in violations(*names, path.read_text())] == []


BELOW = {"ir": {"ir"}, "vector": {"ir", "vector"}}
"""Folders of native, and all of native that they may import."""


def strays(folder: str, module: str, is_package: bool, text: str) -> list[str]:
    names = [name.split(".") for _, name in imported(module, is_package, text) if name.startswith("ptosim.native.")]
    return [".".join(parts) for parts in names if parts[2] not in BELOW[folder]]


@pytest.mark.parametrize("folder", BELOW)
def test_code_under_construction_knows_no_kernel(folder: str):
    paths = sorted((SRC / "ptosim/native" / folder).glob("*.py"))
    found = {path.name: strays(folder, *module_name(path), path.read_text()) for path in paths}
    assert {name: names for name, names in found.items() if names} == {}


def test_a_stray_import_would_be_found():
    text = "from ptosim.native.ir.flow import Function\nfrom ptosim.native.build.core import Core"
    assert strays("ir", "ptosim.native.ir.values", False, text) == ["ptosim.native.build.core.Core"]


REJECTED = [
    ("ptosim.machine.queue", "from ptosim.api import load", "machine may not import api"),
    ("ptosim.machine.queue", "from ..language import types", "machine may not import language"),
    ("ptosim.language.text.parser", "import ptosim.machine.queue", "language may not import machine"),
    ("ptosim.language.text.parser", "from ptosim import machine", "language may not import machine"),
    ("ptosim.reference.engine", "def f():\n    import ptosim.native.run.engine", "reference may not import native"),
    ("ptosim.native.run.engine", "from ptosim.reference.engine import run", "native may not import reference"),
    ("ptosim.sanitize.shadow", "from ..native import engine", "sanitize imports no engine"),
    ("ptosim.timing.pipe_timer", "from ptosim.reference import engine", "timing imports no engine"),
    ("ptosim.timing.pipe_timer", "from ptosim.sanitize import shadow", "timing may not import sanitize"),
    ("ptosim.language.micro.reduction", "from .scalar import Constant", "room reduction imports room scalar"),
    ("ptosim.language.micro.reduction", "from . import scalar", "room reduction imports room scalar"),
    ("ptosim.effects.dma", "import numpy as np", "effects is free of numpy"),
    ("ptosim.machine.queue", "from xdsl.ir import Operation", "machine is free of xdsl"),
    ("ptosim.machine.queue", "if TYPE_CHECKING:\n    import llvmlite.binding", "machine is free of llvmlite"),
    ("ptosim.effects.dma", "importlib.import_module('ml_dtypes')", "effects is free of ml_dtypes"),
    ("ptosim.machine.queue", "import_module('ptosim.cli.commands')", "machine may not import cli"),
    ("ptosim.diagnostics", "import rich.console", "diagnostics is free of rich"),
    ("ptosim.cli.commands", "from ptosim import __version__", "cli may not import __init__"),
    ("ptosim.cli.commands", "import ptosim", "cli may not import __init__"),
]


@pytest.mark.parametrize("module, text, why", REJECTED)
def test_a_violation_is_seen(module: str, text: str, why: str):
    (found,) = violations(module, False, text)
    assert found.endswith(why)


ALLOWED = [
    ("ptosim.api", False, "from ptosim.reference import engine\nfrom ptosim import diagnostics"),
    ("ptosim.sanitize.shadow", False, "import numpy as np\nfrom ptosim.machine.observer import Observer"),
    ("ptosim.timing.pipe_timer", False, "from ptosim.target import profile\nfrom ptosim.effects.dma import RECORDS"),
    ("ptosim.reference.dma", False, "from ptosim.language.dma import MteGmUb\nfrom .engine import semantics"),
    ("ptosim.language", True, "from . import scalar, reduction\nfrom .sync import SetFlag"),
    ("ptosim.report.html", False, "from ..sanitize import shadow\nfrom ..timing import pipes"),
    ("ptosim", True, "from ptosim.api import load"),
    ("ptosim.__main__", False, "from ptosim.cli.commands import main"),
]


@pytest.mark.parametrize("module, is_package, text", ALLOWED)
def test_what_goes_down_is_allowed(module: str, is_package: bool, text: str):
    assert violations(module, is_package, text) == []


def test_the_walk_finds_the_modules():
    assert {"ptosim", "ptosim.diagnostics"} <= {module_name(path)[0] for path in FILES}
