"""Activations, multiply-adds, the wide product, and the sorting helpers."""

from language.vector_kernel import accepts
from tables import table

# --- sorting ----------------------------------------------------------------------------------------------------------


def merge(element: str = "f32", last: str = "f32", count: str = "%s_i64", config: str = "%s_i64") -> str:
    pointer, other = f"!pto.ptr<{element}, ub>", f"!pto.ptr<{last}, ub>"
    lists = ", ".join([f"%p_{element}_ub"] * 4)
    types = ", ".join([pointer] * 4)
    return f"pto.vmrgsort4 {lists}, %p_{last}_ub, {count}, {config} : {types}, {other}, i64, i64"


def constant_merge(count: int, config: int) -> str:
    constants = f"%count = arith.constant {count} : i64\n%config = arith.constant {config} : i64\n"
    return constants + merge(count="%count", config="%config")


EQUAL = 4 << 48 | 4 << 32 | 4 << 16 | 4


@table(
    "count, config",
    (1 << 48 | 1 << 32 | 1 << 16 | 1, 0x1F01),  # one repeat may stop early
    (7, 0x0101),  # or merge a single list
    (EQUAL, 0x0F02),  # two repeats of four equal lists
)
def test_constant_words_of_vmrgsort4(count: int, config: int):
    accepts(constant_merge(count, config), scope=False)
