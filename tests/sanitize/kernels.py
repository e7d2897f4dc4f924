"""Small kernels for the tests: a skeleton with two buffers of 64 floats in UB, and pieces to fill it with."""

from typing import Any

import numpy as np

import ptosim

HEAD = """module attributes {{pto.target_arch = "{arch}"}} {{
  func.func @kernel({parameters}) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 256 : i64
    %in = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    %out = pto.castptr %bytes : i64 -> !pto.ptr<f32, ub>
"""
TAIL = """    return
  }
}
"""
PARAMETERS = "%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>"

ALL = "    pto.barrier #pto.pipe<PIPE_ALL>\n"


def load(source: str = "%x", dest: str = "%in", length: str = "%bytes") -> str:
    types = "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
    return f"    pto.mte_gm_ub {source}, {dest}, %zero, {length} nburst(%one, {length}, {length}) : {types}\n"


def store(source: str = "%out", dest: str = "%y", length: str = "%bytes") -> str:
    types = "!pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
    return f"    pto.mte_ub_gm {source}, {dest}, {length} nburst(%one, {length}, {length}) : {types}\n"


def put(source: str, destination: str, event: int = 0) -> str:
    return f'    pto.set_flag["PIPE_{source}", "PIPE_{destination}", "EVENT_ID{event}"]\n'


def take(source: str, destination: str, event: int = 0) -> str:
    return f'    pto.wait_flag["PIPE_{source}", "PIPE_{destination}", "EVENT_ID{event}"]\n'


def order(source: str, destination: str, event: int = 0) -> str:
    return put(source, destination, event) + take(source, destination, event)


def scope(body: str) -> str:
    return f"    pto.vecscope {{\n{body}    }}\n"


MASK = '      %mask = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>\n'


def vlds(name: str = "%v", source: str = "%in", offset: str = "%c0") -> str:
    return f"      {name} = pto.vlds {source}[{offset}] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>\n"


def vsts(value: str = "%v", dest: str = "%out", offset: str = "%c0", mask: str = "%mask") -> str:
    types = "!pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>"
    return f"      pto.vsts {value}, {dest}[{offset}], {mask} : {types}\n"


def unary(op: str, name: str, value: str, mask: str = "%mask") -> str:
    return f"      {name} = pto.{op} {value}, {mask} : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>\n"


COPY = scope(MASK + vlds() + vsts())


def text(body: str, parameters: str = PARAMETERS, arch: str = "a5") -> str:
    return HEAD.format(arch=arch, parameters=parameters) + body + TAIL


def check(body: str, *arguments: Any, parameters: str = PARAMETERS, arch: str = "a5", **options: Any) -> Any:
    """The report on a kernel with this body; by default on 64 floats in and out."""
    kernel = ptosim.load(text(body, parameters, arch)).kernel()
    given = arguments or (np.arange(64, dtype=np.float32), np.zeros(64, np.float32))
    return ptosim.check(kernel, *given, **options)


def kinds(report: Any) -> list[str]:
    """Kinds of the findings, errors marked."""
    return [finding.kind + ("!" if finding.severity == "error" else "") for finding in report.findings]
