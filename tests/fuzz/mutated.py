"""Examples with a few places changed, so that most still load and do something nobody meant.

Mutations know lines, numbers, values and words, no instruction: they serve any text of the dialect, and `CORPUS` says
which.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import ptosim
from example_scripts import script
from fuzz.case import Case, loaded

EXAMPLES = Path(__file__).parents[2] / "examples"
CORPUS = sorted(path.stem for path in EXAMPLES.glob("*.pto") if path.with_suffix(".py").exists())

SIZES = {"flash_attention": {"rows": 64}, "gather": {"tokens": 80}}
"""Of launches that are smaller than the example's own, which would take most of the time."""

Mutation = Callable[[Random, str], str]

NUMBERS = [
    *(0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 128, 255, 256, 1000, 4095, 4096, 8192, 65535, 65536),
    *(2**power + by for power in (18, 21, 31, 32, 40, 47, 48, 62) for by in (-1, 0, 1)),
    *(2**63 - 1, -1, -2, -32, -256, -(2**31), -(2**47), -(2**63)),
]
FLOATS = ["0.0", "-0.0", "1.0", "-1.0", "1.0e-30", "3.0e38", "0x7FC00000", "0x7F800000"]
WORDS = [
    ["PIPE_V", "PIPE_MTE2", "PIPE_MTE3", "PIPE_S", "PIPE_M", "PIPE_MTE1", "PIPE_FIX", "PIPE_ALL"],
    [f"EVENT_ID{number}" for number in range(8)],
    ["NORM", "BRC_B32", "BRC_B16", "US_B16", "DS_B16", "UNPK_B16", "BLK", "DINTLV_B32", "E2B_B16"],
    ["PK_B16", "PK_B32", "PK_B64", "PK4_B32", "1PT_B32", "1PT_B16", "MRG4CHN_B8", "NORM_B32", "NORM_B16"],
    ["EVEN", "ODD", "P0", "P1", "P2", "P3"],
    ["PAT_ALL", "PAT_VL1", "PAT_VL8", "PAT_H", "PAT_Q", "PAT_ALLF", "PAT_M3", "PAT_VL64"],
    ["VST_VLD", "VLD_VST", "VST_VST", "VV_ALL"],
    ["f32", "f16", "bf16", "i32", "i16", "i8", "ui8", "i64", "index", "i1"],
    ["b8", "b16", "b32"],
    ["gm", "ub", "l1", "l0a", "l0b", "l0c"],
    ["addi", "subi", "muli", "divsi", "remsi", "minsi", "maxsi", "andi", "shli", "shrsi"],
    ["vadd", "vsub", "vmul", "vmax", "vmin", "vdiv"],
    ["vcadd", "vcmax", "vcmin", "vcgadd", "vcgmax", "vexp", "vsqrt", "vabs", "vneg", "vln"],
    ["slt", "sle", "eq", "ne", "sgt", "ult"],
]
"""Words that may stand for each other, at least as far as the grammar goes."""


def number(chance: Random, text: str) -> str:
    """Another number in a constant."""
    places = list(re.finditer(r"(arith\.constant )(-?[\d.e+-]+)( : )(\w+)", text))
    if not places:
        return text
    place = chance.choice(places)
    if place[4].startswith(("f", "bf")):
        new = chance.choice(FLOATS)
    elif chance.random() < 0.5:
        new = str(chance.choice(NUMBERS))
    else:
        old = int(place[2])
        new = str(chance.choice((old + 1, old - 1, 2 * old, old // 2, -old, old + 32, old + 4, 16 * old)))
    return f"{text[: place.start()]}{place[1]}{new}{place[3]}{place[4]}{text[place.end() :]}"


def value(chance: Random, text: str) -> str:
    """Another value in the place of an operand, mostly one whose name says that it is of the same kind."""
    places = list(re.finditer(r"(?<=[ (\[])%[\w.$]+(?![\w.$]| =|,? *%[\w.$]+ =)", text))
    if not places:
        return text
    place = chance.choice(places)
    names = sorted({found[0] for found in places})
    alike = [name for name in names if name[1:3] == place[0][1:3] and name != place[0]]
    new = chance.choice(alike if alike and chance.random() < 0.8 else names)
    return text[: place.start()] + new + text[place.end() :]


def word(chance: Random, text: str) -> str:
    """Another word of the same kind."""
    kinds = [kind for kind in WORDS if re.search(rf"\b({'|'.join(kind)})\b", text)]
    if not kinds:
        return text
    kind = chance.choice(kinds)
    place = chance.choice(list(re.finditer(rf"\b({'|'.join(kind)})\b", text)))
    return text[: place.start()] + chance.choice(kind) + text[place.end() :]


def line(chance: Random, text: str) -> str:
    """A line deleted, doubled, or moved."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    moved = lines[at]
    match chance.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, moved)
        case 2 if at + 1 < len(lines):
            lines[at], lines[at + 1] = lines[at + 1], moved
        case _:
            del lines[at]
            lines.insert(max(0, at + chance.randint(-8, 8)), moved)
    return "\n".join(lines)


MUTATIONS: tuple[Mutation, ...] = (number, number, number, value, value, word, word, line)


def mutants(chance: Random) -> Iterator[Case]:
    """Each example in turn, changed in one to three places; most of those that do not load are tried again."""
    while True:
        for name in CORPUS:
            case = _mutant(chance, name)
            while chance.random() < 0.9 and not _loads(case.text):
                case = _mutant(chance, name)
            yield case


def _mutant(chance: Random, name: str) -> Case:
    text, arguments, grid = original(name)
    made = [chance.choice(MUTATIONS) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    for mutation in made:
        text = mutation(chance, text)
    return Case(f"{name}: {', '.join(mutation.__name__ for mutation in made)}", text, arguments, grid)


def _loads(text: str) -> bool:
    """Whether it is worth a run. What loads with a traceback is; the trial will see it again."""
    try:
        loaded(text)
    except ptosim.PTOError:
        return False
    except Exception:
        return True
    return True


@cache
def original(name: str) -> tuple[str, tuple[Any, ...], int]:
    """The text of an example and the launch that its script makes."""
    launch = script(name).launch(**SIZES.get(name, {}))
    return (EXAMPLES / f"{name}.pto").read_text(), launch.arguments, launch.grid
