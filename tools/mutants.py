"""`python -m tools.mutants`: which faults of the sources do the tests catch?

First one run of the tests with `coverage` notes which test runs which line (build/mutants; --again repeats it). Then
each fault is made in a copy of the sources, and the tests that run its line are run, quickest first, until one fails.
The same seed and quota give the same faults. Prints the share caught in each room, and every fault that was missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

import coverage

from tools.faults import Fault, drawn, room_of

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "mutants"
NOTES = BUILD / "contexts"
LONGEST = 60
"""Seconds for the tests of one fault. A fault that makes them run longer than they do counts as caught."""


class Notes(NamedTuple):
    """The tests of each line, and how long a test takes."""

    tests: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    def of(self, fault: Fault) -> list[str]:
        """The tests that run a line, quickest first, as many as take half of the time."""
        chosen: list[str] = []
        total = 0.0
        for test in sorted(self.tests[str(fault.file)][fault.line], key=lambda name: self.seconds.get(name, 0)):
            total += self.seconds.get(test, 0)
            if chosen and total > LONGEST / 2:
                break
            chosen.append(test)
        return chosen


def noted(tests: list[str], again: bool) -> Notes:
    """Runs the tests once with coverage, where that was not done yet."""
    BUILD.mkdir(parents=True, exist_ok=True)
    if again or not NOTES.exists():
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.contexts", *tests]
        env = os.environ | {"CONTEXTS": str(NOTES), "PYTHONPATH": _path(ROOT)}
        subprocess.run(command, cwd=ROOT, env=env, check=True)
    data = coverage.CoverageData(str(NOTES))
    data.read()
    found: dict[str, dict[int, list[str]]] = {}
    for name in data.measured_files():
        by_line = data.contexts_by_lineno(name)
        lines = {line: [test for test in run if test] for line, run in by_line.items()}
        found[str(Path(name).relative_to(ROOT))] = {line: run for line, run in lines.items() if run}
    return Notes(found, json.loads(NOTES.with_suffix(".seconds.json").read_text()))


def _path(tree: Path) -> str:
    """The sources of a tree before all others, and the tests."""
    return os.pathsep.join([str(tree / "src"), str(ROOT / "tests")])


class Trial:
    """A copy of the sources in which faults are made, one after the other."""

    def __init__(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        self._folder = folder

    def catches(self, fault: Fault, tests: list[str]) -> bool:
        changed = self._folder / fault.file
        source = changed.read_text()
        changed.write_text(fault.applied(source))
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        try:
            ended = subprocess.run(
                command,
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": _path(self._folder), "PYTHONDONTWRITEBYTECODE": "1"},
                timeout=LONGEST,
                capture_output=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True
        finally:
            changed.write_text(source)
        return ended.returncode != 0


def judged(faults: list[Fault], notes: Notes, minutes: float, workers: int) -> Iterator[tuple[Fault, bool]]:
    """Each fault with whether a test catches it, until the time is over."""
    end = time.monotonic() + 60 * minutes
    trials: Queue[Trial] = Queue()
    for number in range(workers):
        trials.put(Trial(BUILD / f"trial{number}"))

    def one(fault: Fault) -> bool | None:
        if time.monotonic() > end:
            return None
        trial = trials.get()
        try:
            return trial.catches(fault, notes.of(fault))
        finally:
            trials.put(trial)

    with ThreadPoolExecutor(workers) as pool:
        for fault, caught in zip(faults, pool.map(one, faults), strict=True):
            if caught is not None:
                yield fault, caught


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=(__doc__ or "").split("\n\n", 1)[1])
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rooms", default="", help="folders of src/ptosim, with commas; all of them if not said")
    parser.add_argument("--tests", default="tests", help="the tests of the run that notes lines")
    parser.add_argument("--again", action="store_true", help="note anew which test runs which line")
    given = parser.parse_args()
    notes = noted(given.tests.split(","), given.again)
    rooms = {room_of(Path(file)) for file in notes.tests}
    chosen = {*given.rooms.split(",")} & rooms if given.rooms else rooms
    files = [Path(file) for file in notes.tests if room_of(Path(file)) in chosen]
    lines = {file: {*found} for file, found in notes.tests.items()}
    quota = -(-given.faults // max(1, len(chosen)))
    results: dict[str, list[bool]] = defaultdict(list)
    for fault, caught in judged(drawn(files, ROOT, given.seed, quota, lines), notes, given.minutes, given.workers):
        results[room_of(fault.file)].append(caught)
        if not caught:
            print(f"missed  {fault}", flush=True)
    for room, found in sorted(results.items()):
        print(f"{room:<12}{sum(found):>4} of {len(found):>3} caught")


if __name__ == "__main__":
    main()
