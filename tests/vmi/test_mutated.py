"""Mutated texts of kernels on logical vectors: each loads and is lowered, or gives diagnostics with a place."""

import random
import re
from functools import cache
from pathlib import Path

import pytest

import ptosim
from language.test_vmi import WRITTEN, source
from logical_kernel import logical_text
from logical_programs import logical_program
from ptosim.diagnostics import Diagnostic

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "vmi").glob("*.pto"))
WORDS = """
vadd vcvt vcadd vbrc vload vstore group dist_mode pmode 8 0 -1 100 64 f32 i8 f16 bf16 si16 ui8 f8E4M3FN pred b16 b32
{ } < > %m %a -> : , true "brc" "merge" reassoc 1000000 tensor index i64 scf.yield return
!pto.vmi.vreg<1xf32> !pto.vmi.mask<1xpred> memref<4xf32>
""".split()
SIZES = (0, 1, 2, 3, 7, 8, 16, 31, 64, 100, 128, 255, 256, 300, 4096)
BATCH = 100


@cache
def texts() -> list[str]:
    programs = [logical_text(logical_program(seed, 6).body, ", %n: index") for seed in range(20)]
    return [*programs, *(path.read_text() for path in EXAMPLES), *(source(line).text for line in WRITTEN)]


def mutated(text: str, chance: random.Random) -> str:
    tokens = re.findall(r'\s+|[\w.]+|"[^"]*"|.', text)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(tokens))
        match chance.randrange(5):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, chance.choice(WORDS))
            case 2:
                tokens[at] = chance.choice(WORDS)
            case 3:
                other = chance.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case _:
                numbers = [index for index, token in enumerate(tokens) if token.isdigit()]
                if numbers:
                    tokens[chance.choice(numbers)] = str(chance.choice(SIZES))
    return "".join(tokens)


@pytest.mark.parametrize("batch", range(50))
def test_mutated_texts(batch: int) -> None:
    chance = random.Random(batch)
    found: list[Diagnostic] = []
    for _ in range(BATCH):
        try:
            module = ptosim.load(mutated(chance.choice(texts()), chance))
            if module.kernels:
                module.lowered()
        except ptosim.PTOError as error:
            found += error.diagnostics
    assert found
    assert [each for each in found if each.location is None] == []
