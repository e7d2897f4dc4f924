"""Mutants of a kernel: one synchronisation instruction or one number changed, in the text.

Each mutant knows the lines it has touched, so that a test can see whether a finding points there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

SYNC = re.compile(
    r"^\s*pto\.(set_flag|wait_flag|set_flag_dyn|wait_flag_dyn|barrier|pipe_barrier|get_buf|rls_buf|sync\.set|sync\.wait|"
    r"set_intra_block|wait_intra_block|wait_intra_core|set_cross_core|wait_flag_dev|record_event|wait_event|mem_bar)\b"
)


@dataclass(frozen=True)
class Mutant:
    """`line` is where the change is in the mutant (a deleted line: where it was); `what` is the line as it was."""

    mutation: str
    text: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.mutation} line {self.line}: {self.what.strip()}"


def mutants(text: str) -> Iterator[Mutant]:
    """Every mutant of a kernel."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if SYNC.match(line):
            yield from _sync_mutants(lines, index)
        yield from _number_mutants(lines, index)


def _mutant(mutation: str, lines: list[str], index: int, what: str) -> Mutant:
    return Mutant(mutation, "\n".join(lines), index + 1, what)


def _sync_mutants(lines: list[str], index: int) -> Iterator[Mutant]:
    line = lines[index]
    yield _mutant("delete", [*lines[:index], *lines[index + 1 :]], index, line)
    yield _mutant("duplicate", [*lines[: index + 1], line, *lines[index + 1 :]], index + 1, line)
    other = renumbered(line)
    if other is not None:
        yield _mutant("re-number", [*lines[:index], other, *lines[index + 1 :]], index, line)
    if index + 1 < len(lines) and SYNC.match(lines[index + 1]):
        yield _mutant("swap", [*lines[:index], lines[index + 1], line, *lines[index + 2 :]], index, line)


def renumbered(line: str) -> str | None:
    """The instruction with another id; None where it has none."""
    code, comment, rest = line.partition("//")
    if "EVENT_ID" in code:
        return re.sub(r"EVENT_ID(\d)", lambda found: f"EVENT_ID{(int(found[1]) + 1) % 8}", code) + comment + rest
    if "_dyn" in code or re.search(r"PIPE_\w+>, %", code):
        return re.sub(r"%\w+(?=\]|\s*$)", "%c0", code) + comment + rest
    if re.search(r"(get_buf|rls_buf)", code):
        return re.sub(r'("PIPE_\w+"), (\d+)', lambda found: f"{found[1]}, {int(found[2]) + 1}", code) + comment + rest
    if re.search(r">, \d+", code):
        return re.sub(r">, (\d+)", lambda found: f">, {(int(found[1]) + 1) % 16}", code) + comment + rest
    return None


def _number_mutants(lines: list[str], index: int) -> Iterator[Mutant]:
    line = lines[index]
    changed: tuple[str, str, str] | None = None
    if found := re.search(r"pto\.castptr (%\w+) : i64 -> !pto\.ptr<\w+, ub>", line):
        added = f"%mutant_32 = arith.constant 32 : i64\n%mutant = arith.addi {found[1]}, %mutant_32 : i64"
        changed = "shift address", added, line.replace(f"castptr {found[1]}", "castptr %mutant")
    elif found := re.search(r"nburst\((%\w+),", line):
        added = f"%mutant_1 = arith.constant 1 : i64\n%mutant = arith.subi {found[1]}, %mutant_1 : i64"
        changed = "drop row", added, line.replace(f"nburst({found[1]},", "nburst(%mutant,")
    elif found := re.search(r"scf\.for %\w+ = %\w+ to (%\w+) step (%\w+)", line):
        added = f"%mutant = arith.addi {found[1]}, {found[2]} : index"
        changed = "enlarge loop", added, line.replace(f"to {found[1]} step", "to %mutant step")
    if changed is not None:
        mutation, before, now = changed
        # The new values stand on the same line, so that line numbers stay.
        yield _mutant(
            mutation, [*lines[:index], " ".join((*before.split("\n"), now.strip())), *lines[index + 1 :]], index, line
        )
