"""The machines as data: sizes, limits, rules and prices of a target, each with its origin.

    a5 = load_target("a5")
    a5.memory["ub"]                      262144
    a5.sync.event_ids                    8
    a5.dma["gm_ub"].cycles(4096)         96
    a5.vector.classes["exp"].latency     (16, 21): elements of 4 bytes and more, smaller ones
    a5.origin("class.exp.latency")       "CA"

Figures live in the .toml files beside this module; `figures` reads them, `classes` lists the timing classes that an
instruction can belong to. Nothing here knows an instruction or computes a schedule.
"""

from collections.abc import Mapping
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from ptosim.diagnostics import error
from ptosim.target.classes import COPY_CLASSES, OPERATION_CLASSES, TIMING_CLASSES
from ptosim.target.figures import Figure, Figures, built_in_names, change, checked, near, read_figures

Pair = tuple[int, int]


def column(width: int) -> int:
    """Which half of a pair holds for elements of so many bytes."""
    return 0 if width >= 4 else 1


class Sync(NamedTuple):
    event_ids: int
    buffer_ids: int
    semaphores: int
    vector_semaphores: int
    semaphore_limit: int
    subblock_sem_offset: int
    inter_core_wait: str  # "pipe" or "core": what a wait for another core stalls
    inter_core_signal: str  # "direct" or "broadcast"
    buffers: bool


class Rules(NamedTuple):
    scatter_duplicates: str  # "lowest-lane" or "illegal"
    dma_length_multiple: int


class Chip(NamedTuple):
    clock_ghz: float
    cube_cores: int
    vector_cores: int


class Link(NamedTuple):
    """What copies between ranks get together, one way, in GB/s: between two ranks, and out of or into one rank."""

    peer_gb_s: float
    rank_gb_s: float


class Latency(NamedTuple):
    scalar: int
    flag: int
    inter_core: int
    barrier: int
    notify: int


class Operation(NamedTuple):
    """A queue entry that is no copy and no vector function: start-up, then cycles for each item."""

    startup: int
    each: Pair

    def cycles(self, items: int, width: int = 4) -> int:
        return self.startup + items * self.each[column(width)]


class Copy(NamedTuple):
    """A path between two memories."""

    bytes_per_cycle: float
    startup: int
    ramp_bytes: int  # a copy takes as long as this many more bytes at full rate

    def transfer(self, size: int) -> int:
        return ceil((size + self.ramp_bytes) / self.bytes_per_cycle) if size else 0

    def cycles(self, size: int) -> int:
        return self.startup + self.transfer(size)


class IssueClass(NamedTuple):
    """How an A5 vector unit executes the instructions of a class."""

    latency: Pair
    interval: Pair
    port: str  # "any", "exu0", "load", "both-loads", "store" or "none"
    consumer: str  # the column of `forward` that holds where this class consumes


class IssueUnit(NamedTuple):
    """The A5 vector unit: vector functions issue instructions to queues and ports."""

    startup: int
    drain: int
    decode: int
    issue: int
    load_slots: int
    load_slots_beside_store: int
    store_slots: int
    shared_queue: int
    execute_queue: int
    registers: int
    register_release: int
    retire_in_order: bool
    iteration: int
    loop_entry: int
    post_update: int
    branch: int
    classes: Mapping[str, IssueClass]
    forward: Mapping[str, Mapping[str, Pair]]  # producer class -> consumer column or class -> distance of the starts


class RepeatClass(NamedTuple):
    head: float
    slope: float
    tail: float


class RepeatUnit(NamedTuple):
    """The A2A3 vector unit: each instruction is a repeat between a head and a tail."""

    classes: Mapping[str, RepeatClass]


class Target(NamedTuple):
    name: str
    architecture: str  # "a5" or "a2a3"
    memory: Mapping[str, int]  # bytes by space: ub, l1, l0a, l0b, l0c, bt, fb, fb_relu, scale_a, scale_b
    alignment: Mapping[str, int]
    sync: Sync
    rules: Rules
    chip: Chip
    link: Link
    latency: Latency
    operation: Mapping[str, Operation]
    dma: Mapping[str, Copy]  # by source_destination
    vector: IssueUnit | RepeatUnit
    figures: Mapping[str, Figure]  # the same, flat, by dotted path

    def origin(self, path: str) -> str:
        """Where a figure comes from: a key of `figures.ORIGINS`."""
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


def load_target(name_or_path: str | Path) -> Target:
    """A built-in target (a5, a2a3 or its members a2 and a3, a2a3-flat, a2a3-board) or a user's .toml file."""
    name = str(name_or_path)
    return _built_in(name) if name in built_in_names() else _target(read_figures(name))


@cache
def _built_in(name: str) -> Target:
    """Read once: every run asks for one, and the files that come with the package do not change."""
    return _target(read_figures(name))


_TABLES_OF_CLASSES = ("class", "dma", "operation")


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
        sync=Sync(**table["sync"]),
        rules=Rules(**table["rules"]),
        chip=Chip(**table["chip"]),
        link=Link(**table["link"]),
        latency=Latency(**table["latency"]),
        operation={name: Operation(**table[f"operation.{name}"]) for name in OPERATION_CLASSES},
        dma={path: Copy(**table[f"dma.{path}"]) for path in COPY_CLASSES},
        vector=_issue_unit(table) if figures.architecture == "a5" else _repeat_unit(table),
        figures=figures.table,
    )


def _issue_unit(table: Mapping[str, dict[str, Any]]) -> IssueUnit:
    return IssueUnit(
        **table["vector"],
        classes={name: IssueClass(**table[f"class.{name}"]) for name in TIMING_CLASSES},
        forward={name: table[f"forward.{name}"] for name in TIMING_CLASSES if f"forward.{name}" in table},
    )


def _repeat_unit(table: Mapping[str, dict[str, Any]]) -> RepeatUnit:
    return RepeatUnit({name: RepeatClass(**table[f"class.{name}"]) for name in TIMING_CLASSES})
