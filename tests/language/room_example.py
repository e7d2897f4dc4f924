"""The examples of instructions on memory and masks: what an example does not define becomes an argument, by name."""

import re

from language.vector_kernel import example, printed, read
from ptosim.language.operation import PTOOperation

_TYPES = {
    **dict.fromkeys(("ub",), "!pto.ptr<f32, ub>"),
    **dict.fromkeys(("offset", "update", "active_lanes", "c0"), "index"),
    **dict.fromkeys(("v", "x", "y"), "!pto.vreg<64xf32>"),
    **dict.fromkeys(("offsets",), "!pto.vreg<64xi32>"),
    **dict.fromkeys(("mask", "a", "b", "select"), "!pto.mask<b32>"),
    **dict.fromkeys(("control", "count", "zero", "bound"), "i32"),
    **dict.fromkeys(("block_stride", "repeat_stride", "loop"), "i16"),
}


def example_module(operation: type[PTOOperation], **types: str) -> str:
    text = example(operation)
    definitions = re.findall(r"^\s*(%\w+(?:, %\w+)*) = ", text, re.MULTILINE)
    defined = {name for names in definitions for name in re.findall(r"%(\w+)", names)}
    used = dict.fromkeys(re.findall(r"%(\w+)", text))
    arguments = ", ".join(f"%{name}: {(_TYPES | types)[name]}" for name in used if name not in defined)
    return f"module {{\nfunc.func @kernel({arguments}) {{\npto.vecscope {{\n{text}\n}}\nreturn\n}}\n}}\n"


def example_loads_and_prints_stably(operation: type[PTOOperation], **types: str) -> None:
    """Every line of the example loads, and what is printed of it loads and prints the same."""
    once = printed(read(example_module(operation, **types)))
    assert operation.name in once
    assert printed(read(once)) == once
