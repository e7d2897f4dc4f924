"""A kernel of micro-instructions in text, written as a function on the surface of kernels in Python."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ptosim.language.operation import PTOOperation
from ptosim.language.structure.control import For, If, Terminator
from ptosim.language.structure.function import Function, Return
from ptosim.language.structure.scalar import Constant
from ptosim.language.text.parser import ParsedModule, parse
from ptosim.language.text.python_edits import spelled_in_python
from ptosim.language.types import PtrType
from ptosim.places import Source

_BINARY = {"remui": "%", "remsi": "%", "divui": "//", "divsi": "//", "addi": "+", "subi": "-", "muli": "*"}
_COMPARED = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">=", "ult": "<", "ugt": ">"}
_BY_TEXT = ("flag", "barrier", "_buf", "mem_bar", "_intra_block", "_cross_block")
"""The ends of names that the writer of repairs spells."""
_CALLED = {"index_cast": "index_cast", "maxui": "max", "maxsi": "max", "minui": "min", "minsi": "min"}
_VIEWS = {"pto.make_tensor_view": ("shape", "strides"), "pto.partition_view": ("offsets", "sizes")}
_COPIES = {"pto.mte_gm_ub": "source, dest, l2_cache_ctl, len_burst", "pto.mte_ub_gm": "source, dest, len_burst"}


def in_python(text: str) -> str:
    """The function; raises LookupError for a kernel that says what the surface has otherwise."""
    parsed = parse(Source("<text>", text))
    (function,) = (op for op in parsed.module.walk() if isinstance(op, Function))
    return "\n".join(_Writer(parsed).function(function)) + "\n"


class _Writer:
    def __init__(self, parsed: ParsedModule) -> None:
        self._parsed = parsed
        self._said: dict[SSAValue, str] = {}

    def function(self, function: Function) -> Iterator[str]:
        parameters = [f"{self._name(each)}: {_type(each.type)}" for each in function.args]
        is_older = "a2a3" in str(self._parsed.module.attributes)
        named = ', target="a3"' if is_older else ""
        yield "from ptosim import pto, scalar"
        yield ""
        yield ""
        yield f'@pto.jit(mode="explicit"{named})'
        yield f"def {function.symbol}({', '.join(parameters)}):"
        yield from self._block(function.body.block, "    ")

    def _block(self, block: Block, space: str) -> Iterator[str]:
        lines = [line for op in block.ops for line in self._operation(op, space)]
        yield from lines or [f"{space}pass"]

    def _operation(self, op: Operation, space: str) -> Iterator[str]:
        match op:
            case Constant():
                self._said[op.result] = str(op.value)
            case Return() | Terminator():
                return
            case For():
                self._said[op.body.block.args[0]] = self._name(op.body.block.args[0])
                bounds = ", ".join(map(self._value, (op.lb, op.ub, op.step)))
                yield f"{space}for {self._name(op.body.block.args[0])} in range({bounds}):"
                yield from self._block(op.body.block, f"{space}    ")
            case If():
                yield f"{space}if {self._value(op.cond)}:"
                yield from self._block(op.true_region.block, f"{space}    ")
                if op.false_region.blocks and not isinstance(op.false_region.block.first_op, Terminator):
                    yield f"{space}else:"
                    yield from self._block(op.false_region.block, f"{space}    ")
            case PTOOperation() if op.regions:
                word = {"pto.vecscope": "vecscope()"}.get(op.name, f'section("{op.name.rpartition(".")[2]}")')
                yield f"{space}with pto.{word}:"
                yield from self._block(op.regions[0].block, f"{space}    ")
            case PTOOperation():
                yield from self._simple(op, space)
            case _:
                raise LookupError(op.name)

    def _simple(self, op: PTOOperation, space: str) -> Iterator[str]:
        word = op.name.removeprefix("arith.")
        values = [self._value(each) for each in op.operands]
        if word in _BINARY:
            call = f"{values[0]} {_BINARY[word]} {values[1]}"
        elif word == "cmpi":
            call = f"{values[0]} {_COMPARED[op.word('predicate') or '']} {values[1]}"
        elif word in _CALLED:
            call = f"scalar.{_CALLED[word]}({', '.join(values)})"
        elif op.name.startswith("pto.") and len(op.results) < 2:
            call = self._call(op)
        else:
            raise LookupError(op.name)
        target = "".join(f"{self._name(each)} = " for each in op.results)
        yield f"{space}{target}{call}"

    def _call(self, op: PTOOperation) -> str:
        if op.name.endswith(_BY_TEXT) or op.name.endswith("flag_dyn"):
            place = self._parsed.positions[op]
            return spelled_in_python(self._parsed.source.text[place.name.start : place.end].strip())
        if op.name == "pto.castptr":
            return f"pto.castptr({self._value(op.operands[0])}, {_type(op.results[0].type)})"
        if op.name in _COPIES:
            given = self._roles(op, _COPIES[op.name].split(", "))
            rows = self._roles(op, ["n_burst", "source_stride", "dest_stride"])
            turns = [op.played(role) for role in ("loop_counts", "loop_source_strides", "loop_dest_strides")]
            loops = ", ".join(f"({', '.join(map(self._value, each))})" for each in zip(*turns, strict=True))
            return f"{op.name}({given}, nburst=({rows}){f', loops=[{loops}]' if loops else ''})"
        if op.name in _VIEWS:
            lists = [f"{role}=[{self._roles(op, [role])}]" for role in _VIEWS[op.name]]
            return f"{op.name}({', '.join([self._value(op.operands[0]), *lists])})"
        if op.name == "pto.store_scalar":
            return f"{op.name}({', '.join(map(self._value, (*op.operands[1:], op.operands[0])))})"
        if op.name == "pto.alloc_tile":
            raise LookupError(op.name)
        words = [_word(op, role) for role in op.property_roles]
        free = op.optional_roles - {"mask"}
        roles = [(role, self._value(value)) for role in op.operand_roles for value in op.played(role)]
        given = [value for role, value in roles if role not in free] + [each for each in words if each is not None]
        given += [f"{role}={value}" for role, value in roles if role in free]
        word = op.name.removeprefix("pto.")
        return f"pto.{word if word.startswith('comm.') else word.replace('.', '_')}({', '.join(given)})"

    def _roles(self, op: PTOOperation, roles: Sequence[str]) -> str:
        return ", ".join(self._value(value) for role in roles for value in op.played(role))

    def _value(self, value: SSAValue) -> str:
        return self._said.get(value) or self._name(value)

    def _name(self, value: SSAValue) -> str:
        name = self._parsed.name_of(value).removeprefix("%")
        return f"{name}_" if keyword.iskeyword(name) else name


def _word(op: PTOOperation, role: str) -> str | None:
    """A word, or a number that is part of the operation; None where it is left out."""
    if (word := op.word(role)) is not None:
        return f'"{word.removeprefix("PIPE_")}"'
    number = op.integer(role)
    return None if number is None else str(number)


def _type(type_: Attribute) -> str:
    if isinstance(type_, PtrType):
        return f'pto.ptr({_type(type_.element)}, "{type_.space}")'
    return f"pto.{type_}"
