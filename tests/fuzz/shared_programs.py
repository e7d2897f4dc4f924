"""Random kernels whose blocks, of one rank or of several, share global memory and tell each other by words in it.

A kernel is a list of steps that has an order: each is an access of one participant, and most steps are ordered behind
those before: inside of a participant by flags and barriers, between two by a word that one writes and the other waits
for. There are many ways to write a word and to wait for it, some of them too weak: many kernels are clean, some race,
and hardly one hangs.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import ptosim
from word_programs import ALL, COPIES, DSB, FENCE, GM, UB, VIEW, flag

LANES = 64
PARTS = 4
"""Stretches of shared data, and buffers of UB."""
WORDS = 40
"""Each has a cache line of its own."""
APART = 16
CLEAN = "pto.cmo.cacheinvalid all #pto.address_space<gm>\n"


@dataclass(frozen=True)
class SharedProgram:
    """The text of a kernel, and on how many ranks and blocks it runs."""

    text: str
    ranks: int
    blocks: int

    def arrays(self) -> list[np.ndarray]:
        """What all ranks share, words and data, and then what each keeps."""
        total = self.ranks * self.blocks
        shared = [np.zeros(WORDS * APART, "i4"), np.arange(LANES * PARTS, dtype="i4")]
        return shared + [np.zeros(LANES * total, "i4") for _ in range(self.ranks)]

    def run(self, schedule: str) -> list[bytes]:
        """The bytes that a run leaves."""
        kernel, arrays = ptosim.load(self.text).kernel(), self.arrays()
        if self.ranks == 1:
            kernel(*arrays, 0, grid=self.blocks, engine="reference", schedule=schedule)
            return [array.tobytes() for array in arrays]
        world, shared = self._world(kernel, arrays)
        world.run(engine="reference", schedule=schedule)
        return [each[0].tobytes() for each in shared] + [array.tobytes() for array in arrays[2:]]

    def check(self, engine: str) -> ptosim.CheckReport:
        kernel, arrays = ptosim.load(self.text).kernel(), self.arrays()
        if self.ranks == 1:
            return ptosim.check(kernel, *arrays, 0, grid=self.blocks, engine=engine)
        return self._world(kernel, arrays)[0].check()

    def _world(self, kernel: ptosim.Kernel, arrays: list[np.ndarray]) -> tuple[ptosim.World, list]:
        """All ranks use the windows of the first one."""
        world = ptosim.World(self.ranks)
        shared = [world.symmetric(len(array), "i4") for array in arrays[:2]]
        shared[1][0][:] = arrays[1]
        first = [window.at(0) for window in shared]
        world.launch(kernel, *first, ptosim.each(*arrays[2:]), ptosim.RANK, grid=self.blocks)
        return world, shared


def shared_program(seed: int) -> SharedProgram:
    source = random.Random(seed)
    ranks, blocks = source.choice([(1, 2), (1, 3), (1, 4), (2, 1), (3, 1), (2, 2)])
    writer = _Writer(source, ranks * blocks, care=source.choice([0.8, 0.95, 1.0]))
    return SharedProgram(writer.kernel(source.randrange(3, 9), blocks), ranks, blocks)


class _Writer:
    def __init__(self, source: random.Random, participants: int, care: float) -> None:
        self.random = source
        self.participants = participants
        self.care = care
        self.bodies: list[list[str]] = [[] for _ in range(participants)]
        self.closing: list[int] = [0] * participants
        """Branches that are open."""
        self.last: list[str | None] = [None] * participants
        """The pipe of the last step."""
        self.words = 0
        self.count = 0

    def kernel(self, length: int, blocks: int) -> str:
        for number in range(self.participants):
            for part in range(PARTS):
                self.put(number, _copy_in(f"%data{part}", f"%ub{part}"))
            self.put(number, _ones() + flag("MTE2", "MTE3") + flag("MTE2", "V", 1))
        before: list[int] = []
        for _ in range(length):
            number = self.random.randrange(self.participants)
            others = sorted({each for each in before if each != number})
            if others and self.random.random() < self.care:
                self.ordered(self.random.sample(others, self.random.randint(1, min(2, len(others)))), number)
            if self.random.random() < 0.1:
                self.noise(number)
            self.step(number)
            before.append(number)
        return self.text(blocks)

    def put(self, number: int, code: str) -> None:
        self.bodies[number].append(code)

    def new(self, prefix: str) -> str:
        self.count += 1
        return f"%{prefix}_{self.count}"

    # --- steps --------------------------------------------------------------------------------------------------------

    def step(self, number: int) -> None:
        part, ub, other = (self.random.randrange(PARTS) for _ in range(3))
        data, buffer = f"%data{part}", f"%ub{ub}"
        ways: list[tuple[str, Callable[[], str]]] = [
            ("MTE2", lambda: _copy_in(data, buffer)),
            ("MTE3", lambda: _copy_out(buffer, data)),
            ("MTE3", lambda: _copy_out(buffer, "%mine")),
            ("MTE3", lambda: _adding(_copy_out(buffer, data))),
            ("V", lambda: _doubled(buffer, f"%ub{other}")),
            ("S", lambda: f"pto.st_dev %n7, {data}[%c{self.random.randrange(3)}] : {GM}, i32\n"),
            ("S", lambda: self.kept(data)),
            ("S", lambda: f"pto.store_scalar %n5, {buffer}[%c1] : {UB}, i32\n"),
        ]
        pipe, code = self.random.choice(ways)
        if self.random.random() < self.care:
            self.put(number, self.behind(number, pipe))
        self.put(number, code())
        self.last[number] = pipe

    def behind(self, number: int, pipe: str) -> str:
        """What orders the next step of a participant behind its last one, or behind all."""
        last = self.last[number]
        if last is None or self.random.random() < 0.6:
            return ALL
        if last == pipe:
            return f"pto.barrier #pto.pipe<PIPE_{pipe}>\n" if pipe in ("MTE2", "MTE3") else ""
        return flag(last, pipe, self.random.randrange(8))

    def kept(self, data: str) -> str:
        """A scalar is read and kept."""
        seen = self.new("seen")
        return f"{seen} = pto.ld_dev {data}[%c0] : {GM} -> i32\npto.st_dev {seen}, %mine[%c2] : {GM}, i32\n"

    # --- order between participants -----------------------------------------------------------------------------------

    def ordered(self, tellers: list[int], waiter: int) -> None:
        """One participant goes on when others have told it; now and then it does not wait for all."""
        if self.words == WORDS:
            return
        word, self.words = self.words, self.words + 1
        several = len(tellers) > 1
        for teller in tellers:
            self.put(teller, self.tell(word, several))
        wanted = len(tellers) if self.random.random() < 0.8 else 1
        self.put(waiter, self.hear(waiter, word, wanted))
        if self.random.random() < 0.15:
            self.put(waiter, ALL + DSB + _notify(self.view(waiter, word), 0, "set"))

    def view(self, number: int, word: int) -> str:
        """A word as a signal."""
        whole, part = self.new("whole"), self.new("part")
        self.put(
            number,
            f"{whole} = pto.make_tensor_view %word{word}, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>\n"
            f"{part} = pto.partition_view {whole}, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32>\n",
        )
        return part

    def tell(self, word: int, adds: bool) -> str:
        place = f"%word{word}"
        copied = _copy_out("%ones", place, "%l4")
        whole, part = self.new("whole"), self.new("part")
        view = (
            f"{whole} = pto.make_tensor_view {place}, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>\n"
            f"{part} = pto.partition_view {whole}, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32>\n"
        )
        drains = [FENCE, ALL + DSB, FENCE]
        if self.random.random() > self.care:
            drains += ["", COPIES, flag("MTE3", "S", 6)]
        drain = self.random.choice(drains)
        ways = [drain + view + _notify(part, 1, "atomic_add"), drain + _adding(copied)]
        if not adds:
            ways += [
                drain + view + _notify(part, 1, "set"),
                drain + f"pto.st_dev %n1, {place}[%c0] : {GM}, i32\n",
                drain + f"pto.store_scalar %n1, {place}[%c0] : {GM}, i32\n" + CLEAN + FENCE,
                drain + copied,
            ]
        return self.random.choice(ways)

    def hear(self, number: int, word: int, value: int) -> str:
        """Wait for a word. A loop that gives up, or a test, may open a branch for all that follows."""
        ways = ["wait", "wait", "poll", "poll", "tests", "late"]
        if self.random.random() > self.care:
            ways += ["few", "few in a branch", "test in a branch", "eq"]
        way = self.random.choice(ways)
        if way in ("wait", "eq"):
            view = self.view(number, word)
            cmp = "ge" if way == "wait" else "eq"
            return f"pto.comm.twait({view}, %n{value} : {VIEW}, i32) {{cmp = #pto<wait_cmp {cmp}>}}\n"
        if way in ("tests", "test in a branch"):
            return self.tests(number, word, value, loops=way == "tests")
        looks = {"poll": None, "late": 100_000}.get(way, self.random.choice([1, 3, 50]))
        code, last = self.poll(word, value, looks)
        if way == "few in a branch":
            found = self.new("found")
            code += f"{found} = arith.cmpi sge, {last}, %n{value} : i32\nscf.if {found} {{\n"
            self.closing[number] += 1
        return code

    def poll(self, word: int, value: int, looks: int | None) -> tuple[str, str]:
        names = {
            name: self.new(name) for name in ("rounds", "last", "n", "seen", "open", "few", "go", "m", "old", "next")
        }
        few = (
            ""
            if looks is None
            else (
                f"{names['few']} = arith.cmpi slt, {names['n']}, %looks{looks} : i32\n"
                f"{names['go']} = arith.andi {names['few']}, {names['open']} : i1\n"
            )
        )
        goes_on = names["open"] if looks is None else names["go"]
        code = (
            f"{names['rounds']}, {names['last']} = scf.while ({names['n']} = %n0) : (i32) -> (i32, i32) {{\n"
            f"{names['seen']} = pto.ld_dev %word{word}[%c0] : {GM} -> i32\n"
            f"{names['open']} = arith.cmpi slt, {names['seen']}, %n{value} : i32\n{few}"
            f"scf.condition({goes_on}) {names['n']}, {names['seen']} : i32, i32\n}} do {{\n"
            f"^bb0({names['m']}: i32, {names['old']}: i32):\n"
            f"{names['next']} = arith.addi {names['m']}, %n1 : i32\nscf.yield {names['next']} : i32\n}}\n"
        )
        return code, names["last"]

    def tests(self, number: int, word: int, value: int, loops: bool) -> str:
        view, answer, other = self.view(number, word), self.new("answer"), self.new("other")
        asked = f"{answer} = pto.comm.ttest({view}, %n{value} : {VIEW}, i32) {{cmp = #pto<wait_cmp ge>}} -> i1\n"
        if not loops:
            self.closing[number] += 1
            return f"{asked}scf.if {answer} {{\n"
        turned = f"{other} = arith.xori {answer}, %true : i1\n"
        return f"scf.while : () -> () {{\n{asked}{turned}scf.condition({other})\n}} do {{\nscf.yield\n}}\n"

    def noise(self, number: int) -> None:
        """A value of a word is kept, a number of looks, or a wait is for what holds at first."""
        if not self.words:
            return
        word = self.random.randrange(self.words)
        way = self.random.choice(["value", "count", "test", "before"])
        if way == "value":
            seen = self.new("seen")
            self.put(number, f"{seen} = pto.ld_dev %word{word}[%c0] : {GM} -> i32\n")
            self.put(number, f"pto.st_dev {seen}, %mine[%c0] : {GM}, i32\n")
        elif way == "count":
            code, last = self.poll(word, 1, 3)
            self.put(number, code + f"pto.st_dev {last}, %mine[%c1] : {GM}, i32\n")
        elif way == "test":
            self.put(number, self.tests(number, word, 1, loops=False))
        else:
            view = self.view(number, word)
            self.put(number, f"pto.comm.twait({view}, %n1 : {VIEW}, i32) {{cmp = #pto<wait_cmp lt>}}\n")

    # --- text ---------------------------------------------------------------------------------------------------------

    def text(self, blocks: int) -> str:
        parts: list[str] = []
        for number, body in enumerate(self.bodies):
            parts += [f"%is{number} = arith.cmpi eq, %me, %l{number} : i64", f"scf.if %is{number} {{", *body]
            parts += [*["}"] * self.closing[number], "}"]
        places = [(f"%data{part}", "%data", LANES * part) for part in range(PARTS)]
        places += [(f"%word{word}", "%words", APART * word) for word in range(WORDS)]
        offsets = sorted({offset for _, _, offset in places} | set(range(3)))
        return "\n".join(
            (
                'module attributes {pto.target_arch = "a5"} {',
                f"func.func @shared(%words: {GM}, %data: {GM}, %kept: {GM}, %rank: i32)",
                "attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {",
                *(f"%c{value} = arith.constant {value} : index" for value in offsets),
                *(f"%n{value} = arith.constant {value} : i32" for value in range(8)),
                *(f"%l{value} = arith.constant {value} : i64" for value in (*range(9), 32, 256, 4096)),
                *(f"%looks{value} = arith.constant {value} : i32" for value in (1, 3, 50, 100_000)),
                "%true = arith.constant true",
                *(f"%at{ub} = arith.constant {256 * ub} : i64" for ub in range(PARTS)),
                *(f"%ub{ub} = pto.castptr %at{ub} : i64 -> {UB}" for ub in range(PARTS)),
                f"%ones = pto.castptr %l4096 : i64 -> {UB}",
                *(f"{name} = pto.addptr {base}, %c{offset} : {GM} -> {GM}" for name, base, offset in places),
                "%block = pto.get_block_idx",
                "%rank64 = arith.extsi %rank : i32 to i64",
                f"%first = arith.muli %rank64, %l{blocks} : i64",
                "%me = arith.addi %first, %block : i64",
                "%me_index = arith.index_cast %me : i64 to index",
                f"%lanes = arith.constant {LANES} : index",
                "%from = arith.muli %me_index, %lanes : index",
                f"%mine = pto.addptr %kept, %from : {GM} -> {GM}",
                *parts,
                ALL,
                "return",
                "}",
                "}",
                "",
            )
        )


def _copy_in(gm: str, ub: str) -> str:
    types = f"{GM}, {UB}, i64, i64, i64, i64, i64"
    return f"pto.mte_gm_ub {gm}, {ub}, %l0, %l256 nburst(%l1, %l256, %l256) : {types}\n"


def _copy_out(ub: str, gm: str, size: str = "%l256") -> str:
    return f"pto.mte_ub_gm {ub}, {gm}, {size} nburst(%l1, {size}, {size}) : {UB}, {GM}, i64, i64, i64, i64\n"


def _adding(code: str) -> str:
    return f"pto.set_atomic_add\npto.set_atomic_s32\n{code}pto.set_atomic_none\n"


def _notify(view: str, value: int, op: str) -> str:
    return f"pto.comm.tnotify({view}, %n{value} : {VIEW}, i32) {{notifyOp = #pto<notify_op {op}>}}\n"


def _ones() -> str:
    """A one in UB, to be copied to words; it is a scalar store, and what follows is behind it."""
    return f"pto.store_scalar %n1, %ones[%c0] : {UB}, i32\n" + flag("S", "MTE3", 7)


def _doubled(ub: str, to: str) -> str:
    register, mask = "!pto.vreg<64xi32>", "!pto.mask<b32>"
    return "\n".join(
        (
            "pto.vecscope {",
            f'%all = pto.pset_b32 "PAT_ALL" : {mask}',
            f"%a = pto.vlds {ub}[%c0] : {UB} -> {register}",
            f"%r = pto.vadd %a, %a, %all : {register}, {register}, {mask} -> {register}",
            f"pto.vsts %r, {to}[%c0], %all : {register}, {UB}, {mask}",
            "}",
            "",
        )
    )
