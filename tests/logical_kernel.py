"""Kernels around logical vectors: an image of UB goes in, operations run on it, the image comes out.

In type lists `L<100xf32>` is short for `!pto.vmi.vreg<100xf32>`, `Q<100>` for `!pto.vmi.mask<100xpred>`; pointers and
constants are named as in tests/small_kernels.py.
"""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ptosim
from ptosim.module import Module
from raw import all_raw
from small_kernels import expand, filled_and_shown, scalars

SIZE = 65_536
"""Bytes of UB that go in and come out."""

_PREFIXED = ("hif8", "f4E1M2x2", "f4E2M1x2", "bf16x2")


def _vector(found: re.Match[str]) -> str:
    prefix = "!pto." if found[2] in _PREFIXED else ""
    return f"!pto.vmi.vreg<{found[1]}x{prefix}{found[2]}>"


def spelled(text: str) -> str:
    text = re.sub(r"\bL<(\d+)x(\w+)>", _vector, text)
    text = re.sub(r"\bQ<(\d+)>", r"!pto.vmi.mask<\1xpred>", text)
    return expand(text)


def logical_text(body: str, arguments: str = "", rest: str = "", scoped: bool = True) -> str:
    """A kernel @k whose vector scope has this body."""
    inner = f"pto.vecscope {{\n{body}\n}}" if scoped else body
    whole = filled_and_shown(inner, SIZE)
    return spelled(f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @k(%in: G<ui8>, %out: G<ui8>{arguments}) attributes {{pto.kernel}} {{
{scalars(whole)}
{whole}
return
}}
{rest}
}}
""")


def image(*pieces: tuple[int, Any]) -> NDArray[np.uint8]:
    """UB with arrays at addresses."""
    found = np.zeros(SIZE, np.uint8)
    for address, array in pieces:
        raw = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        found[address : address + len(raw)] = raw
    return found


def after(module: Module, before: NDArray[np.uint8], *scalar: Any, engine: str = "reference") -> NDArray[np.uint8]:
    """UB after the kernel @k."""
    result = np.zeros(SIZE, np.uint8)
    module.kernel("k")(*all_raw((before.copy(), result)), *scalar, engine=engine)
    return result


def run_logical(body: str, before: NDArray[np.uint8], *scalar: Any, **options: Any) -> NDArray[np.uint8]:
    """UB after a body, on both engines, and once more from the text that it is lowered to."""
    module = ptosim.load(logical_text(body, **options))
    found = after(module, before, *scalar)
    assert np.array_equal(found, after(module, before, *scalar, engine="native"))
    again = ptosim.load(str(module.lowered()))
    assert np.array_equal(found, after(again, before, *scalar))
    return found


def at(memory: NDArray[np.uint8], address: int, dtype: Any, count: int) -> NDArray[Any]:
    return memory[address : address + count * np.dtype(dtype).itemsize].view(dtype)
