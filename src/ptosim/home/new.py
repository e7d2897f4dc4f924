"""Folders for new kernels: a kernel that runs, the test that keeps it right, and the commands to begin with.

All kinds compute the same, twice their input, so that two of them can be laid beside each other.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ptosim.diagnostics import error, writing

WORDS = "rand:70x64 zeros:70x64 70"
GRID = 2


@dataclass(frozen=True)
class KernelTemplate:
    """A way to write kernels, and the template of one."""

    name: str
    suffix: str
    about: str

    @property
    def template(self) -> str:
        return (files("ptosim.home") / "templates" / f"{self.name}{self.suffix}").read_text("utf-8")


KINDS = (
    KernelTemplate("tile", ".pto", "tiles: memory is planned and order inserted when the kernel is loaded"),
    KernelTemplate("micro", ".pto", "micro-instructions with their flags, double-buffered"),
)


def files_of(name: str, kind: KernelTemplate) -> dict[str, str]:
    """The text of each file of a new kernel."""
    kernel = f"{name}{kind.suffix}"
    return {
        kernel: kind.template.replace("NAME", name),
        f"test_{name}.py": _TEST.format(name=name, kernel=kernel, grid=GRID),
        "README.md": _README.format(name=name, kernel=kernel, about=kind.about, words=WORDS, grid=GRID),
    }


def make(name: str, kind: KernelTemplate) -> list[Path]:
    """Write the files into a folder of that name; nothing that is there already is touched."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or keyword.iskeyword(name):
        raise error("argument", f"'{name}' is no name of a kernel: letters, digits and _, a letter first")
    folder = Path(name)
    if folder.exists():
        raise error("argument", f"{folder} is there already")
    with writing(folder):
        folder.mkdir()
        for file, text in files_of(name, kind).items():
            (folder / file).write_text(text, "utf-8")
    return [folder / file for file in files_of(name, kind)]


_TEST = '''"""{name} doubles its input, on both engines, and checks clean; it is in order for every number of rows."""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from ptosim import testing

KERNEL = ptosim.load(Path(__file__).with_name("{kernel}")).kernel()


@pytest.mark.parametrize("rows", [1, 32, 33, 70])
def test_{name}(rows):
    x = np.random.default_rng(rows).normal(size=(rows, 64)).astype(np.float32)
    testing.check(KERNEL, x, np.zeros_like(x), rows, expect=2 * x, grid={grid})


def test_{name}_is_in_order():
    proof = ptosim.prove(KERNEL)
    assert not proof.findings, proof
'''

_README = """# {name}

`y = 2 * x` for rows of 64 columns; {about}.

```
ptosim check   {kernel}                                  # the arguments are made up
ptosim run     {kernel} {words} --grid {grid} --save 1=y.npy
ptosim profile {kernel} {words} --grid {grid} --html report.html
ptosim prove   {kernel}
ptosim watch   {kernel}                                  # all of it again on each save
pytest
```
"""
