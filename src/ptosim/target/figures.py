"""Reading target files: TOML text to a flat table of figures, each a value with its origin.

Inheritance, spelling, types and completeness are settled here, so that `profile` only has to arrange what it gets.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from os.path import isfile
from pathlib import Path
from typing import Any, NamedTuple

from ptosim.diagnostics import error
from ptosim.target import tables
from ptosim.target.classes import COPY_CLASSES, OPERATION_CLASSES, REPEATED_INSTRUCTIONS, TIMING_CLASSES, WITHOUT_RESULT
from ptosim.target.tables import FigureKind, Value, figures_of

ORIGINS: dict[str, str] = {
    "CA": "cycle-accurate simulator of the vendor",
    "PROF": "published as profiled; board or simulator not stated",
    "DEV": "measured on a board",
    "DOC": "instruction-set pages",
    "GUESS": "published placeholder without explanation",
    "R": "recommendation of this project: nothing is published",
    "FIT": "fitted to published or measured cycles",
    "user": "set by the user",
}

BUILT_IN = Path(__file__).parent
ALIASES = {"a2": "a2a3", "a3": "a2a3"}


class Figure(NamedTuple):
    value: Value
    origin: str


class Figures(NamedTuple):
    """The content of one target file, its parents included: figures by dotted path, such as `class.exp.latency`."""

    name: str
    architecture: str
    table: Mapping[str, Figure]


# --- what a file may hold ---------------------------------------------------------------------------------------------

SPACES = ("ub", "l1", "l0a", "l0b", "l0c", "bt", "fb", "fb_relu", "scale_a", "scale_b")
_COMMON: dict[str, dict[str, FigureKind]] = {
    "memory": dict.fromkeys(SPACES, tables.COUNT),
    "alignment": dict.fromkeys(("ub", "l1", "l0a", "l0b"), tables.COUNT),
    "sync": figures_of(tables.Sync),
    "rules": figures_of(tables.Rules),
    "chip": figures_of(tables.Chip),
    "link": figures_of(tables.RankLink),
    "latency": figures_of(tables.Latency),
    **{f"operation.{name}": figures_of(tables.OperationPrice) for name in OPERATION_CLASSES},
    **{f"dma.{path}": figures_of(tables.Copy) for path in COPY_CLASSES},
}
_FORWARDING = [name for name in TIMING_CLASSES if name not in WITHOUT_RESULT]

SCHEMA: dict[str, dict[str, dict[str, FigureKind]]] = {
    "a5": {
        **_COMMON,
        "simt": figures_of(tables.WorkitemPrice),
        "vector": figures_of(tables.IssueUnit),
        **{f"class.{name}": figures_of(tables.IssueClass) for name in TIMING_CLASSES},
        **{f"forward.{name}": dict.fromkeys(tables.CONSUMERS, tables.PAIR) for name in _FORWARDING},
    },
    "a2a3": {
        **_COMMON,
        "tile": figures_of(tables.TileOperationPrice),
        **{f"class.{name}": figures_of(tables.RepeatClass) for name in TIMING_CLASSES},
        **{f"instruction.{row}": figures_of(tables.RepeatedInstruction) for row in REPEATED_INSTRUCTIONS.values()},
    },
}
ROW_TABLES = ("operation", "dma", "class", "instruction", "forward", "early")
HEADER = ("name", "architecture", "inherits")


def kind_of(architecture: str, path: str) -> FigureKind | None:
    """The domain of the figure at a dotted path; None where no such figure exists."""
    table, _, key = path.rpartition(".")
    if table.startswith("early."):
        return tables.GAP if kind_of(architecture, _forwarded(path)) is not None else None
    kinds = SCHEMA[architecture].get(table)
    if kinds is None:
        return None
    if key in kinds:
        return kinds[key]
    if table.startswith("dma.") and key == "gib_per_second":
        return tables.RATE
    if table.startswith("forward.") and key in TIMING_CLASSES:
        return tables.PAIR
    return None


def _paths(architecture: str) -> list[str]:
    """The figures that a target must have."""
    return [f"{table}.{key}" for table, keys in SCHEMA[architecture].items() for key in keys]


def checked(architecture: str, path: str, value: Any, where: str) -> Value:
    """The value as it is kept; a PTOError where the path does not exist or the value is of another kind."""
    kind = kind_of(architecture, path)
    if kind is None:
        raise error("argument", f"{where}: there is no figure '{path}'", hint=near(path, _paths(architecture)))
    kept = kind.kept(value)
    if kept is None:
        raise error("argument", f"{where}: '{path}' must be {kind.words}, not {value!r}")
    return kept


def near(word: str, known: Iterable[str]) -> str | None:
    """A hint that names what the user may have meant."""
    from difflib import get_close_matches  # slow to import, and only errors need it

    found = get_close_matches(word, list(known), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(found)}?" if found else None


# --- reading ----------------------------------------------------------------------------------------------------------


@cache
def built_in_names() -> list[str]:
    return sorted(path.stem for path in BUILT_IN.glob("*.toml"))


def read_figures(name_or_path: str | Path) -> Figures:
    """The figures of a built-in target or of a file, with everything inherited, complete and checked."""
    return _read(_find(str(name_or_path), Path()), ())


def _find(name: str, directory: Path) -> Path:
    """The file of a target: a built-in name, or a path relative to the directory."""
    built_in = ALIASES.get(name.lower(), name.lower())
    if built_in in built_in_names():
        return BUILT_IN / f"{built_in}.toml"
    path = directory / name
    if name.endswith(".toml") and isfile(path):  # Path.is_file raises for a name that is too long
        return path.resolve()
    raise error(
        "argument",
        f"no target '{name}': neither a built-in one nor a .toml file",
        hint=near(name, built_in_names()) or f"built in are {', '.join(built_in_names())}",
    )


def _read(path: Path, children: tuple[Path, ...]) -> Figures:
    where = path.name
    if path in children:
        chain = " inherits ".join(child.name for child in (*children[children.index(path) :], path))
        raise error("argument", f"{where}: a target cannot inherit from itself: {chain}")
    document = _document(path)
    header = {key: document.pop(key) for key in HEADER if key in document}
    for key, value in header.items():
        if not isinstance(value, str):
            raise error("argument", f"{where}: '{key}' must be text, not {value!r}")
    parent: Figures | None = None
    if "inherits" in header:
        parent = _read(_find(header["inherits"], path.parent), (*children, path))
    architecture = _architecture(header.get("architecture"), parent, where)
    table = dict(parent.table) if parent else {}
    change(table, _settled(_entries(document, architecture, where), table))
    _convert_rates(table)
    missing = [key for key in _paths(architecture) if key not in table]
    if missing:
        raise error(
            "argument",
            f"{where}: {len(missing)} figures are missing, the first is '{missing[0]}'",
            hint=None if path.stem == architecture else f'write inherits = "{architecture}" to take them from there',
        )
    return Figures(header.get("name", path.stem), architecture, table)


def _document(path: Path) -> dict[str, Any]:
    import tomllib  # a third of the cost of importing this package, and only reading needs it

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise error("argument", f"{path.name}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise error("argument", f"{path.name}: not TOML: {problem}") from None


def _architecture(stated: str | None, parent: Figures | None, where: str) -> str:
    inherited = parent.architecture if parent else None
    architecture = stated or inherited
    if architecture is None:
        raise error("argument", f"{where}: says neither 'architecture' nor 'inherits'")
    if architecture not in SCHEMA:
        raise error("argument", f"{where}: 'architecture' must be {' or '.join(map(repr, SCHEMA))}, not {stated!r}")
    if inherited and architecture != inherited:
        raise error("argument", f"{where}: is {stated} and inherits from a target that is {inherited}")
    return architecture


def _entries(document: dict[str, Any], architecture: str, where: str) -> dict[str, Figure]:
    """The figures that a file itself holds."""
    known = {table.partition(".")[0] for table in SCHEMA[architecture]}
    known |= {"early"} if "forward" in known else set()
    found: dict[str, Figure] = {}
    for table, content in document.items():
        if table not in known:
            raise error("argument", f"{where}: there is no table '{table}'", hint=near(table, [*known, *HEADER]))
        if not isinstance(content, dict):
            raise error("argument", f"{where}: '{table}' must be a table, not {content!r}")
        entries: dict[str, Any] = content  # pyright: ignore[reportUnknownVariableType]
        for key, entry in entries.items():
            path = f"{table}.{key}"
            rows = _row(path, entry, where) if table in ROW_TABLES else {path: _single(path, entry, where)}
            for figure_path, (value, origin) in rows.items():
                found[figure_path] = Figure(checked(architecture, figure_path, value, where), origin)
    return found


def _single(path: str, entry: Any, where: str) -> tuple[Any, str]:
    """A figure on its own: `[value, origin]`, or a bare value that the user vouches for."""
    if not isinstance(entry, list):
        return entry, "user"
    parts: list[Any] = entry  # pyright: ignore[reportUnknownVariableType]
    if len(parts) != 2:
        raise error("argument", f"{where}: '{path}' must be a value or [value, origin], not {entry!r}")
    return parts[0], _origin(parts[1], path, where)


def _row(path: str, entry: Any, where: str) -> dict[str, tuple[Any, str]]:
    """The figures of a row; its origin holds for all of them or is a table that names exceptions to `all`."""
    if not isinstance(entry, dict):
        raise error("argument", f"{where}: '{path}' must be a table of figures, not {entry!r}")
    row: dict[str, Any] = dict(entry)  # pyright: ignore[reportUnknownArgumentType]
    origin = row.pop("origin", "user")
    origins: dict[str, Any] = origin if isinstance(origin, dict) else {"all": origin}  # pyright: ignore
    for key in origins:
        if key != "all" and key not in row:
            raise error("argument", f"{where}: the origin of '{path}' names '{key}', which the row does not hold")
    return {
        f"{path}.{key}": (value, _origin(origins.get(key, origins.get("all", "user")), path, where))
        for key, value in row.items()
    }


def _origin(origin: Any, path: str, where: str) -> str:
    if not isinstance(origin, str) or origin not in ORIGINS:
        raise error("argument", f"{where}: the origin of '{path}' must be one of {', '.join(ORIGINS)}, not {origin!r}")
    return origin


def _forwarded(path: str) -> str:
    """The distance that a row of `early` says otherwise."""
    return path.replace("early.", "forward.", 1)


def _settled(stated: Mapping[str, Figure], inherited: Mapping[str, Figure]) -> dict[str, Figure]:
    """A file may say how long before the end of a latency a result is forwarded: what moves with the latency."""
    found: dict[str, Figure] = {}
    for path, figure in stated.items():
        if not path.startswith("early."):
            found[path] = figure
            continue
        latency = f"class.{path.split('.')[1]}.latency"
        complete = stated.get(latency) or inherited[latency]
        found[_forwarded(path)] = Figure(_moved(complete.value, figure.value, (0, 0)), figure.origin)
    return found


def change(table: dict[str, Figure], stated: Mapping[str, Figure]) -> None:
    """Put figures into a table. A result that is complete sooner can be forwarded sooner: where only the latency of a
    class changes, its forwarding distances move with it."""
    for path, figure in stated.items():
        before = table.get(path)
        table[path] = figure
        if before and path.startswith("class.") and path.endswith(".latency"):
            row = path.removesuffix("latency").replace("class.", "forward.", 1)
            for key in [key for key in table if key.startswith(row) and key not in stated]:
                table[key] = Figure(_moved(table[key].value, before.value, figure.value), figure.origin)


def _moved(distance: Value, before: Value, after: Value) -> Value:
    assert isinstance(before, tuple) and isinstance(after, tuple) and isinstance(distance, tuple)
    return max(1, distance[0] + after[0] - before[0]), max(1, distance[1] + after[1] - before[1])


def _convert_rates(table: dict[str, Figure]) -> None:
    """Rates stated in GiB/s become bytes per cycle, at the clock of the file that states them."""
    clock = table.get("chip.clock_ghz")
    if clock is None:
        return
    for path in [path for path in table if path.endswith(".gib_per_second")]:
        rate = table.pop(path)
        assert isinstance(rate.value, int | float) and isinstance(clock.value, int | float)
        per_cycle = rate.value * (1 << 30) / (clock.value * 1e9)
        table[path.replace("gib_per_second", "bytes_per_cycle")] = Figure(per_cycle, rate.origin)
