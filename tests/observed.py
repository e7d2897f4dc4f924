"""What a check finds before it looks for repairs, for tests that ask only whether there is something."""

from collections.abc import Sequence
from typing import Any

from ptosim.arguments import bind
from ptosim.checking import Kernel, Launch, observed
from ptosim.diagnostics import Diagnostic


def findings(kernel: Kernel, *arguments: Any, grid: int = 1) -> Sequence[Diagnostic]:
    """Without hints, and by the reference alone."""
    launch = Launch(bind(kernel.signature, arguments), grid)
    return observed(kernel, launch, "relaxed", range(grid)).findings
