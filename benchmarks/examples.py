"""The example kernels with the launches of their scripts."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"


def paths() -> list[Path]:
    return sorted(EXAMPLES.glob("*.pto"))


def launch(name: str, **sizes: int) -> Any:
    """A launch of this example: `.arguments`, `.grid`, and `.compare()` for what they hold afterwards. A name such as
    tiles.matmul is one in a folder."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    return importlib.import_module(name).launch(**sizes)
