"""Lane by lane: the micro-instruction of the same name, register by register, in the layout that was chosen."""

from __future__ import annotations

from ptosim.language.logical_types import LogicalMaskType
from ptosim.language.types import VregType, element_of
from ptosim.vmi.layout import CONTIGUOUS, HALVES, LaneLayout
from ptosim.vmi.masks_made import logic
from ptosim.vmi.recipes import recipe
from ptosim.vmi.registers import Registers
from ptosim.vmi.values import Recipe
from ptosim.vmi.writer import mask_type, signed_of, unsigned_of

_ABS_BF16 = 0x7FFF


_FLOAT_AND_INTEGER = [f"{name}{kind}" for name in ("add", "sub", "mul", "min", "max") for kind in "fi"]


@recipe("vadd", "vsub", "vmul", "vdiv", "vmin", "vmax", "vprelu", *_FLOAT_AND_INTEGER, "divf")
def binary(step: Recipe) -> None:
    first, second = step.op.operand_roles[:2]
    layout = step.layout()
    rows = zip(step.registers(first, layout), step.registers(second, layout), step.masks(first, layout), strict=True)
    name = step.today
    step.give([step.write.op(name, *row) for row in rows], layout)


@recipe("vshl", "vshr", "shli", "shrui", "shrsi")
def shift(step: Recipe) -> None:
    """The counts are signed registers."""
    layout, name = step.layout(), step.today
    counts = signed_of(8 * step.width("lhs"))
    rows = zip(step.registers("lhs", layout), step.registers("rhs", layout), step.masks("lhs", layout), strict=True)
    step.give([step.write.op(name, one, step.write.cast(by, counts), mask) for one, by, mask in rows], layout)


@recipe("vand", "vor", "vxor", "andi", "ori", "xori", "mask_and", "mask_or", "mask_xor")
def bitwise(step: Recipe) -> None:
    if isinstance(step.value_of("result").type, LogicalMaskType):
        logic(step)
    else:
        binary(step)


@recipe("vneg", "vrelu", "vexp", "vln", "vsqrt", "negf", "negi", "relu", "exp", "ln", "sqrt")
def unary(step: Recipe) -> None:
    layout, name = step.layout(), step.today
    rows = zip(step.registers("input", layout), step.masks("input", layout), strict=True)
    step.give([step.write.op(name, *row) for row in rows], layout)


@recipe("vnot", "not", "mask_not")
def complement(step: Recipe) -> None:
    if isinstance(step.value_of("result").type, LogicalMaskType):
        logic(step)
    else:
        unary(step)


@recipe("vabs", "absf", "absi")
def absolute(step: Recipe) -> None:
    """The absolute value; of bf16 by its sign bit."""
    if element_of(step.type("input").element).name != "bf16":
        unary(step)
        return
    layout, write = step.layout(), step.write
    kept = write.every(_ABS_BF16, unsigned_of(16))
    rows = zip(step.registers("input", layout), step.masks("input", layout), strict=True)
    step.give([write.op("vand", write.bits(one), kept, mask) for one, mask in rows], layout)


@recipe("vadds", "vmuls", "vmaxs", "vmins", "vshls", "vshrs", "vlrelu")
def with_scalar(step: Recipe) -> None:
    layout, name, scalar = step.layout(), step.today, step.value("scalar")
    rows = zip(step.registers("input", layout), step.masks("input", layout), strict=True)
    step.give([step.write.op(name, one, scalar, mask) for one, mask in rows], layout)


@recipe("vsel", "select")
def select(step: Recipe) -> None:
    layout = step.layout()
    rows = zip(
        step.registers("on_true", layout),
        step.registers("on_false", layout),
        step.masks("on_true", layout),
        strict=True,
    )
    step.give([step.write.select(*row) for row in rows], layout)


# --- fused forms ------------------------------------------------------------------------------------------------------


@recipe("vmula", "fma")
def multiply_add(step: Recipe) -> None:
    """The instruction keeps acc in inactive lanes, where zeros belong."""
    layout = step.layout()
    operands = [step.registers(role, layout) for role in ("acc", "lhs", "rhs")]
    step.give(_cleared(step, "vmula", "acc", layout, *operands), layout)


@recipe("vaxpy")
def scaled_sum(step: Recipe) -> None:
    layout = step.layout()
    scalars = [step.value("scalar")] * layout.count(step.type("input").lanes, step.width("input"))
    operands = [step.registers("input", layout), step.registers("acc", layout), scalars]
    step.give(_cleared(step, "vaxpy", "input", layout, *operands), layout)


def _cleared(step: Recipe, name: str, data: str, layout: LaneLayout, *operands: Registers) -> Registers:
    """An instruction under a full mask, and then zeros where the mask is not set."""
    write = step.write
    masks = step.masks(data, layout)
    full = write.all(step.width(data))
    zero = write.every(0, step.element(data))
    found = [write.op(name, *row, full) for row in zip(*operands, strict=True)]
    mask = step.mask()
    if mask is None or ((all_ := mask.known(write)) is not None and all(all_)):
        return found
    return [write.select(one, zero, mask_) for one, mask_ in zip(found, masks, strict=True)]


@recipe("vexpdif")
def exponential_of_difference(step: Recipe) -> None:
    """From f16 the even and the odd lanes come apart."""
    wide = VregType.of(step.type("result").element)
    if step.width("input") == 4:
        layout = step.layout()
        rows = zip(
            step.registers("input", layout), step.registers("max", layout), step.masks("input", layout), strict=True
        )
        step.give([step.write.op("vexpdif", *row, part="EVEN", result=wide) for row in rows], layout)
        return
    rows = list(
        zip(
            step.registers("input", CONTIGUOUS),
            step.registers("max", CONTIGUOUS),
            step.masks("input", CONTIGUOUS),
            strict=True,
        )
    )
    found = [step.write.op("vexpdif", *row, part=part, result=wide) for part in ("EVEN", "ODD") for row in rows]
    kept = HALVES.registers_of_part(step.type("result").lanes, 4)
    step.give([*found[:kept], *found[len(rows) : len(rows) + kept]], HALVES)


# --- carries and wide products ----------------------------------------------------------------------------------------


@recipe("vaddc", "vaddcs")
def add_with_carry(step: Recipe) -> None:
    layout, write, element = step.layout(), step.write, unsigned_of(32)
    roles = ["lhs", "rhs"]
    operands = [[write.cast(one, element) for one in step.registers(role, layout)] for role in roles]
    carried = [step.masks("lhs", layout, "carry_in")] if step.op.name.endswith("vaddcs") else []
    masks = step.masks("lhs", layout)
    name, types = step.today, {"result": VregType.of(element), "carry": mask_type(4)}
    found = [write.op(name, *row, **types) for row in zip(*operands, *carried, masks, strict=True)]
    mask = step.mask()
    step.give([one for one, _ in found], layout)
    step.give_bits([carry for _, carry in found], 4, layout, mask is not None and mask.is_tight, "carry")


@recipe("vmull")
def wide_product(step: Recipe) -> None:
    """i32 multiplies signed."""
    layout, write = step.layout("low"), step.write
    signless = element_of(step.type("lhs").element).name == "i32"
    element = signed_of(32) if signless else unsigned_of(32)
    rows = zip(step.registers("lhs", layout), step.registers("rhs", layout), step.masks("lhs", layout), strict=True)
    type_ = VregType.of(element)
    found = [
        write.op("vmull", write.cast(one, element), write.cast(other, element), mask, low=type_, high=type_)
        for one, other, mask in rows
    ]
    step.give([low for low, _ in found], layout, "low")
    step.give([high for _, high in found], layout, "high")
