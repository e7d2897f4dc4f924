"""The text of what runs: it names the lines it serves, loads again and gives the same bytes."""

import re

import numpy as np
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main
from tile_programs import Given, text

TILE = "16x64xf32, valid=15x60"
KERNEL = text("pto.tadd ins(%a, %b : A, B) outs(%d : D)", {name: Given(TILE) for name in "abd"})


def test_each_piece_is_headed_by_its_line():
    lines = [line.strip() for line in ptosim.load(KERNEL, sync="written").lowered().source.splitlines()]
    number = next(number for number, line in enumerate(lines) if line.startswith("// ") and "pto.tadd" in line)
    assert lines[number + 1] == "pto.vecscope {"
    source = KERNEL.splitlines()
    assert "pto.tadd" in source[int(lines[number].split()[1].rstrip(":")) - 1]


def test_the_text_gives_the_same_bytes():
    module = ptosim.load(KERNEL)
    again = module.lowered()
    images = [[Given(TILE).image() for _ in "abd"] for _ in range(2)]
    for kernel, arrays in zip((module.kernel(), again.kernel()), images, strict=True):
        kernel(*arrays)
    assert all(np.array_equal(one, other) for one, other in zip(*images, strict=True))
    assert ptosim.check(again.kernel(), *(Given(TILE).image() for _ in "abd")).ok


def test_tiles_may_have_numbers_for_names():
    numbers = iter(range(1000))
    names = dict.fromkeys(re.findall(r"%[\w.$-]+", KERNEL))
    given = {name: f"%{next(numbers)}" for name in names}
    module = ptosim.load(re.sub(r"%[\w.$-]+", lambda found: given[found[0]], KERNEL))
    images = [[Given(TILE).image() for _ in "abd"] for _ in range(3)]
    kernels = (ptosim.load(KERNEL).kernel(), module.kernel(), module.lowered().kernel())
    for kernel, arrays in zip(kernels, images, strict=True):
        kernel(*arrays)
    assert all(np.array_equal(*both) for others in images[1:] for both in zip(images[0], others, strict=True))


def test_the_command_prints_it(tmp_path):
    path = tmp_path / "k.pto"
    path.write_text(KERNEL)
    result = CliRunner().invoke(main, ["lower", str(path), "--sync", "written"])
    assert result.exit_code == 0
    assert result.stdout == ptosim.load(path, sync="written").lowered().source
