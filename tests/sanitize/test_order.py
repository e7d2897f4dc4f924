"""Clocks and races against the plain graph of a run (equivalence.py), which knows nothing of either."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ptosim
from examples.test_examples import EXAMPLES, NAMES, script
from observed import findings
from ptosim.api import Launch
from ptosim.arguments import bind
from ptosim.effects.names import Pipe
from ptosim.machine.clock import ordered
from sanitize import random_clusters, random_kernels
from sanitize.equivalence import Graph, Recorder, trace, unordered


class Clocked(Recorder):
    wants_clocks = True

    def report(self, diagnostic: Any, entry: Any) -> None:
        """The order is of interest whatever else is wrong."""


def disagreements(kernel: ptosim.Kernel, arguments: tuple[Any, ...], grid: int) -> list[tuple[object, object]]:
    """Pairs of accesses of a core or cluster that are ordered by clock and not by a path, or the other way round."""
    recorder = Clocked()
    kernel.reference(Launch(bind(kernel.signature, arguments).copied(), grid), recorder)()
    graph = Graph()
    for program in recorder.programs.values():
        graph.add(program)
    works = [entry for program in recorder.programs.values() for entry in program if entry.data is not None]
    before = graph.before(works)
    return [
        (one, other)
        for place, other in enumerate(works)
        for number, one in enumerate(works)
        if one is not other
        and not (one.core is other.core and one.pipe is other.pipe is Pipe.S)  # in order with itself, by no clock
        and ordered(one, other) != bool(before[place] >> number & 1)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_clocks_know_what_the_graph_of_an_example_knows(name: str) -> None:
    launch = script(name).launch()
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    assert disagreements(kernel, launch.arguments, launch.grid) == []


def programs(full: bool) -> Iterator[tuple[str, list[np.ndarray]]]:
    for seed in range(300 if full else 30):
        yield random_kernels.program(seed, 9, care=0.7), random_kernels.arguments()
        yield random_clusters.cluster(seed, 9, care=0.7), random_clusters.arguments()


def test_clocks_know_what_the_graph_of_a_random_program_knows_and_races_are_what_no_path_orders(full: bool) -> None:
    """Lanes of a vector load that count by use may race, or not; with the other accesses it is certain."""
    certain = none = 0
    for text, arguments in programs(full):
        kernel = ptosim.load(text).kernel()
        assert disagreements(kernel, tuple(arguments), 1) == [], text
        found = findings(kernel, *arguments)
        reported = any(finding.kind == "race" and "are in no order" not in finding.message for finding in found)
        works = trace(kernel, arguments, 1)
        if unordered(works, by_use=False):
            certain += 1
            assert reported, text
        elif not unordered(works):
            none += 1
            assert not reported, f"{found}\n{text}"
    assert min(certain, none) > (20 if full else 5)
