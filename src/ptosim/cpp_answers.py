"""Results of the machine that scalar programs in C++ ask for: the recording so far is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptosim.cpp.compiler import CppBuild
from ptosim.cpp.launch_text import launch_text
from ptosim.cpp.module_text import KernelParameter, handing_over
from ptosim.cpp.recording import KernelRecording
from ptosim.diagnostics import PTOError, Source, error
from ptosim.module import Module, load_source
from ptosim.native.host.library import Request

MOST_ANSWERS = 1000
"""Results of the machine that the scalar programs of a launch ask for; each takes a run."""


def refuse_more_answers(many: int, recording: KernelRecording) -> None:
    """A scalar program that asks again and again is refused."""
    if many > MOST_ANSWERS:
        message = f"the scalar program asks for more than {MOST_ANSWERS} results of the machine"
        raise error("limit", message, recording.asking_place)


def asking_cores(found: Sequence[KernelRecording]) -> list[int]:
    """The recordings of a cluster that stopped for a result of the machine, in the first block that has such."""
    block = min(each.blocks[-1].number for each in found if each.asks)
    return [index for index, each in enumerate(found) if each.asks and each.blocks[-1].number == block]


def machine_answers(
    found: Sequence[KernelRecording],
    asking: Sequence[int],
    halves: Sequence[str],
    build: CppBuild,
    parameters: Sequence[KernelParameter],
    arrays: Sequence[Any],
) -> dict[int, int]:
    """The results that recordings of a cluster stopped for, from a run of the operations so far, which changes the
    arrays. `halves`: the kinds of its cores; the one of a cube core comes first."""
    block = found[asking[0]].blocks[-1].number
    parts = [handing_over(each, block, index if index in asking else None) for index, each in enumerate(found)]
    by_core = {half: parts[:1] if half == "cube" else parts[len(halves) - 1 :] for half in halves}
    answer = KernelParameter("ptosim_answer", "!pto.ptr<i64, gm>", "i64")
    text = launch_text("answer", build.target, build.shown, (*parameters, answer), by_core).text
    source, requested = Source(build.shown, text, is_own=True, is_recorded=True), Request(build.target, "written")
    words = np.zeros(2 * len(found), np.int64)
    try:
        Module(load_source(source, requested), requested).kernel()(*arrays, words, engine="reference")
    except PTOError:
        if not words[1::2].any():
            raise
    return {index: int(words[2 * index]) for index in asking if words[2 * index + 1]}
