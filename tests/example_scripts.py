"""Scripts beside the kernels of examples/, imported as they would import themselves."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"


def script(name: str) -> Any:
    """The script of an example such as `tiles/softmax`; modules that it imports stand beside it or in examples/."""
    path = EXAMPLES / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}_script", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    folders = [str(path.parent), str(EXAMPLES)]
    sys.path[:0] = folders
    try:
        spec.loader.exec_module(module)
    finally:
        for folder in folders:
            sys.path.remove(folder)
    return module
