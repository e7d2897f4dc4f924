"""Folders for new kernels: a kernel that runs, the test that keeps it right, and the commands to begin with.

All kinds compute the same, twice their input, so that two of them can be laid beside each other.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from pathlib import Path

from ptosim.diagnostics import error, writing

WORDS = "rand:70x64 zeros:70x64 70"
GRID = 2


@dataclass(frozen=True)
class KernelTemplate:
    """A way to write kernels, and the file that one is made from."""

    name: str
    suffix: str
    about: str
    load: str = 'KERNEL = ptosim.load(Path(__file__).with_name("{name}.pto")).kernel()'
    """The line of a test that loads the kernel of a file beside it."""
    arguments: str = ""
    """The arguments of a proof, where a kernel is recorded for arguments."""

    @property
    def text(self) -> str:
        inert = ".txt" if self.suffix == ".py" else ""  # a template is no module
        return (Path(__file__).parent / "templates" / f"{self.name}{self.suffix}{inert}").read_text("utf-8")

    def test(self, name: str) -> str:
        """The test of a kernel of that name."""
        load = self.load.format(name=name)
        imported = load.startswith("from ")
        head = ("" if imported else "from pathlib import Path\n\n") + "import numpy as np\nimport pytest\n"
        head += f"{load}\n\nimport ptosim\n" if imported else "\nimport ptosim\n"
        first = "" if imported else f"\n{load}\n"
        return _TEST.format(name=name, head=head, load=first, grid=GRID, arguments=self.arguments)


KINDS = (
    KernelTemplate("tile", ".pto", "tiles: memory is planned and order inserted when the kernel is loaded"),
    KernelTemplate("micro", ".pto", "micro-instructions with their flags, double-buffered"),
    KernelTemplate("python", ".py", "Python, in tiles", "from {name} import {name} as KERNEL"),
    KernelTemplate(
        "cpp",
        ".cpp",
        "C++, in tiles",
        'KERNEL = ptosim.load_cpp(Path(__file__).with_name("{name}.cpp")).kernel("{name}")',
        ", np.zeros((70, 64), np.float32), np.zeros((70, 64), np.float32), 70",
    ),
    KernelTemplate("simt", ".pto", "workitems"),
    KernelTemplate("vmi", ".pto", "logical vectors, double-buffered"),
)


def files_of(name: str, kind: KernelTemplate) -> dict[str, str]:
    """The text of each file of a new kernel."""
    kernel = f"{name}{kind.suffix}"
    return {
        kernel: kind.text.replace("NAME", name),
        f"test_{name}.py": kind.test(name),
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


_TEST = '''"""{name} doubles its input, on both engines, and checks clean; it is in order."""

{head}from ptosim import testing
{load}

@pytest.mark.parametrize("rows", [1, 32, 33, 70])
def test_{name}(rows):
    x = np.random.default_rng(rows).normal(size=(rows, 64)).astype(np.float32)
    testing.check(KERNEL, x, np.zeros_like(x), rows, expect=2 * x, grid={grid})


def test_{name}_is_in_order():
    proof = ptosim.prove(KERNEL{arguments})
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
