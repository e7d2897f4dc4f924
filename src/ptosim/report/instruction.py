"""The output of `ptosim isa NAME`: meaning, syntax, placement and cost of an instruction."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from textwrap import dedent
from typing import Any

from ptosim.diagnostics import error
from ptosim.effects.catalogue import effects
from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Static
from ptosim.effects.simt import ACCESS, latency_class
from ptosim.language.catalogue import operations, room_of, structural_operations
from ptosim.language.micro.vector import VectorOperation, listing
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.tile_rules import named
from ptosim.language.simt.simt import SimtLaunch, SyncThreads
from ptosim.language.tile.tile_family import VectorTile
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.report.lowered_example import becomes
from ptosim.target.classes import WORKITEM_CLASSES
from ptosim.target.figures import ORIGINS, Figure
from ptosim.target.profile import Target, load_target
from ptosim.tiles.pending import is_of_tiles, pending

TARGETS = ("a5", "a2a3")
LONGEST_LIST = 40  # words
_MARKS = re.compile(r"([\\*_<>`|\[\]$])")
"""Characters that Markdown would take for marks of its own."""


@dataclass(frozen=True)
class Page:
    """One instruction. Operands, results and words are by role, cycles by target and figure.

    `reads` and `writes` are special registers, `requires` says what operands must be, `tiles` which operands of a tile
    operation are read and written, `becomes` the instructions that its example is lowered to, `absorbed` what takes it
    up if there are none.
    """

    name: str
    group: str
    syntax: str
    summary: str
    meaning: str
    example: str
    operands: dict[str, str]
    optional: list[str]
    results: list[str]
    words: dict[str, list[str]]
    defaults: dict[str, str]
    elements: str
    targets: list[str]
    warned: list[str]
    """Targets that it is accepted on with a warning only: the machine does not have it."""
    placement: str
    pipe: str
    reads: list[str]
    writes: list[str]
    requires: list[str]
    tiles: dict[str, list[str]]
    becomes: list[str]
    absorbed: str
    pending: bool
    cycles: dict[str, dict[str, Figure]]

    def to_json(self) -> dict[str, Any]:
        cycles = {
            target: {name: figure._asdict() for name, figure in row.items()} for target, row in self.cycles.items()
        }
        return asdict(self) | {"cycles": cycles}

    def __str__(self) -> str:
        title = f"{self.name}  ({self.group})"
        parts = [title, self.summary, self.syntax, self.meaning, self.example, "\n".join(self._facts())]
        return "\n\n".join(part for part in parts if part)

    def markdown(self) -> str:
        """The same without its title: sentences as sentences, code as code, facts as a list."""
        _, *parts = str(self).split("\n\n")
        return "\n\n".join(map(self._as_markdown, parts))

    def _as_markdown(self, part: str) -> str:
        if part.startswith("    ") or part == self.syntax:
            return f"```pto\n{dedent(part)}\n```"
        lines = [_MARKS.sub(r"\\\1", line.strip()) for line in part.splitlines()]
        are_facts = len(lines) > 2 and all(": " in line for line in lines)
        return "\n".join(f"* {line}" if are_facts else line for line in lines)

    def _facts(self) -> Iterator[str]:
        facts = [
            ("operands", _list(f"{role} ({kind})" if kind else role for role, kind in self.operands.items())),
            ("optional operands", _list(self.optional)),
            ("results", _list(self.results)),
            *((role, self._words(role)) for role, words in self.words.items() if len(words) <= LONGEST_LIST),
            ("elements", self.elements),
            ("targets", _list(f"{name} (with a warning)" if name in self.warned else name for name in self.targets)),
            ("placement", "" if self.placement == "any" else f"{self.placement} vector scopes"),
            ("pipe", self.pipe),
            *((what, _list(roles)) for what, roles in self.tiles.items()),
            ("becomes", _list(self.becomes) or (f"nothing of its own; {self.absorbed}" if self.absorbed else "")),
            ("runs", "not yet" if self.pending else ""),
            ("requires", "; ".join(self.requires)),
            ("special registers", self._registers()),
            *(
                (f"cycles on {target}", _list(f"{name} {_shown(figure)}" for name, figure in row.items()))
                for target, row in self.cycles.items()
            ),
        ]
        yield from (f"{what}: {said}" for what, said in facts if said)
        used = {figure.origin for row in self.cycles.values() for figure in row.values()}
        yield from (f"  {origin}: {meaning}" for origin, meaning in ORIGINS.items() if origin in used)

    def _words(self, role: str) -> str:
        otherwise = f"; {self.defaults[role]} unless said" if role in self.defaults else ""
        return _list(self.words[role]) + otherwise

    def _registers(self) -> str:
        if not self.reads and not self.writes:
            return ""
        return f"reads {_list(self.reads) or 'none'}, writes {_list(self.writes) or 'none'}"


def pages() -> list[Page]:
    """Every instruction and the other operations, group by group."""
    return [_page(operation) for operation in (*operations(), *structural_operations())]


def page(name: str) -> Page:
    """The page of an instruction; an unknown name is an error with the nearest names."""
    known = {operation.name: operation for operation in (*operations(), *structural_operations())}
    found = known.get(name) or known.get(f"pto.{name}")
    if found is None:
        names = sorted(full.removeprefix("pto.") for full in known)
        near = difflib.get_close_matches(name.removeprefix("pto."), names, 3)
        raise error("argument", f"there is no instruction '{name}'" + (f"; near: {', '.join(near)}" if near else ""))
    return _page(found)


def contents() -> str:
    """Every instruction by group, with the first line of its page."""
    lines: list[str] = []
    group = ""
    for operation in (*operations(), *structural_operations()):
        if room_of(operation) != group:
            group = room_of(operation)
            lines += ["", group]
        lines.append(f"  {operation.name.removeprefix('pto.'):<28} {_documentation(operation)[0]}")
    return "\n".join(lines[1:])


def _page(operation: type[PTOOperation]) -> Page:
    summary, meaning, example = _documentation(operation)
    tile = operation if issubclass(operation, TileOperation) else None
    optional = [role for role in operation.operand_roles if role in operation.optional_roles]
    record = effects().get(operation.name)
    lowered = becomes(operation, example) if is_of_tiles(operation) else []
    priced = [name for name in TARGETS if name in operation.targets] if record else []
    return Page(
        name=operation.name,
        group=room_of(operation),
        syntax=_syntax(tile) if tile is not None else "",
        summary=summary,
        meaning=meaning,
        example=example,
        operands={role: _kind(operation, role) for role in operation.operand_roles if role not in optional},
        optional=optional,
        results=list(operation.result_roles),
        words={role: list(vocabulary.words) for role, vocabulary in operation.words.items()} | _plain_words(tile),
        defaults={name: _shown_default(value) for name, value in tile.defaults.items()} if tile is not None else {},
        elements=_elements(operation),
        targets=list(operation.targets),
        warned=list(operation.warned_targets),
        placement=operation.placement,
        pipe=_IN_A_LAUNCH
        if operation.simt == "inside"
        else ", ".join(_pipe(pipe) for pipe in (tile.pipes if tile else [record.pipe] if record else [])),
        reads=list(record.reads) if record else [],
        writes=list(record.writes) if record else [],
        requires=_requirements(record, priced),
        tiles=_touched(tile) if tile is not None else {},
        becomes=lowered,
        absorbed="" if lowered else operation.absorbed,
        pending=(operation.replaced_by or operation.name) in pending(),
        cycles={name: _cycles(operation, load_target(name)) for name in priced},
    )


def _requirements(record: Effects | None, targets: list[str]) -> list[str]:
    """Requirements of operands on some target; roles with one rule stand together."""
    roles: dict[str, list[str]] = {}
    for target in targets:
        for each in record.requires(Static(target=target)) if record is not None else ():
            roles.setdefault(each.rule.removeprefix("it must be "), []).append(each.role)
    return [f"{', '.join(dict.fromkeys(named))}: {rule}" for rule, named in roles.items()]


def _documentation(operation: type[PTOOperation]) -> tuple[str, str, str]:
    """The first line, the text and the example of an operation's docstring."""
    first, _, rest = (inspect.getdoc(operation) or "").partition("\n")
    lines = rest.strip("\n").splitlines()
    example = [line for line in lines if line.startswith("    ")]
    return first, "\n".join(lines[: len(lines) - len(example)]).strip(), "\n".join(example)


def _kind(operation: type[PTOOperation], role: str) -> str:
    """The static facts of an operand that does not exist."""
    spaces = operation.spaces.get(role)
    kinds = [f"pointer to {' or '.join(spaces)}"] if spaces else []
    if role in operation.variadic_roles:
        kinds.append("any number")
    return ", ".join(kinds)


_IN_A_LAUNCH = "V, in a launch of workitems"


def _pipe(pipe: Pipe) -> str:
    return "scalar unit" if pipe is Pipe.S else str(pipe)


# --- tile operations --------------------------------------------------------------------------------------------------


def _syntax(operation: type[TileOperation]) -> str:
    """The form of a tile operation, with its roles; parts in brackets may be left out."""
    if usage := operation.usage():
        return usage
    clauses = [_clause(operation, word) for word in ("ins", "outs") if operation.clause_roles(word)]
    behind = [name for name in operation.property_roles if name not in operation.inside]
    return " ".join([operation.name, *clauses, *([f"{{{', '.join(behind)}}}"] if behind else [])])


def _clause(operation: type[TileOperation], word: str) -> str:
    roles = operation.clause_roles(word)
    values = _listed([(f"%{role}", role in operation.optional_roles) for role in roles])
    types = _listed([(_type(operation, role), role in operation.optional_roles) for role in roles])
    inside = f" {{{', '.join(operation.inside)}}}" if word == "ins" and operation.inside else ""
    keywords = operation.keywords.items() if word == "ins" else ()
    groups = "".join(f" [{keyword} %{role} : {_type(operation, role)}]" for role, keyword in keywords)
    return f"{word}({values}{inside} : {types}{groups})"


def _listed(items: list[tuple[str, bool]]) -> str:
    """Items separated by commas, those that may be missing in brackets."""
    first, *rest = items
    return first[0] + "".join(f"[, {text}]" if optional else f", {text}" for text, optional in rest)


def _type(operation: type[TileOperation], role: str) -> str:
    if role in operation.untyped:
        return "TYPE"
    return "SCALAR" if role in operation.scalars else "VIEW" if role in operation.views else "TILE"


def _plain_words(operation: type[TileOperation] | None) -> dict[str, list[str]]:
    """The attributes that are true or false, or numbers."""
    if operation is None:
        return {}
    flags = {name: ["false", "true"] for name in operation.flags}
    return flags | {name: ["an integer"] for name in operation.numbers}


def _shown_default(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _touched(operation: type[TileOperation]) -> dict[str, list[str]]:
    """The operands that are read and written, and those of them that are overwritten as a whole."""
    return {
        "reads": list(operation.reads),
        "writes": list(operation.writes),
        "overwrites": list(operation.overwrites),
        "working memory": list(operation.scratch),
    }


def _tile_elements(operation: type[VectorTile]) -> str:
    by_target = {name: named(operation.accepted[name]) for name in operation.targets if operation.accepted}
    if len(set(by_target.values())) == 1:
        return next(iter(by_target.values()))
    return "; ".join(f"{listed} on {name}" for name, listed in by_target.items())


# --- other instructions -----------------------------------------------------------------------------------------------


def _elements(operation: type[PTOOperation]) -> str:
    if issubclass(operation, VectorTile):
        return _tile_elements(operation)
    if not issubclass(operation, VectorOperation):
        return ""
    documented = operation.accepted & operation.documented
    more = operation.accepted - operation.documented
    return listing(documented) + (f"; with a warning also {listing(more)}" if more else "")


def _cycles(operation: type[PTOOperation], target: Target) -> dict[str, Figure]:
    """The figures that decide what an instruction costs."""
    timing = effects()[operation.name].timing
    if target.simt is not None and timing in WORKITEM_CLASSES:
        return _of_workitems(operation, target)
    for table in ("class", "dma", "operation"):
        row = f"{table}.{timing}."
        figures = {path.removeprefix(row): figure for path, figure in target.figures.items() if path.startswith(row)}
        if figures:
            return figures
    figure = _signal(operation)
    return {figure: target.figures[f"latency.{figure}"]}


def _of_workitems(operation: type[PTOOperation], target: Target) -> dict[str, Figure]:
    """Figures of a launch, and of instructions that only workitems execute."""
    if issubclass(operation, SimtLaunch):
        names = ["launch", "schedulers"]
    elif issubclass(operation, SyncThreads):
        names = ["barrier"]
    else:
        kind = latency_class(operation.name)
        names = ["gm_hit", "gm_miss", "gm_bytes_per_cycle"] if kind == ACCESS else [kind]
    return {name: target.figures[f"simt.{name}"] for name in names}


def _signal(operation: type[PTOOperation]) -> str:
    """Parts of the cost of a synchronising instruction, besides waiting."""
    if room_of(operation) in ("sync", "sync_token"):
        return "barrier" if "barrier" in operation.name else "flag"
    return "inter_core" if room_of(operation) == "sync_semaphore" else "scalar"


def _shown(figure: Figure) -> str:
    value = figure.value
    if isinstance(value, tuple):
        wide, narrow = value
        shown = str(wide) if wide == narrow else f"{wide} (elements below 4 bytes: {narrow})"
    else:
        shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{shown} [{figure.origin}]"


def _list(items: Iterable[str]) -> str:
    return ", ".join(items)
