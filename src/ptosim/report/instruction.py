"""What `ptosim isa NAME` prints: what an instruction does, how it is written, where it runs and what it costs."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator

from ptosim.diagnostics import error
from ptosim.effects.catalogue import effects
from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects
from ptosim.language.catalogue import operations, room_of, structural_operations
from ptosim.language.operation import PTOOperation
from ptosim.target.profile import Target, load_target

TARGETS = ("a5", "a2a3")


def names() -> list[str]:
    """The mnemonics of every instruction, without the dialect's name, and the other operations with it."""
    return sorted(operation.name.removeprefix("pto.") for operation in (*operations(), *structural_operations()))


def describe(name: str) -> str:
    """The page of an instruction; a name that is none is an error that says which are near."""
    known = {operation.name: operation for operation in (*operations(), *structural_operations())}
    found = known.get(name) or known.get(f"pto.{name}")
    if found is None:
        near = difflib.get_close_matches(name.removeprefix("pto."), names(), 3)
        raise error("argument", f"there is no instruction '{name}'" + (f"; near: {', '.join(near)}" if near else ""))
    return "\n".join([found.name, "", inspect.getdoc(found) or "", "", *_facts(found)])


def listing() -> str:
    """Every instruction by group, with the first line of its page."""
    lines: list[str] = []
    room = ""
    for operation in (*operations(), *structural_operations()):
        if room_of(operation) != room:
            room = room_of(operation)
            lines += ["", room]
        first = (inspect.getdoc(operation) or "").partition("\n")[0]
        lines.append(f"  {operation.name.removeprefix('pto.'):<28} {first}")
    return "\n".join(lines[1:])


def _facts(operation: type[PTOOperation]) -> Iterator[str]:
    for role, vocabulary in operation.words.items():
        if len(vocabulary.words) <= 40:
            yield f"{role}: {', '.join(vocabulary.words)}"
    yield f"targets: {', '.join(operation.targets)}"
    if operation.placement != "any":
        yield f"placement: {operation.placement} vector scopes"
    record = effects().get(operation.name)
    if record is None:
        return
    yield f"pipe: {'scalar unit' if record.pipe is Pipe.S else record.pipe}"
    if record.reads or record.writes:
        yield f"special registers: reads {_list(record.reads)}, writes {_list(record.writes)}"
    for target in TARGETS:
        if target in operation.targets and (cost := _cost(load_target(target), record)):
            yield f"cost on {target}: {cost}"


def _list(items: tuple[str, ...]) -> str:
    return ", ".join(items) or "none"


def _cost(target: Target, record: Effects) -> str:
    """The figures of the timing class, with their origin."""
    path = target.dma.get(record.timing)
    if path is not None:
        origin = target.origin(f"dma.{record.timing}.bytes_per_cycle")
        return f"{path.startup} cycles and {path.bytes_per_cycle:g} bytes per cycle ({origin})"
    row = getattr(target.vector, "classes", {}).get(record.timing)
    if row is None:
        return ""
    figures = ", ".join(f"{name} {value}" for name, value in row._asdict().items() if not isinstance(value, dict))
    return f"class {record.timing}: {figures}"
