"""Wheel and source archive are built, and tried as a user has them: `make dist`.

The wheel alone, in a fresh environment without a compiler, runs what the README shows in its first ten minutes and
every example; then the same once more where llvmlite is missing, on the reference engine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
NO_COMPILER = {"CC": "false", "CXX": "false"}
COMPILER = shutil.which("g++") or shutil.which("clang++")
HELPERS = {"showing", "worlds"}
"""Scripts of examples/ that only serve the others."""


class Failed(Exception):
    """A command ended with another code than 0."""


def build(into: Path) -> tuple[Path, Path]:
    """The wheel and the source archive, alone in that folder."""
    shutil.rmtree(into, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(into), str(ROOT)], check=True, capture_output=True)
    (wheel,), (archive,) = into.glob("*.whl"), into.glob("*.tar.gz")
    return wheel, archive


def look_into(wheel: Path, archive: Path) -> None:
    """What has to be inside, and what has not."""
    packed = set(zipfile.ZipFile(wheel).namelist())
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "ptosim").rglob("*") if is_source(path)}
    assert sources <= packed, f"missing in {wheel.name}: {', '.join(sorted(sources - packed))}"
    strays = {name for name in packed - sources if ".dist-info/" not in name}
    assert not strays, f"not of the project in {wheel.name}: {', '.join(sorted(strays))}"
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    for wanted in (
        "README.md",
        "LICENSE",
        "Makefile",
        "examples/softmax.pto",
        "tests/test_readme.py",
        "docs/explanation/order.md",
    ):
        assert wanted in names, f"missing in {archive.name}: {wanted}"


def is_source(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


@dataclass(frozen=True)
class Trial:
    """A fresh environment, and a folder that holds the examples and nothing else of the project."""

    folder: Path

    @property
    def programs(self) -> Path:
        return self.folder / "venv" / ("Scripts" if os.name == "nt" else "bin")

    def prepare(self, wheel: Path, archive: Path) -> None:
        venv.create(self.folder / "venv", with_pip=True)
        self.pip("install", str(wheel))
        with tarfile.open(archive) as files:
            files.extractall(self.folder, filter="data")
        (unpacked,) = self.folder.glob("ptosim-*")
        shutil.move(unpacked / "examples", self.folder / "examples")
        shutil.rmtree(unpacked)

    def pip(self, *words: str) -> None:
        command = [str(self.programs / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", *words]
        self.run(command, **NO_COMPILER)

    def run(self, command: list[str], text: str | None = None, **variables: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        kept |= {**variables, "PTOSIM_CACHE": str(self.folder / "cache")}
        done = subprocess.run(
            command, input=text, cwd=self.folder, env=kept, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Failed(
                f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
            )

    def everything(self) -> int:
        """Run the README's blocks and every example; how many commands that were."""
        commands = [*self.readme(), *self.examples()]
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            list(workers.map(lambda each: self.run(*each), commands))
        return len(commands)

    def readme(self) -> Iterator[tuple[list[str], str | None]]:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            for line in block.splitlines():
                if line.startswith("$ ptosim "):
                    words = line.partition("#")[0].split()[2:]
                    yield [str(self.programs / "ptosim"), *words], None
            if language == "python":
                yield [str(self.programs / "python"), "-"], block

    def examples(self) -> Iterator[tuple[list[str], str | None]]:
        for script in sorted((self.folder / "examples").rglob("*.py")):
            if script.stem not in HELPERS and (script.parent.name != "cpp" or COMPILER):
                yield [str(self.programs / "python"), str(script)], None


def main() -> None:
    began = time.monotonic()
    wheel, archive = build(ROOT / "dist")
    look_into(wheel, archive)
    print(f"built {wheel.name} and {archive.name}")
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder))
        trial.prepare(wheel, archive)
        print(f"{trial.everything()} commands run with the wheel alone")
        trial.pip("uninstall", "--yes", "llvmlite")
        print(f"{trial.everything()} commands run without llvmlite")
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    try:
        main()
    except (Failed, AssertionError) as reason:
        sys.exit(str(reason))
