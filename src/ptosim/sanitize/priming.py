"""The edit that breaks a circle of flags: a wait at the head of a loop for what only the loop itself sets further down.

The first iteration can never pass it: a set in front of the loop primes the flag, and what the last iteration sets is
drained behind the loop, unless it is already.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ptosim.language.operation import PTOOperation
from ptosim.machine.deadlock import Blocked, Root
from ptosim.machine.entry import Key
from ptosim.sanitize.edit import after, before
from ptosim.sanitize.program import Program, outermost_loop

SETS = "pto.set_flag", "pto.set_flag_dyn"
WAITS = "pto.wait_flag", "pto.wait_flag_dyn"


def prime(program: Program, root: Root) -> str | None:
    """The edit, one line each; None where the circle has another cause."""
    return next((edit for head in root.heads if (edit := _prime(program, head)) is not None), None)


def _prime(program: Program, head: Blocked) -> str | None:
    key, wait = head.key, program.operation(head.entry.site.location)
    loop = outermost_loop(wait) if wait is not None else None
    if key is None or key.mechanism != "flag" or wait is None or loop is None:
        return None
    here, last = program.first_line(wait), program.last_line(loop)
    sets = [program.first_line(op) for op in program.operations() if _is(op, SETS, key)]
    if any(line < here for line in sets) or not any(here < line <= last for line in sets):
        return None
    operands = f'["PIPE_{key.source}", "PIPE_{key.destination}", "EVENT_ID{key.id}"]'
    edits = [before(program, loop, f"pto.set_flag{operands}  // prime")]
    waits = [program.first_line(op) for op in program.operations() if _is(op, WAITS, key)]
    if not any(line > last for line in waits):
        edits.append(after(program, loop, f"pto.wait_flag{operands}  // drain"))
    return "\n".join(map(str, edits))


def _is(op: Operation, names: tuple[str, ...], key: Key) -> bool:
    """Whether an instruction sets, or waits for, this flag: one with a computed event may."""
    if not isinstance(op, PTOOperation) or op.name not in names:
        return False
    pipes = op.word("source"), op.word("destination")
    if pipes != (f"PIPE_{key.source}", f"PIPE_{key.destination}"):
        return False
    return op.name.endswith("_dyn") or op.word("event") == f"EVENT_ID{key.id}"
