"""The examples as cases: their texts, launches at two sizes, what checks of texts like them say and what they leave."""

from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ptosim
from examples.test_examples import script
from ptosim.report.check_report import CheckReport
from repair.tile_kernel import KERNEL, arguments
from sanitize.equivalence import Trace, explanation, left_by_garbage, trace, unordered
from sanitize.once import Kept, kernel_of

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.pto") if path.with_suffix(".py").exists())

SIZES: dict[str, dict[str, int]] = {
    "buffers": {"tiles": 4},
    "pingpong": {"tiles": 4},
    "singlebuffer": {"tiles": 4},
    "softmax": {"rows": 72, "grid": 1},
    "flash_attention": {"rows": 64, "keys": 384},
    "flash_attention_f32": {"rows": 64, "keys": 192},
}
"""Where the sizes that an example shows leave a loop with one round, or take long."""

LARGER: dict[str, dict[str, int]] = {
    "buffers": {"tiles": 9},
    "pingpong": {"tiles": 9},
    "singlebuffer": {"tiles": 9},
    "softmax": {"rows": 300},
    "flash_attention": {"keys": 512},
    "flash_attention_f32": {"keys": 256},
    "gather": {"tokens": 600},
    "matmul": {"rows": 200, "depth": 600},
    "producer_consumer_a5": {"tiles": 9},
    "topk": {"rows": 20},
}
"""Sizes with more rounds, at which a hint must hold as well."""


def source(name: str) -> str:
    return KERNEL if name == "tiles" else (EXAMPLES / f"{name}.pto").read_text()


def launch_of(name: str, larger: bool = False) -> Any:
    if name == "tiles":
        return SimpleNamespace(arguments=arguments(208 if larger else 64), grid=1)
    return script(name).launch(**{**SIZES.get(name, {}), **(LARGER.get(name, {}) if larger else {})})


class Case:
    """An example and its data."""

    def __init__(self, name: str, larger: bool = False) -> None:
        self.name = name
        self.launch = launch_of(name, larger)
        self.text = source(name)
        self.reports = Kept()

    def report(self, text: str) -> CheckReport:
        return self.reports(
            text,
            lambda: ptosim.check(kernel_of(text), *self.launch.arguments, grid=self.launch.grid, unwritten="error"),
        )

    def check(self, text: str) -> tuple[ptosim.Finding, ...]:
        """The findings of its report, or why it does not load."""
        try:
            kernel_of(text)
        except ptosim.PTOError as problem:
            return problem.diagnostics
        return self.report(text).findings

    def outcome(self, text: str, schedule: str) -> object:
        arguments = [value.copy() if hasattr(value, "copy") else value for value in self.launch.arguments]
        options: dict[str, Any] = {"engine": "reference", "schedule": schedule, "oob": "drop", "max_steps": 10**6}
        try:
            kernel_of(text)(*arguments, grid=self.launch.grid, **options)
        except ptosim.PTOError as problem:
            return problem.diagnostics[0].kind
        return [value.tobytes() for value in arguments if hasattr(value, "tobytes")]

    def is_harmless(self, text: str, seeds: int) -> bool:
        return all(self.outcome(text, schedule) == self.expected for schedule in schedules(seeds))

    def trace(self, text: str) -> Trace:
        return trace(kernel_of(text), self.launch.arguments, self.launch.grid)

    def left_by_garbage(self, text: str, works: Trace) -> list[bytes]:
        return left_by_garbage(kernel_of(text), self.launch.arguments, self.launch.grid, works)

    def reason(self, text: str) -> str | None:
        """Why a text that leaves the same as the original in program order does so in every other one."""
        works = self.trace(text)
        known = explanation(self.original, works)
        if known or unordered(works, by_use=False) or self.left_by_garbage(text, works) != self.expected:
            return known
        return "not used"

    @cached_property
    def expected(self) -> object:
        return self.outcome(self.text, "program")

    @cached_property
    def original(self) -> Trace:
        return self.trace(self.text)


def both_sizes(name: str) -> tuple[Case, Case]:
    return Case(name), Case(name, larger=True)


def schedules(seeds: int) -> list[str]:
    delayed = [f"delay:{pipe}" for pipe in ("S", "V", "MTE2", "MTE3", "MTE1", "FIX", "M")]
    return ["program", *delayed, *(f"random:{seed}" for seed in range(seeds))]
