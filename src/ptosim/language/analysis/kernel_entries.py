"""The kernels of a module: its entries, the cores that run each, and the parameters of a launch.

Entries of one name in different modules, and the pair `NAME_aic` and `NAME_aiv`, are the programs of one mixed kernel.
Parameters that the launcher fills for each core are in launch_parameters.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Operation

from ptosim.effects.names import CoreKind
from ptosim.effects.sim_signal import SIGNALS as WORDS
from ptosim.effects.sync import SIGNALS, signalling
from ptosim.language.analysis.polling_loops import waits_for_word
from ptosim.language.operation import Problem, PTOOperation, core_of
from ptosim.language.passes.launch_parameters import name_of, visible
from ptosim.language.rules.call_rules import Found
from ptosim.language.rules.core_kind_rules import NAMES, cores
from ptosim.language.simt.simt import SectionSimt
from ptosim.language.simt.spins import waits_for_block
from ptosim.language.structure.control import While
from ptosim.language.structure.function import Call, Function, entry_functions, reached
from ptosim.language.text.parser import ParsedModule
from ptosim.language.tile.comm import CommOperation

SUFFIXES = {CoreKind.AIC: "_aic", CoreKind.AIV: "_aiv"}
"""Suffixes of the two functions of a pair."""

PEER = "peer_func"
"""The attribute by which an operation names the function of the other core."""

_CROSS_BLOCK = signalling("cross-block", "syncall")


@dataclass(frozen=True)
class KernelProgram:
    """An entry: which cores run what, and the parameters. A program leaves out the sections of the other kind."""

    name: str
    kind: Literal["vector", "cube", "mixed"]
    entries: Mapping[CoreKind, Function]
    signature: tuple[tuple[str, str], ...]
    """Name and type of each parameter. A program of a pair may take fewer: the first of them."""
    cross_block: bool
    """Whether blocks wait for each other."""
    workitems: bool
    """Whether it launches workitems."""


def kernels(parsed: ParsedModule) -> Iterator[KernelProgram]:
    """The entries of a verified module. Functions of one name for different kinds of core are one kernel."""
    for name, functions in _programs(parsed).items():
        entries = {core: function for function in functions for core in cores(function)}
        kind = "mixed" if len(entries) > 1 else "vector" if CoreKind.AIV in entries else "cube"
        longest = max((visible(parsed, function) for function in functions), key=len)
        signature = tuple((name_of(parsed, value), str(value.type)) for value in longest)
        executed = list(reached(*functions))
        crossing = any(_crosses_blocks(op) for op in executed)
        launching = any(_launches(op) for op in executed)
        yield KernelProgram(name, kind, entries, signature, crossing, launching)


def _launches(op: Operation) -> bool:
    if isinstance(op, Call):
        return op.function is not None and op.function.is_simt_entry
    return isinstance(op, SectionSimt)


def _crosses_blocks(op: Operation) -> bool:
    """Signals that may also stay within a block say by their mode that they do not; words in GM are for all blocks."""
    if op.name in WORDS or isinstance(op, CommOperation):
        return True
    if isinstance(op, While) and (waits_for_word(op) or waits_for_block(op)):
        return True
    if op.name not in _CROSS_BLOCK or not isinstance(op, PTOOperation):
        return False
    return len(SIGNALS[op.name].mechanisms) == 1 or op.integer("ffts_mode") == 0


def program_problems(parsed: ParsedModule) -> Iterator[Found]:
    """Entries of one name in different modules are the programs of one kernel: for different cores, same parameters."""
    programs: dict[str, dict[CoreKind | None, Function]] = {}
    for function in entry_functions(parsed.module):
        others = programs.setdefault(function.symbol, {})
        core = core_of(function)
        if core in others and others[core].parent_op() is not function.parent_op():
            where = f"for the {NAMES[core]} core" if core is not None else "in another module"
            yield function, Problem(f"@{function.symbol} is already defined {where}", at="sym_name")
        for other in others.values():
            if _types(parsed, other) != _types(parsed, function):
                types = ", ".join(map(str, other.argument_types))
                message = f"@{function.symbol} has other parameters in another module: ({types})"
                yield function, Problem(message, at="sym_name")
        others.setdefault(core, function)


# --- which functions are one kernel -----------------------------------------------------------------------------------


def _programs(parsed: ParsedModule) -> dict[str, list[Function]]:
    """The functions of each kernel by its name, in the order of the text."""
    named: dict[str, list[Function]] = {}
    for function in entry_functions(parsed.module):
        named.setdefault(function.symbol, []).append(function)
    alone = [functions[0] for functions in named.values() if len(functions) == 1]
    pairs = {member: pair for pair in _pairs(parsed, alone) for member in pair}
    programs: dict[str, list[Function]] = {}
    for name, functions in named.items():
        pair = pairs.get(functions[0])
        shared = _shared_name(pair) if pair is not None else name
        if pair is None or (shared in named and named[shared][0] not in pair):  # the name is another kernel's
            programs[name] = functions
        else:
            programs[shared] = list(pair)
    return programs


def _pairs(parsed: ParsedModule, functions: Sequence[Function]) -> Iterator[tuple[Function, Function]]:
    """A cube and a vector function that are one kernel: by the ends of their names, or because one names the other."""
    if len(functions) < 2:
        return
    kinds = {function: cores(function) for function in functions}
    peers = {function: _peers(function) for function in functions}
    for cube in (function for function in functions if kinds[function] == (CoreKind.AIC,)):
        for vector in (function for function in functions if kinds[function] == (CoreKind.AIV,)):
            named = vector.symbol in peers[cube] or cube.symbol in peers[vector]  # each, if data goes both ways
            alike = _stem(cube, CoreKind.AIC) == _stem(vector, CoreKind.AIV) != ""
            if (named or alike) and _agree(parsed, cube, vector):
                yield cube, vector


def _stem(function: Function, core: CoreKind) -> str:
    """The name of the kernel that the name of one of its programs begins with, or nothing."""
    stem, end, rest = function.symbol.rpartition(SUFFIXES[core])
    return stem if end and not rest else ""


def _peers(function: Function) -> set[str]:
    """The functions that operations of a function name as those of the other core."""
    named = (op.attribute(PEER) for op in function.walk() if isinstance(op, PTOOperation))
    return {peer.string_value() for peer in named if isinstance(peer, SymbolRefAttr)}


def _agree(parsed: ParsedModule, *functions: Function) -> bool:
    """Whether the parameters of one program are the first of the other."""
    shorter, longer = sorted((_types(parsed, function) for function in functions), key=len)
    return longer[: len(shorter)] == shorter


def _types(parsed: ParsedModule, function: Function) -> list[Attribute]:
    return [value.type for value in visible(parsed, function)]


def _shared_name(pair: tuple[Function, Function]) -> str:
    """The name of a kernel of two programs: what theirs have in common, word by word, else that of the cube's."""
    cube, vector = pair
    words = vector.symbol.split("_")
    return "_".join(word for word in cube.symbol.split("_") if word in words) or cube.symbol
