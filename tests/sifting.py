"""What the filter of a check passes as clean, held against what the reference engine finds.

A finding in a block that the filter lets pass is a failure, whatever else the report says. Only that the reference
engine lacks memory for its records of GM is nothing that the filter says.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ptosim.checking import Kernel, Launch, sifted
from ptosim.sanitize.observation import Observation

COMPARED = 2
"""Runs of one test: those that follow try repairs."""


def assert_agrees(
    kernel: Kernel,
    launch: Launch,
    blocks: Sequence[int],
    reference: Observation,
    judge: Callable[[Sequence[int]], Observation],
) -> bool:
    """Findings are the same as where all blocks are judged; gives whether the filter has passed all as clean."""
    sifting = sifted(kernel, launch, blocks)
    if sifting is None:
        return False
    suspicious = set(sifting.blocks)
    while suspicious:
        judged = reference if len(suspicious) == len(blocks) else judge(sorted(suspicious))
        more = sifting.meeting(suspicious, judged.global_memory.meets)
        if not more:
            assert [each.to_json() for each in judged.findings] == [each.to_json() for each in reference.findings]
            return False
        suspicious |= more
    assert not reference.findings, f"{reference.findings[0]}: the filter let it pass"
    return True


def compared(observed: Callable[..., Observation]) -> Callable[..., Observation]:
    """The run of a check on the reference engine, and beside it what compiled code makes of the same launch."""
    left = COMPARED

    def both(
        kernel: Kernel,
        launch: Launch,
        mem_bar: str,
        blocks: Sequence[int],
        most: int | None = None,
        enough: frozenset[str] = frozenset(),
        overwrites: bool = False,
    ) -> Observation:
        nonlocal left
        found = observed(kernel, launch, mem_bar, blocks, most, enough, overwrites)
        again = replace(launch, block_done=None, found=None)
        is_complete = not any("is not complete" in finding.message for finding in found.findings)
        if left and is_complete and most is None:
            left -= 1
            assert_agrees(
                kernel,
                again,
                blocks,
                found,
                lambda some: observed(kernel, again, mem_bar, some, None, frozenset(), overwrites),
            )
        return found

    return both
