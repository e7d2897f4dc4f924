"""`python -m benchmarks.against REV`: what this tree takes, in relation to another revision, on the same rows.

Both take turns, each in a process of its own, for seven rounds. A row is the median of the ratios with its spread, the
distance between the quartiles. It is worse where it is more than 5 % above and outside of its spread.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROUNDS = 7
WORSE, UNSTEADY = 0.05, 0.10


def rows() -> Iterator[tuple[str, Callable[[], object]]]:
    """What is timed: each door on a small, a long and a tile kernel."""
    import ptosim
    from benchmarks.examples import EXAMPLES, launch
    from benchmarks.kernels import chain

    long = chain(1000)
    yield "load 1,000 operations", lambda: ptosim.load(long)
    for name in ("softmax", "tiles.softmax"):
        path, launched = EXAMPLES / f"{name.replace('.', '/')}.pto", launch(name)
        kernel = ptosim.load(path).kernel()
        given, grid = launched.arguments, launched.grid
        yield f"load {name}", lambda path=path: ptosim.load(path)
        yield f"prove {name}", lambda path=path: ptosim.prove(ptosim.load(path).kernel())
        yield f"run {name}", lambda k=kernel, a=given, g=grid: [k(*a, grid=g, threads=1) for _ in range(50)]
        yield f"check {name}", lambda k=kernel, a=given, g=grid: ptosim.check(k, *a, grid=g)
        yield f"judge {name}", lambda k=kernel, a=given, g=grid: ptosim.check(k, *a, grid=g, engine="reference")
        yield f"profile {name}", lambda k=kernel, a=given, g=grid: ptosim.profile(k, *a, grid=g)


def measured() -> dict[str, float]:
    """Seconds of each row in this process."""
    from benchmarks.measure import best

    return {name: best(action, 3) for name, action in rows()}


def _in(tree: Path) -> dict[str, float]:
    """The rows of this page and the examples beside it, timed with the sources of a tree."""
    path = os.pathsep.join([str(tree / "src"), str(ROOT)])
    command = [
        sys.executable,
        "-c",
        "import json; from benchmarks.against import measured; print(json.dumps(measured()))",
    ]
    env = os.environ | {"PYTHONPATH": path}
    ended = subprocess.run(command, cwd=ROOT, env=env, check=False, stdout=subprocess.PIPE)
    if ended.returncode:
        sys.exit(f"the rows do not run in {tree}")
    return json.loads(ended.stdout.splitlines()[-1])


def compared(here: list[dict[str, float]], there: list[dict[str, float]]) -> Iterator[tuple[str, float, float]]:
    """Each row with the median of its ratios and their spread."""
    for name in here[0]:
        ratios = [ours[name] / theirs[name] for ours, theirs in zip(here, there, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        yield name, middle, high - low


def verdict(ratio: float, spread: float) -> str:
    if ratio > 1 + max(WORSE, spread):
        return "worse"
    return "unsteady" if spread > UNSTEADY else "ok"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.against REVISION")
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--detach", str(other), sys.argv[1]], cwd=ROOT, check=True)
        try:
            turns = [(_in(ROOT), _in(other)) for _ in range(ROUNDS)]
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=ROOT, check=True)
    found = list(compared([ours for ours, _ in turns], [theirs for _, theirs in turns]))
    for name, ratio, spread in found:
        print(f"{name:<32}{ratio:>7.2f} ± {spread:.2f}  {verdict(ratio, spread)}")
    sys.exit(any(verdict(ratio, spread) == "worse" for _, ratio, spread in found))


if __name__ == "__main__":
    main()
