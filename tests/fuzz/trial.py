"""Tries cases in a process of its own, where a crash or a hang ends nothing else: run on both engines, check, profile.

    python -m fuzz.trial mutants COUNT SEED...   # a line of JSON for each case that went wrong

Whatever a case does, the answer is a result or diagnostics; it comes within `SECONDS` of processor time and `BYTES` of
memory, and both engines give the same.
"""

import gc
import json
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import numpy as np

import ptosim
from fuzz import hostile
from fuzz.case import Case, Source, loaded
from fuzz.mutated import mutants
from fuzz.registers import settings
from ptosim.native.build import compilation
from quick_code import mostly_quick

SOURCES: Mapping[str, Source] = {
    "mutants": mutants,
    "registers": settings,
    "texts": hostile.texts,
    "deep": hostile.deep,
    "ranks": hostile.ranks,
    "launches": hostile.launches,
}

SECONDS = 60
HANGS = 240  # seconds on the clock; others may be using the processor
BYTES = 1 << 30
MOST_BYTES = 4 << 30  # a case that wants more fails by MemoryError
MAX_STEPS = 20_000


class _Hangs(Exception):
    pass


def complaints(case: Case) -> Iterator[str]:
    """What is wrong with the answers to a case."""
    try:
        kernel = loaded(case.text).kernel()
    except ptosim.PTOError as error:
        str(error)
        return
    reference, native = (_outcome(kernel, case, engine) for engine in ("reference", "native"))
    if reference != native:
        yield f"the engines differ: reference {_shown(reference)}, native {_shown(native)}"
    report = ptosim.check(kernel, *case.arguments, grid=case.grid, max_steps=MAX_STEPS)
    str(report), report.to_json(), report.to_sarif()
    try:
        str(ptosim.profile(kernel, *case.arguments, grid=case.grid, max_steps=MAX_STEPS))
    except ptosim.PTOError as error:
        str(error)


def _outcome(kernel: ptosim.Kernel, case: Case, engine: str) -> Any:
    """The bytes after a run, or what the error says."""
    given = [item.copy() if isinstance(item, np.ndarray) else item for item in case.arguments]
    try:
        kernel(*given, grid=case.grid, engine=engine, threads=1, max_steps=MAX_STEPS)
    except ptosim.PTOError as error:
        return [(found.kind, found.message, found.line, found.loops, found.core) for found in error.diagnostics]
    return [item.tobytes() for item in given if isinstance(item, np.ndarray)]


def _shown(outcome: Any) -> str:
    return str(outcome) if isinstance(outcome[0], tuple) else "bytes"


JUDGES: Mapping[str, Callable[[Case], Iterator[str]]] = {
    "texts": hostile.of_texts,
    "deep": hostile.of_deep,
    "ranks": hostile.of_ranks,
    "launches": hostile.of_launches,
}
"""Of the other kinds `complaints`."""


def tried(case: Case, judge: Callable[[Case], Iterator[str]] = complaints) -> list[str]:
    """All that is wrong with a case: answers, time and memory."""
    began = time.process_time()
    try:
        found = _in_time(lambda: list(judge(case)))
    except _Hangs:
        found = [f"no answer after {HANGS} s:\n{traceback.format_exc()}"]
    except Exception:
        found = [traceback.format_exc()]
    took = time.process_time() - began
    if took > SECONDS:
        found.append(f"took {took:.0f} s")
    if (peak := _peak()) > BYTES:
        found.append(f"took {peak >> 20} MB")
    return found


def _peak() -> int:
    """Of this program: what `getrusage` tells begins with the process that started it."""
    words = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(words["VmHWM"].split()[0]) << 10


def _in_time(work: Callable[[], list[str]]) -> list[str]:
    def late(number: int, frame: FrameType | None) -> None:
        raise _Hangs

    signal.signal(signal.SIGALRM, late)
    signal.alarm(HANGS)
    try:
        return work()
    finally:
        signal.alarm(0)


def main(source: str, count: str, *seeds: str) -> bool:
    """As many cases of each seed; whether all went well."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    gc.freeze()  # what was imported need not be looked through again and again
    usual, is_well = compilation.compile_object, True
    for seed in seeds:
        compilation.compile_object = mostly_quick(usual, int(seed))
        for number, case in enumerate(islice(SOURCES[source](Random(seed)), int(count))):
            if found := tried(case, JUDGES.get(source, complaints)):
                is_well = False
                _tell({"case": f"{source} {seed} {number}: {case.name}", "wrong": found, "text": case.text})
                if "MB" in found[-1]:
                    return False  # the peak stays: of the rest nothing could be told
        _tell({"done": seed, "cases": int(count)})
    return is_well


def _tell(answer: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
