"""The machines as data: sizes, limits, rules and prices of a target, each with its origin.

    a5 = load_target("a5")
    a5.memory["ub"]                      262144
    a5.sync.event_ids                    8
    a5.dma["gm_ub"].cycles(4096)         96
    a5.vector.classes["exp"].latency     (16, 21): elements of 4 bytes and more, smaller ones
    a5.origin("class.exp.latency")       "CA"

Figures live in the .toml files beside this module; `tables` says what they are called and may be, `figures` reads them,
`classes` lists the timing classes that an instruction can belong to. Nothing here knows an instruction or computes a
schedule.
"""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ptosim.diagnostics import error
from ptosim.target import tables
from ptosim.target.classes import COPY_CLASSES, OPERATION_CLASSES, REPEATED_INSTRUCTIONS, TIMING_CLASSES
from ptosim.target.figures import Figure, Figures, built_in_names, change, checked, near, read_figures


class Target(NamedTuple):
    name: str
    architecture: str  # "a5" or "a2a3"
    memory: Mapping[str, int]  # bytes by space: ub, l1, l0a, l0b, l0c, bt, fb, fb_relu, scale_a, scale_b
    alignment: Mapping[str, int]
    sync: tables.Sync
    rules: tables.Rules
    chip: tables.Chip
    link: tables.RankLink
    latency: tables.Latency
    operation: Mapping[str, tables.OperationPrice]
    dma: Mapping[str, tables.Copy]  # by source_destination
    vector: tables.IssueUnit | tables.RepeatUnit
    simt: tables.WorkitemPrice | None  # where there are workitems
    figures: Mapping[str, Figure]  # the same, flat, by dotted path

    def origin(self, path: str) -> str:
        """The origin of a figure: a key of `figures.ORIGINS`."""
        return self.figures[_known(self.figures, path, {})].origin

    def with_overrides(self, overrides: Mapping[str, Any], instructions: Mapping[str, str] | None = None) -> "Target":
        """The target with other figures, for questions of the form "what if".

        A path is dotted, `vector.startup`; before a row its table may be left out, `exp.latency`, `gm_ub.startup`; and
        where `instructions` maps names to timing classes, `vexp.latency` means the same: figures belong to classes.
        """
        table = dict(self.figures)
        for path, value in overrides.items():
            known = _known(table, path, instructions or {})
            change(table, {known: Figure(checked(self.architecture, known, value, "override"), "user")})
        return _target(Figures(self.name, self.architecture, table))


class OwnMachine(str):
    """The name of an architecture that a module is for, with the figures of a user's file."""

    machine: Target

    @property
    def identity(self) -> str:
        """A word that two of them share if all their figures are the same."""
        return f"{self} {sha256(repr(self.machine.figures).encode()).hexdigest()}"


def is_target_file(name: str) -> bool:
    """Whether a target is named by its file."""
    return name.endswith(".toml")


def own_machine(path: str) -> OwnMachine:
    """The machine that a user's .toml file describes."""
    machine = load_target(path)
    made = OwnMachine(machine.architecture)
    made.machine = machine
    return made


def load_target(name_or_path: str | Path) -> Target:
    """A built-in target (a5, a2a3 or its members a2 and a3, a2a3-flat, a2a3-board) or a user's .toml file."""
    if isinstance(name_or_path, OwnMachine):
        return name_or_path.machine
    name = str(name_or_path)
    return _built_in(name) if name in built_in_names() else _target(read_figures(name))


@cache
def _built_in(name: str) -> Target:
    """Read once: every run asks for one, and the files that come with the package do not change."""
    return _target(read_figures(name))


_TABLES_OF_CLASSES = ("class", "dma", "operation", "instruction")


def _known(table: Mapping[str, Figure], path: str, instructions: Mapping[str, str]) -> str:
    """The full path of a figure."""
    first, dot, rest = path.partition(".")
    group = instructions.get(first, first)
    meant = [path, *(f"{name}.{group}{dot}{rest}" for name in _TABLES_OF_CLASSES)]
    for candidate in meant:
        if candidate in table:
            return candidate
    for row in meant:
        figures = [key for name in table for key in [name.removeprefix(f"{row}.")] if key != name and "." not in key]
        if figures:
            raise error("argument", f"'{path}' is not one figure", hint=f"it has {', '.join(figures)}")
    choices = [*table, *(name.partition(".")[2] for name in table if name.startswith(_TABLES_OF_CLASSES))]
    choices += [f"{name}.{rest}" for name, group in instructions.items() if f"class.{group}.{rest}" in table]
    raise error("argument", f"there is no figure '{path}'", hint=near(path, choices))


def _target(figures: Figures) -> Target:
    table: dict[str, dict[str, Any]] = {}
    for path, figure in figures.table.items():
        group, _, key = path.rpartition(".")
        table.setdefault(group, {})[key] = figure.value
    return Target(
        figures.name,
        figures.architecture,
        memory=table["memory"],
        alignment=table["alignment"],
        sync=tables.Sync(**table["sync"]),
        rules=tables.Rules(**table["rules"]),
        chip=tables.Chip(**table["chip"]),
        link=tables.RankLink(**table["link"]),
        latency=tables.Latency(**table["latency"]),
        operation={name: tables.OperationPrice(**table[f"operation.{name}"]) for name in OPERATION_CLASSES},
        dma={path: tables.Copy(**table[f"dma.{path}"]) for path in COPY_CLASSES},
        vector=_issue_unit(table) if figures.architecture == "a5" else _repeat_unit(table),
        simt=tables.WorkitemPrice(**table["simt"]) if "simt" in table else None,
        figures=figures.table,
    )


def _issue_unit(table: Mapping[str, dict[str, Any]]) -> tables.IssueUnit:
    return tables.IssueUnit(
        **table["vector"],
        classes={name: tables.IssueClass(**table[f"class.{name}"]) for name in TIMING_CLASSES},
        forward={name: table[f"forward.{name}"] for name in TIMING_CLASSES if f"forward.{name}" in table},
    )


def _repeat_unit(table: Mapping[str, dict[str, Any]]) -> tables.RepeatUnit:
    return tables.RepeatUnit(
        classes={name: tables.RepeatClass(**table[f"class.{name}"]) for name in TIMING_CLASSES},
        tile=tables.TileOperationPrice(**table["tile"]),
        instructions={
            name: tables.RepeatedInstruction(**table[f"instruction.{row}"])
            for name, row in REPEATED_INSTRUCTIONS.items()
        },
    )
