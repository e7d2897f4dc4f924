"""Written by `make stubs`."""
# fmt: off
# ruff: noqa

from typing import Any

def abs(x: Any) -> Any:
    """The absolute value of a scalar."""
    ...
def addi(a: Any, b: Any) -> Any:
    """a + b, of integers."""
    ...
def cast(value: Any, type: Any) -> Any:
    """A scalar as another type, where only its width changes."""
    ...
def exp(x: Any) -> Any:
    """The exponential of a float."""
    ...
def index_cast(*arguments: Any) -> Any:
    """An integer as index, or as another integer type: (value) or (type, value)."""
    ...
def load(ref: Any, off: Any = ..., *, contiguous: Any = ...) -> Any:
    """An element: of a tile, of a pointer with an offset."""
    ...
def log(x: Any) -> Any:
    """The natural logarithm of a float."""
    ...
def max(a: Any, b: Any) -> Any:
    """The larger of two scalars."""
    ...
def min(a: Any, b: Any) -> Any:
    """The smaller of two scalars."""
    ...
def muli(a: Any, b: Any) -> Any:
    """a * b, of integers."""
    ...
def select(cond: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b."""
    ...
def sqrt(x: Any) -> Any:
    """The square root of a float."""
    ...
def store(value: Any, ref: Any, off: Any = ...) -> Any:
    """Set an element."""
    ...
def subi(a: Any, b: Any) -> Any:
    """a - b, of integers."""
    ...
