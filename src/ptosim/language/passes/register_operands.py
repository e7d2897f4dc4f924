"""Older spellings become current ones, and what instructions take from configuration registers becomes their operands.

This happens on the copy that engines read, so that they, the observers and `order/` see one copy, one load and one
store of each sort. Texts, hints and reports show the operation that was written, which each new one serves.
A field of a register is a constant, or the operand of the write, where it is known which write came last; elsewhere it
is read (pto.sim.register).

Some older instructions mean more than any current one, and stay:

    copy_cbuf_to_ubuf       names the vector core, which mte_l1_ub does not
    copy_cbuf_to_bt         may leave f16 as it is, where mte_l1_bt always widens
    load_cbuf_to_ca_mx, …   name the address in the scale buffer, the current ones that of the data
    mad_raw, …              C starts from what a bit says at run time; CTRL says what 8-bit floats and f32 are
    copy_matrix_cc_to_…     modes are bits of a word, and scales have a shift and an offset; only registers are replaced
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr, UnitAttr, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ptosim.effects import configuration
from ptosim.language.builder import Builder, Head, InsertionPoint, Number, head_of, known
from ptosim.language.micro import cube_load_raw, dma, dma_grouped
from ptosim.language.micro.configuration import SimRegister
from ptosim.language.micro.cube_load import MteL1Fb, MteL1L0a, MteL1L0b
from ptosim.language.micro.fixpipe_raw import CopyMatrixCcToCbuf, CopyMatrixCcToGm, CopyMatrixCcToUb
from ptosim.language.micro.pointer import LoadScalar, StoreScalar
from ptosim.language.operation import PTOOperation
from ptosim.language.passes.simt_sections import is_launched
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.simt.simt_memory import Load, Store
from ptosim.language.structure.control import For, While
from ptosim.language.structure.function import Call, entry_functions, every_function, reached
from ptosim.language.structure.scalar import Constant
from ptosim.language.text.parser import ParsedModule
from ptosim.language.types import element_of

Held = tuple[Number, ...] | None
"""The fields of a register; None where only the run knows them."""
State = dict[str, Held]
"""The contents of the registers, by name."""
Field = Callable[..., Number]
"""The field of a register at the issue of an instruction, by its name; the type that it is read as, if not i64."""
Roles = Mapping[str, Number | Sequence[Number] | Attribute]
"""Operands and properties beyond those of the written operation, by role."""
Spelled = Callable[[Any, Builder, Field], Roles]


def normalise(parsed: ParsedModule) -> None:
    """Rewrite every operation that has another spelling or takes something from registers."""
    if any(type(op) in SPELLINGS or is_launched(op) for op in parsed.module.walk()):
        _Normaliser(parsed).rewrite()


class _Normaliser:
    def __init__(self, parsed: ParsedModule) -> None:
        self.parsed = parsed
        writes = [op for op in parsed.module.walk() if op.name in _BY_SETTER]
        self.changing = {
            register.name
            for register in {_BY_SETTER[op.name] for op in writes}
            if any(_written(op) != register.start for op in writes if op.name == register.setter)
        }
        """Registers that some write gives another value than they have at the start."""

    def rewrite(self) -> None:
        called = {op.function for op in self.parsed.module.walk() if isinstance(op, Call)}
        entries = set(entry_functions(self.parsed.module)) - called
        for function in every_function(self.parsed.module):
            if not function.is_declaration:
                state: State = {name: register.start for name, register in configuration.CONFIGURATION.items()}
                if function not in entries:
                    self._forget(state, self.changing)
                self._block(function.body.block, state, head_of(function.body.block))

    def _block(self, block: Block, state: State, head: Head) -> None:
        for op in list(block.ops):
            if (register := _BY_SETTER.get(op.name)) is not None:
                if register.name in self.changing:
                    state[register.name] = _written(op)
            elif type(op) in SPELLINGS or is_launched(op):
                assert isinstance(op, PTOOperation)
                self._respell(op, state, head)
            elif op.regions or isinstance(op, Call):
                self._inside(op, state, head)

    def _inside(self, op: Operation, state: State, head: Head) -> None:
        """Loops find what an earlier round has left; behind branches and sections it is unknown which of them ran."""
        inside = [*op.walk()]
        called = [each.function for each in inside if isinstance(each, Call) and each.function is not None]
        names = {each.name for each in (*inside, *reached(*called))}
        changed = {name for name in self.changing if configuration.CONFIGURATION[name].setter in names}
        if isinstance(op, For | While):
            self._forget(state, changed)
        for region in op.regions:
            for block in region.blocks:
                self._block(block, dict(state), head)
        self._forget(state, changed)

    def _forget(self, state: State, names: set[str]) -> None:
        state.update(dict.fromkeys(names))

    def _respell(self, op: PTOOperation, state: State, head: Head) -> None:
        build = Builder(self.parsed, InsertionPoint.at(op), head, op)

        def field(name: str, type_: IntegerType = i64) -> Number:
            register, number = configuration.FIELDS[name]
            if (fields := state[register.name]) is not None:
                return fields[number]
            value: SSAValue = build.op(SimRegister.name, field=name, result=type_)
            value.name_hint = name
            return value

        launch: tuple[type[PTOOperation], Spelled] = SimtLaunch, _launched
        current, spelled = launch if is_launched(op) else SPELLINGS[type(op)]
        operands: dict[str, Any] = {
            role: op.segment(role) for role in current.operand_roles if role in op.operand_roles
        }
        properties = {role: op.attribute(role) for role in current.property_roles if role in op.property_roles}
        for role, given in spelled(op, build, field).items():
            if isinstance(given, Attribute):
                properties[role] = given
            else:
                numbers = given if isinstance(given, Sequence) else (given,)
                operands[role] = [_operand(build, number) for number in numbers]
        new = build.add(current.make(operands, [result.type for result in op.results], properties, op.attributes))
        for old, result in zip(op.results, new.results, strict=True):
            old.replace_all_uses_with(result)
        if isinstance(op, Call) and isinstance(new, Call):
            new.function = op.function
        if new.name != op.name:
            self.parsed.spellings[new] = op.name
        op.detach()
        op.erase()


_BY_SETTER: dict[str, configuration.ConfigurationRegister] = {
    register.setter: register for register in configuration.CONFIGURATION.values()
}


def _written(op: Operation) -> Held:
    """The content that a write leaves in its register."""
    register = _BY_SETTER[op.name]
    values = [_pattern(value) for value in op.operands]
    if None not in values:
        return register.unpack(*values)
    type_ = i32 if register.fields is configuration.SIMT_FIELDS else i64
    plain = register.unpack is configuration.as_written and all(value.type == type_ for value in op.operands)
    return tuple(op.operands) if plain else None


def _pattern(value: SSAValue) -> int | None:
    """The bits of a constant."""
    owner = value.owner
    return owner.pattern if isinstance(owner, Constant) and not owner.is_dense else None


def _operand(build: Builder, number: Number, type_: IntegerType = i64) -> SSAValue:
    return build.pattern(number & (1 << element_of(type_).bits) - 1, type_) if isinstance(number, int) else number


# --- what each older spelling says ------------------------------------------------------------------------------------


def _same(op: PTOOperation, build: Builder, field: Field) -> Roles:
    return {}


def _limited(op: PTOOperation, build: Builder, field: Field) -> Roles:
    return {"older": UnitAttr()}


def _looped(direction: str) -> Spelled:
    """The hardware loops of the registers; one that runs once is none."""

    def spelled(op: PTOOperation, build: Builder, field: Field) -> Roles:
        sizes = [(f"{direction}_loop{loop}", field(f"{direction}_loop{loop}_size")) for loop in (1, 2)]
        loops = [(name, size) for name, size in sizes if known(size) != 1]
        return {
            "older": UnitAttr(),
            "loop_counts": [size for _, size in loops],
            "loop_source_strides": [field(f"{name}_source") for name, _ in loops],
            "loop_dest_strides": [field(f"{name}_destination") for name, _ in loops],
        }

    return spelled


def _padded(op: dma.CopyGmToUbuf, build: Builder, field: Field) -> Roles:
    """The pattern of the register, in the width of the elements, where `data_select` is on."""
    looped, selected = _looped("outtoub")(op, build, field), constant_of(op.data_select)
    if selected == 0:
        return {**looped, **dict.fromkeys(("left_padding", "right_padding", "data_select"), ())}
    type_ = IntegerType(8 * min(4, element_of(op.dest.type).bytes))
    pad = _operand(build, field("pad", type_), type_)
    return {**looped, "pad_value": pad, **({} if selected is None else {"data_select": ()})}


def _matrix(layout: str) -> Spelled:
    """Groups and strides of the register."""

    def spelled(op: PTOOperation, build: Builder, field: Field) -> Roles:
        return {"layout": StringAttr(layout), **{role: field(f"nz_{role}") for role in configuration.GROUPS}}

    return spelled


def _packed(op: cube_load_raw.LoadCbufToCaS4 | cube_load_raw.LoadCbufToCbS4, build: Builder, field: Field) -> Roles:
    """The transpose is a constant."""
    return {"transpose": IntegerAttr(constant_of(op.transpose) or 0, i1)}


def _filled(op: dma_grouped.CreateCbufMatrix, build: Builder, field: Field) -> Roles:
    return {"byte_offset": 0}


def _launched(op: PTOOperation, build: Builder, field: Field) -> Roles:
    """The dimensions that were stored last."""
    return {role: _operand(build, field(f"simt_{role}", i32), i32) for role in configuration.DIMENSIONS}


def _registered(op: CopyMatrixCcToGm | CopyMatrixCcToCbuf | CopyMatrixCcToUb, build: Builder, field: Field) -> Roles:
    return {} if op.fpc is not None else {role: field(role) for role in configuration.FIXPIPE}


SPELLINGS: dict[type[Operation], tuple[type[PTOOperation], Spelled]] = {
    dma.CopyGmToUbuf: (dma_grouped.MteGmUb, _padded),
    dma.CopyUbufToGm: (dma_grouped.MteUbGm, _looped("ubtoout")),
    dma.CopyGmToCbuf: (dma_grouped.MteGmL1, _looped("outtol1")),
    dma.CopyGmToCbufMultiNd2Nz: (dma_grouped.MteGmL1Frac, _matrix("nd2nz")),
    dma.CopyGmToCbufMultiDn2Nz: (dma_grouped.MteGmL1Frac, _matrix("dn2nz")),
    dma.CopyUbufToUbuf: (dma_grouped.MteUbUb, _same),
    dma.CopyUbufToCbuf: (dma_grouped.MteUbL1, _limited),
    dma_grouped.CreateCbufMatrix: (dma_grouped.RawFillL1, _filled),
    cube_load_raw.LoadCbufToCa: (MteL1L0a, _same),
    cube_load_raw.LoadCbufToCb: (MteL1L0b, _same),
    cube_load_raw.LoadCbufToCaS4: (MteL1L0a, _packed),
    cube_load_raw.LoadCbufToCbS4: (MteL1L0b, _packed),
    cube_load_raw.CopyCbufToFbuf: (MteL1Fb, _same),
    CopyMatrixCcToGm: (CopyMatrixCcToGm, _registered),
    CopyMatrixCcToCbuf: (CopyMatrixCcToCbuf, _registered),
    CopyMatrixCcToUb: (CopyMatrixCcToUb, _registered),
    Load: (LoadScalar, _same),
    Store: (StoreScalar, _same),
}
"""Each older instruction: the current one, and what that says besides the operands and properties of the same names."""


def respelled() -> frozenset[str]:
    """The names of instructions that no engine sees."""
    return frozenset(older.name for older, (current, _) in SPELLINGS.items() if current is not older)
