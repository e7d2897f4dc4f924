"""The code that all kernels share is linked once, whoever asks first."""

import subprocess
import sys

# In a process of its own, where nobody has asked yet.
TOGETHER = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from ptosim.native.build.resident import resident

together = Barrier(4)

def ask():
    together.wait()
    return resident()

with ThreadPoolExecutor(4) as threads:
    found = [asked.result() for asked in [threads.submit(ask) for _ in range(4)]]
print(len(set(map(id, found))))
"""


def test_threads_that_start_together_share_it() -> None:
    result = subprocess.run([sys.executable, "-c", TOGETHER], capture_output=True, text=True, check=True)
    assert result.stdout == "1\n"
