"""Random kernels for the three cores of an a5 cluster, which share GM, L1 and, from the cube core, UB.

The steps of a kernel have an order; each core runs those that are its own. Most steps are ordered behind the one
before, by flags inside a core and by semaphores between cores (through the cube core between two vector cores), so that
nothing can hang, many kernels are race-free, and some are not.
"""

import random

import numpy as np

LANES = 64
PARTS = 4
"""Each argument has so many parts of 64 elements; UB and L1 so many buffers of them."""
MEETINGS = 14, 15
"""Semaphores before the first and behind the last step; those below are for the steps."""

PARAMETERS = "%x: !pto.ptr<f32, gm>, %w: !pto.ptr<f32, gm>, %end: !pto.ptr<f32, gm>"
ALL = "pto.barrier #pto.pipe<PIPE_ALL>"


def arguments(seed: int = 0) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.normal(size=LANES * parts).astype(np.float32) for parts in (PARTS, PARTS, 2 * PARTS)]


def cluster(seed: int, length: int = 7, care: float = 0.9) -> str:
    """A kernel of so many steps; `care` is how likely a step is ordered behind the one before."""
    return _Writer(random.Random(seed), care).kernel(length)


class _Writer:
    def __init__(self, source: random.Random, care: float) -> None:
        self.random = source
        self.care = care
        self.lines: dict[str, list[str]] = {"aic": [], "aiv": []}
        self.free = list(range(MEETINGS[0]))
        self.before: tuple[str, str] | None = None  # core and pipe of the last step

    def kernel(self, length: int) -> str:
        for number in range(PARTS):
            self.on("aiv", self.load(f"%x{number}", f"%ub{number}"))
            self.on("aic", self.fetch(f"%x{number}", f"%l1{number}"))
        self.meet(MEETINGS[0])
        for _ in range(length):
            self.step()
        self.meet(MEETINGS[1])
        for number in range(PARTS):
            self.on("aiv", self.store(f"%ub{number}", f"%mine{number}"))
        self.on("aiv", ALL)
        self.on("aic", ALL)
        return self.text()

    # --- steps --------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        core = self.random.choice(["aic", "aiv0", "aiv1"])
        gm, ub, other, l1 = f"%w{self.pick()}", f"%ub{self.pick()}", f"%ub{self.pick()}", f"%l1{self.pick()}"
        if core == "aic":
            choices = [("MTE2", self.fetch(gm, l1)), ("MTE1", self.hand_over(l1, ub))]
        else:
            choices = [
                ("MTE2", self.load(gm, ub)),
                ("MTE3", self.store(ub, gm)),
                ("MTE3", self.keep(ub, l1)),
                ("V", self.scope(ub, other)),
            ]
        pipe, code = self.random.choice(choices)
        if self.before is not None and self.random.random() < self.care:
            self.order(*self.before, core, pipe)
        self.before = core, pipe
        self.on(core, code)

    def pick(self) -> int:
        return self.random.randrange(PARTS)

    def load(self, gm: str, ub: str) -> str:
        types = "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
        return f"pto.mte_gm_ub {gm}, {ub}, %zero, %bytes nburst(%one, %bytes, %bytes) : {types}"

    def store(self, ub: str, gm: str) -> str:
        types = "!pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
        return f"pto.mte_ub_gm {ub}, {gm}, %bytes nburst(%one, %bytes, %bytes) : {types}"

    def fetch(self, gm: str, l1: str) -> str:
        types = "!pto.ptr<f32, gm>, !pto.ptr<f32, l1>, i64, i64, i64, i64"
        return f"pto.mte_gm_l1 {gm}, {l1}, %bytes nburst(%one, %bytes, %bytes) : {types}"

    def keep(self, ub: str, l1: str) -> str:
        return f"pto.mte_ub_l1 {ub}, {l1}, %eight nburst(%one, %zero, %zero) : {_on_chip('ub', 'l1')}"

    def hand_over(self, l1: str, ub: str) -> str:
        return f"pto.mte_l1_ub {l1}, {ub}, %eight nburst(%one, %zero, %zero) : {_on_chip('l1', 'ub')}"

    def scope(self, one: str, other: str) -> str:
        register, mask = "!pto.vreg<64xf32>", "!pto.mask<b32>"
        return "\n".join(
            (
                "pto.vecscope {",
                f'%all = pto.pset_b32 "PAT_ALL" : {mask}',
                f"%a = pto.vlds {one}[%c0] : !pto.ptr<f32, ub> -> {register}",
                f"%r = pto.vadd %a, %a, %all : {register}, {register}, {mask} -> {register}",
                f"pto.vsts %r, {other}[%c0], %all : {register}, !pto.ptr<f32, ub>, {mask}",
                "}",
            )
        )

    # --- order --------------------------------------------------------------------------------------------------------

    def order(self, first: str, source: str, second: str, pipe: str) -> None:
        if first != second:
            self.signal(first, source, second, pipe)
        elif source == pipe:
            self.on(first, f"pto.barrier #pto.pipe<PIPE_{pipe}>" if pipe in ("MTE2", "MTE3") else "")
        else:
            flag = f'["PIPE_{source}", "PIPE_{pipe}", "EVENT_ID{self.random.randrange(8)}"]'
            self.on(first, f"pto.set_flag{flag}\npto.wait_flag{flag}")

    def signal(self, first: str, source: str, second: str, pipe: str) -> None:
        """From one core to another; between vector cores the cube core passes it on."""
        if "aic" not in (first, second):
            self.signal(first, source, "aic", "FIX")
            self.signal("aic", "FIX", second, pipe)
        elif self.free:
            number = self.free.pop()
            spelled = number + (16 if "aiv1" in (first, second) else 0)  # by the cube core
            self.on(first, f"pto.set_intra_block <PIPE_{source}>, {spelled if first == 'aic' else number}")
            self.on(second, f"pto.wait_intra_block <PIPE_{pipe}>, {spelled if second == 'aic' else number}")

    def meet(self, number: int) -> None:
        """All cores have done what comes before when any goes on."""
        self.on("aiv", f"{ALL}\npto.set_intra_block <PIPE_MTE3>, {number}")
        for spelled in (number, number + 16):
            self.on("aic", f"pto.wait_intra_block <PIPE_MTE2>, {spelled}")
        self.on("aic", ALL)
        for spelled in (number, number + 16):
            self.on("aic", f"pto.set_intra_block <PIPE_MTE2>, {spelled}")
        self.on("aiv", f"pto.wait_intra_block <PIPE_MTE2>, {number}\n{ALL}")

    # --- text ---------------------------------------------------------------------------------------------------------

    def on(self, core: str, code: str) -> None:
        """Code for one core; both vector cores run that of `aiv`."""
        if core in ("aic", "aiv"):
            self.lines[core].append(code)
        elif code:
            self.lines["aiv"].append(f"scf.if %is_{core} {{\n{code}\n}}")

    def text(self) -> str:
        shared = [f"%c{lane} = arith.constant {lane} : index" for lane in range(0, 2 * PARTS * LANES, LANES)]
        shared += [f"%a{number} = arith.constant {256 * number} : i64" for number in range(PARTS)]
        shared += [
            f"%{space}{number} = pto.castptr %a{number} : i64 -> !pto.ptr<f32, {space}>"
            for space in ("ub", "l1")
            for number in range(PARTS)
        ]
        shared += [_part(name, name, f"%c{LANES * number}", number) for name in "xw" for number in range(PARTS)]
        own = [
            "%me_i64 = pto.get_subblock_idx",
            "%me = arith.index_cast %me_i64 : i64 to index",
            "%is_aiv0 = arith.cmpi eq, %me_i64, %zero : i64",
            "%is_aiv1 = arith.cmpi eq, %me_i64, %one : i64",
            f"%from = arith.muli %me, %c{PARTS * LANES} : index",
        ]
        for number in range(PARTS):
            own += [f"%at{number} = arith.addi %from, %c{LANES * number} : index"]
            own += [_part("end", "mine", f"%at{number}", number)]
        return "\n".join(
            (
                'module attributes {pto.target_arch = "a5"} {',
                f"func.func @cluster({PARAMETERS}) attributes {{pto.kernel}} {{",
                "%zero = arith.constant 0 : i64",
                "%one = arith.constant 1 : i64",
                "%eight = arith.constant 8 : i64",
                "%bytes = arith.constant 256 : i64",
                *shared,
                "pto.section.cube {",
                *self.lines["aic"],
                "}",
                "pto.section.vector {",
                *own,
                *self.lines["aiv"],
                "}",
                "return",
                "}",
                "}",
                "",
            )
        )


def _on_chip(source: str, dest: str) -> str:
    return f"!pto.ptr<f32, {source}>, !pto.ptr<f32, {dest}>, i64, i64, i64, i64"


def _part(array: str, name: str, offset: str, number: int) -> str:
    return f"%{name}{number} = pto.addptr %{array}, {offset} : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>"
