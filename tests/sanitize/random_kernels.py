"""Random kernels: copies, vector scopes and scalar accesses on a few buffers, with and without the order they need.

All buffers are filled before and stored after the steps. Most steps are ordered behind the one before, so that many
kernels are race-free, by different means; some are not. Every kernel loads, ends, and stays inside its memories. They
serve properties of the kind "whatever the check calls clean ...".
"""

import random
from collections.abc import Callable

import numpy as np

LANES = 64
PARTS = 4
"""Each argument has so many parts of 64 elements, and UB so many buffers of them."""

PARAMETERS = "%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %w: !pto.ptr<f32, gm>, %end: !pto.ptr<f32, gm>"
ARRAYS = ("%x", "%y", "%w")

HEAD = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @program({PARAMETERS}) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 256 : i64
    %half = arith.constant 128 : i64
    %f = arith.constant 1.5 : f32
"""
TAIL = "    pto.barrier #pto.pipe<PIPE_ALL>\n    return\n  }\n}\n"


def arguments(seed: int = 0) -> list[np.ndarray]:
    """Fresh arguments for any of these kernels."""
    generator = np.random.default_rng(seed)
    return [generator.normal(size=LANES * PARTS).astype(np.float32) for _ in (*ARRAYS, "%end")]


def program(seed: int, length: int = 8, care: float = 0.85) -> str:
    """A kernel of so many steps; `care` is how likely a step is ordered behind the one before."""
    return _Writer(random.Random(seed), care).kernel(length)


class _Writer:
    def __init__(self, source: random.Random, care: float) -> None:
        self.random = source
        self.care = care
        self.serial = 0
        self.before: str | None = None  # the pipe of the last step

    def kernel(self, length: int) -> str:
        buffers = "".join(self._buffer(number) for number in range(PARTS))
        parts = "".join(self._part(array, number) for array in (*ARRAYS, "%end") for number in range(PARTS))
        filled = "".join(self._load(f"%x{number}", f"%ub{number}", "%bytes", "    ") for number in range(PARTS))
        shown = "".join(self._store(f"%ub{number}", f"%end{number}", "%bytes", "    ") for number in range(PARTS))
        barrier = "    pto.barrier #pto.pipe<PIPE_{}>\n"
        prologue = filled.replace("i64\n", "i64\n" + barrier.format("MTE2")) + barrier.format("ALL")
        return HEAD + buffers + parts + prologue + self.steps(length, "    ") + barrier.format("ALL") + shown + TAIL

    def _buffer(self, number: int) -> str:
        """Buffers lie side by side; now and then one overlaps its neighbour."""
        address = 256 * number - (128 if number and self.random.random() < 0.1 else 0)
        return (
            f"    %a{number} = arith.constant {address} : i64\n"
            f"    %ub{number} = pto.castptr %a{number} : i64 -> !pto.ptr<f32, ub>\n"
        )

    def _part(self, array: str, number: int) -> str:
        return (
            f"    %o{array[1:]}{number} = arith.constant {LANES * number} : index\n"
            f"    %{array[1:]}{number} = pto.addptr {array}, %o{array[1:]}{number} "
            ": !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>\n"
        )

    # --- steps --------------------------------------------------------------------------------------------------------

    def steps(self, count: int, indent: str) -> str:
        text = ""
        while count > 0:
            if count > 3 and len(indent) == 4 and self.random.random() < 0.15:
                inner = self.random.randrange(2, 4)
                text += self.loop(inner, indent)
                count -= inner
            else:
                text += self.step(indent)
                count -= 1
        return text

    def loop(self, count: int, indent: str) -> str:
        first = self.before
        body = self.steps(count, indent + "  ")
        back = self.order(self.before, first, indent + "  ") if first and self.random.random() < self.care else ""
        bound = self.random.choice(["%c2", "%c3"])
        return f"{indent}scf.for %i{self.fresh()} = %c0 to {bound} step %c1 {{\n{body}{back}{indent}}}\n"

    def step(self, indent: str) -> str:
        makers: list[tuple[str, Callable[[str], str]]] = [
            ("MTE2", self.load),
            ("MTE2", self.load),
            ("V", self.scope),
            ("V", self.scope),
            ("V", self.copy_inside),
            ("MTE3", self.store),
            ("MTE3", self.store),
            ("S", self.scalar),
        ]
        pipe, make = self.random.choice(makers)
        edge = self.order(self.before, pipe, indent) if self.random.random() < self.care else ""
        self.before = pipe
        return edge + make(indent)

    def load(self, indent: str) -> str:
        return self._load(self.gm(ARRAYS), self.ub(), self.random.choice(["%bytes", "%bytes", "%half"]), indent)

    def _load(self, source: str, dest: str, length: str, indent: str) -> str:
        types = "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
        operands = f"{source}, {dest}, %zero, {length} nburst(%one, {length}, {length})"
        return f"{indent}pto.mte_gm_ub {operands} : {types}\n"

    def store(self, indent: str) -> str:
        return self._store(self.ub(), self.gm(ARRAYS[1:]), self.random.choice(["%bytes", "%bytes", "%half"]), indent)

    def _store(self, source: str, dest: str, length: str, indent: str) -> str:
        types = "!pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
        operands = f"{source}, {dest}, {length} nburst(%one, {length}, {length})"
        return f"{indent}pto.mte_ub_gm {operands} : {types}\n"

    def copy_inside(self, indent: str) -> str:
        types = "!pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64"
        return f"{indent}pto.mte_ub_ub {self.ub()}, {self.ub()}, %one nburst(%one, %zero, %zero) : {types}\n"

    def scope(self, indent: str) -> str:
        pattern = self.random.choice(["PAT_ALL", "PAT_ALL", "PAT_VL32", "PAT_M4"])
        operation = self.random.choice(["vadd", "vmax", "vsub"])
        binary = "!pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>"
        lines = [
            f'%mask = pto.pset_b32 "{pattern}" : !pto.mask<b32>',
            '%all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>',
            f"%a = pto.vlds {self.ub()}[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>",
            f"%b = pto.vlds {self.ub()}[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>",
            f"%r = pto.{operation} %a, %b, %all : {binary}",
            f"pto.vsts %r, {self.ub()}[%c0], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>",
        ]
        return f"{indent}pto.vecscope {{\n" + "".join(f"{indent}  {line}\n" for line in lines) + f"{indent}}}\n"

    def scalar(self, indent: str) -> str:
        name = f"%s{self.fresh()}"
        place, other = (
            self.random.choice([self.ub(), self.gm(ARRAYS)]),
            self.random.choice([self.ub(), self.gm(ARRAYS[1:])]),
        )
        spaces = ["ub" if pointer.startswith("%ub") else "gm" for pointer in (place, other)]
        load = f"{indent}{name} = pto.load_scalar {place}[%c1] : !pto.ptr<f32, {spaces[0]}> -> f32\n"
        value = self.random.choice([name, "%f"])
        store = f"{indent}pto.store_scalar {value}, {other}[%c2] : !pto.ptr<f32, {spaces[1]}>, f32\n"
        return self.random.choice([load, store.replace(name, "%f"), load + store])

    # --- order --------------------------------------------------------------------------------------------------------

    def order(self, before: str | None, after: str, indent: str) -> str:
        """Something that lets a pipe wait for another, or what a careless author takes for it."""
        barrier = f"{indent}pto.barrier #pto.pipe<PIPE_{{}}>\n"
        if before is None:
            return ""
        if self.random.random() < 0.15:
            return barrier.format("ALL")
        if before == after:
            return barrier.format(after) if after in ("MTE2", "MTE3") else ""
        event = self.random.randrange(3)
        flag = f'{indent}pto.{{}}["PIPE_{before}", "PIPE_{after}", "EVENT_ID{event}"]\n'
        return flag.format("set_flag") + flag.format("wait_flag")

    # --- names --------------------------------------------------------------------------------------------------------

    def fresh(self) -> int:
        self.serial += 1
        return self.serial

    def ub(self) -> str:
        return f"%ub{self.random.randrange(PARTS)}"

    def gm(self, arrays: tuple[str, ...]) -> str:
        return f"{self.random.choice(arrays)}{self.random.randrange(PARTS)}"
