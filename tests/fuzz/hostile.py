"""More kinds of cases: mutated texts, mutants under every tool, mutated kernels of several ranks, hostile launches."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

import ptosim
from example_scripts import script
from fuzz.case import Case, loaded
from fuzz.mutated import CORPUS, EXAMPLES, MUTATIONS, mutants, original

TESTS = Path(__file__).parents[1]
RANKS = sorted(path.stem for path in (EXAMPLES / "ranks").glob("*.pto") if path.with_suffix(".py").exists())
TEXTS = sorted({*EXAMPLES.rglob("*.pto"), *TESTS.rglob("*.pto")})
GUARD = 4096
"""Bytes around an argument that must stay as they are."""
MAX_STEPS = 20_000
_PIECES = [
    '"',
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ":",
    "=",
    "%",
    "@",
    "#",
    "!",
    "->",
    "//",
    "loc(",
    "\n",
    "x",
]


# --- texts: load, print, load again -----------------------------------------------------------------------------------


def texts(chance: Random) -> Iterator[Case]:
    """Any kernel of the repository, changed in words and in characters."""
    while True:
        path = chance.choice(TEXTS)
        text = path.read_text()
        for _ in range(chance.choice((1, 1, 2, 3))):
            text = chance.choice((*MUTATIONS, _characters))(chance, text)
        yield Case(path.name, text, ())


def _characters(chance: Random, text: str) -> str:
    """A stretch is left out, doubled, or something put in its place."""
    at = chance.randrange(len(text) + 1)
    end = min(len(text), at + chance.choice((0, 1, 1, 2, 5, 20, 200)))
    new = chance.choice((chance.choice(_PIECES), "", text[at:end] * 2, chr(chance.choice((0, 9, 65279, 8238, 955)))))
    return text[:at] + new + text[end:]


def of_texts(case: Case) -> Iterator[str]:
    try:
        printed = ptosim.load(case.text).text()
    except ptosim.PTOError as error:
        str(error)
        return
    try:
        again = ptosim.load(printed).text()
    except ptosim.PTOError as error:
        yield f"what was printed does not load: {error}\n{printed}"
        return
    if again != printed:
        yield f"what was printed prints otherwise:\n{printed}"


# --- deep: every tool -------------------------------------------------------------------------------------------------


def of_deep(case: Case) -> Iterator[str]:
    """Proofs, plans, lowered texts and inserted order; profiles of both engines."""
    try:
        module = loaded(case.text)
        kernel = module.kernel()
        str(module.plan()), module.lowered().text()
    except ptosim.PTOError as error:
        str(error)
        return
    str(ptosim.prove(kernel))
    profiles = [_profile(kernel, case, engine) for engine in ("native", "reference")]
    if profiles[0] != profiles[1]:
        yield "the profiles of the engines differ"
    try:
        ptosim.synchronise(kernel, *_copied(case), grid=case.grid)
    except ptosim.PTOError as error:
        str(error)


def _copied(case: Case) -> list[object]:
    return [item.copy() if isinstance(item, np.ndarray) else item for item in case.arguments]


def _profile(kernel: ptosim.Kernel, case: Case, engine: str) -> object:
    try:
        found = ptosim.profile(kernel, *_copied(case), grid=case.grid, max_steps=MAX_STEPS, engine=engine)
    except ptosim.PTOError as error:
        return [(each.kind, each.message, each.line) for each in error.diagnostics]
    return found.to_json()


# --- ranks ------------------------------------------------------------------------------------------------------------


def ranks(chance: Random) -> Iterator[Case]:
    """Examples of several ranks, changed in one or two places."""
    while True:
        for name in RANKS:
            text = (EXAMPLES / "ranks" / f"{name}.pto").read_text()
            for _ in range(chance.choice((1, 1, 2))):
                text = chance.choice(MUTATIONS)(chance, text)
            yield Case(name, text, ())


def of_ranks(case: Case) -> Iterator[str]:
    """Both engines leave the same, and a check and a profile give an answer."""
    example = script(f"ranks/{case.name}")
    try:
        kernel = loaded(case.text).kernel()
    except ptosim.PTOError as error:
        str(error)
        return
    outcomes: list[object] = []
    for engine in ("native", "reference"):
        try:
            made = example.launched(kernel, ranks=2)
            made.world.run(engine=engine, max_steps=MAX_STEPS)
            outcomes.append([array.tobytes() for array in made.found])
        except ptosim.PTOError as error:
            outcomes.append([(each.kind, each.message, each.line) for each in error.diagnostics])
    if outcomes and outcomes[0] != outcomes[-1]:
        yield f"the engines differ: {outcomes!r:.500}"
    for use in ("check", "profile"):
        try:
            str(getattr(example.launched(kernel, ranks=2).world, use)(max_steps=MAX_STEPS))
        except ptosim.PTOError as error:
            str(error)


# --- launches ---------------------------------------------------------------------------------------------------------


_EDGES = (0, 1, 2, 3, 7, 31, 32, 33, 255, 4095, 2**15, 2**16, 2**24, 2**31 - 1, -1, -2, -32, -(2**31))


def launches(chance: Random) -> Iterator[Case]:
    """Examples as they are, with numbers and sizes that do not fit them."""
    while True:
        for name in CORPUS:
            text, arguments, grid = original(name)
            given = tuple(_hostile(chance, item) for item in arguments)
            yield Case(name, text, given, chance.choice((1, grid, 3)))


def _hostile(chance: Random, item: object) -> object:
    if isinstance(item, np.ndarray):
        flat = item.reshape(-1)
        return flat[: chance.choice((len(flat), len(flat), len(flat) - 1, len(flat) // 2, 1))].copy()
    return chance.choice((item, item, chance.choice(_EDGES))) if isinstance(item, int) else item


def of_launches(case: Case) -> Iterator[str]:
    """Bytes around the arguments stay, in both engines and however GM outside is treated; the engines agree."""
    kernel = loaded(case.text).kernel()
    for oob in ("error", "drop"):
        outcomes = [_guarded(kernel, case, engine, oob) for engine in ("native", "reference")]
        if outcomes[0] != outcomes[1]:
            yield f"the engines differ with oob={oob}: {str(outcomes)[:500]}"
        yield from (str(outcome) for outcome in outcomes if outcome == OUTSIDE)


OUTSIDE = "a byte outside of the arguments was written"


def _guarded(kernel: ptosim.Kernel, case: Case, engine: str, oob: str) -> object:
    wide = [
        np.full(item.nbytes + 2 * GUARD, 0xA5, np.uint8) if isinstance(item, np.ndarray) else item
        for item in case.arguments
    ]
    given: list[object] = []
    for item, room in zip(case.arguments, wide, strict=True):
        if isinstance(item, np.ndarray) and isinstance(room, np.ndarray):
            inner = room[GUARD:-GUARD].view(item.dtype)
            inner[:] = item.reshape(-1)
            given.append(inner)
        else:
            given.append(item)
    said: object = None
    try:
        kernel(*given, grid=case.grid, engine=engine, oob=oob, threads=1, max_steps=MAX_STEPS)
    except ptosim.PTOError as error:
        said = [(each.kind, each.message, each.line, each.loops) for each in error.diagnostics]
    rooms = [room for room in wide if isinstance(room, np.ndarray)]
    if any((room[:GUARD] != 0xA5).any() or (room[-GUARD:] != 0xA5).any() for room in rooms):
        return OUTSIDE
    return said if said is not None else [room.tobytes() for room in rooms]


def deep(chance: Random) -> Iterator[Case]:
    return (replace(case, name=f"deep {case.name}") for case in mutants(chance))
