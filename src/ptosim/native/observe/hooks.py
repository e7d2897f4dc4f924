"""Where an observed kernel lets its observer add code. Each method is called once for a place in the kernel, while the
code of that place is built; what it appends runs whenever the place is reached.

The state that this code keeps lies behind `Word.OBSERVED` of the context: `state_bytes` of memory per core, zero when
a kernel is linked and kept from block to block and from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ptosim.effects.names import Pipe
from ptosim.native.ir import Value

if TYPE_CHECKING:
    from ptosim.native.core import Core, FlagStep
    from ptosim.native.program import Body

Number = int | Value


class Observer:
    """One that adds nothing. Override what you need."""

    state_bytes = 0
    """To be known when the whole kernel is built."""

    # --- the scalar program of a core ---------------------------------------------------------------------------------

    def program_begins(self, core: Core) -> None:
        """Before the first instruction of a block."""

    def program_ends(self, core: Core) -> None:
        """After the last one."""

    # --- entries of pipes ---------------------------------------------------------------------------------------------

    def entry_begins(self, core: Core, op: Operation) -> None:
        """In the function of an entry, before its first instruction."""

    def entry_ends(self, core: Core, op: Operation) -> None:
        """In the function of an entry, after its last instruction."""

    # --- single instructions, of the scalar unit and of entries -------------------------------------------------------

    def instruction_begins(self, body: Body, op: Operation) -> None:
        """Before the code of an instruction; the values of its operands are known to the body."""

    def instruction_ends(self, body: Body, op: Operation) -> None:
        """After the code of an instruction; its results are known, too."""

    # --- synchronisation that happens inline --------------------------------------------------------------------------

    def flags(self, steps: Sequence[FlagStep], words: Sequence[Value]) -> None:
        """Sets and waits that follow each other, with the addresses of their sync words, before these change."""

    def got_buffer(self, core: Core, pipe: Pipe, buffer: Number, mode: Number) -> None:
        """A get_buf, before the word of its bracket changes."""

    def released_buffer(self, core: Core, pipe: Pipe, buffer: Number, mode: Number) -> None:
        """A rls_buf, before the word of its bracket changes."""

    def barrier(self, core: Core, pipe: Pipe) -> None:
        """A barrier of one pipe, or of all."""
