"""The benchmarks use insides of the program: what no test measures must at least be there."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = """
from benchmarks import growth, observers, observing, profiling, starting, throughput, tiles, workitems
profiling._compile("abs")
"""


def test_the_benchmarks_find_what_they_measure() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "compile abs to be profiled" in ended.stdout
