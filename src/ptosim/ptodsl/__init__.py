"""Kernels in Python: `from ptosim import pto, scalar`, or `from ptosim.ptodsl import pto, scalar`."""

from ptosim.ptodsl import pto, scalar

__all__ = ["pto", "scalar"]
