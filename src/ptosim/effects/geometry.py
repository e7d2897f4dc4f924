"""The few operations in which extents and alignments are written down, once for every engine.

A quantity is a Python int, a NumPy array of int64 or a value of the native engine's IR, and nothing here asks which:
all is built from the operators that the three share. A condition is what a comparison of quantities gives; conditions
combine with `&`, `|` and `negate`, and a condition times a quantity is that quantity or 0 (conditions do not add up:
NumPy's would not count).

Python's integers do not wrap, the other two do so at 64 bits. They agree as long as every partial result fits, which is
why operands are checked against their field widths before an extent is formed from them.
"""

from typing import Any, Protocol


class Quantity(Protocol):
    """Operands of an extent. Mixing with plain ints is part of it."""

    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __and__(self, other: Any, /) -> Any: ...
    def __or__(self, other: Any, /) -> Any: ...
    def __xor__(self, other: Any, /) -> Any: ...
    def __rshift__(self, other: Any, /) -> Any: ...
    def __lt__(self, other: Any, /) -> Any: ...
    def __le__(self, other: Any, /) -> Any: ...
    def __ge__(self, other: Any, /) -> Any: ...


def select(condition: Any, chosen: Any, otherwise: Any) -> Any:
    """`chosen` where the condition holds, else `otherwise`."""
    return otherwise + condition * (chosen - otherwise)


def negate(condition: Any) -> Any:
    """The opposite condition, still a condition (`~` would turn Python's True into -2)."""
    return condition ^ True


def minimum(first: Quantity, second: Quantity) -> Any:
    return select(first < second, first, second)


def maximum(first: Quantity, second: Quantity) -> Any:
    return select(first < second, second, first)


def is_multiple(quantity: Quantity, power: int) -> Any:
    """Whether a quantity is a multiple of a power of two."""
    return (quantity & (power - 1)) == 0


def floor_to(quantity: Quantity, power: int) -> Any:
    """The largest multiple of a power of two that is not above the quantity."""
    return quantity & -power


def ceil_to(quantity: Quantity, power: int) -> Any:
    """The smallest multiple of a power of two that is not below the quantity."""
    return (quantity + (power - 1)) & -power


def floor_div(quantity: Quantity, power: int) -> Any:
    """Division by a power of two, rounded down."""
    return quantity >> (power.bit_length() - 1)


def ceil_div(quantity: Quantity, power: int) -> Any:
    """Division by a power of two, rounded up."""
    return (quantity + (power - 1)) >> (power.bit_length() - 1)


def reach(count: Quantity, stride: Quantity) -> Any:
    """The distance from the first of `count` equally spaced rows to the last (nothing for an empty or single one)."""
    return maximum(count - 1, 0) * stride
