"""ptosim runs, checks, times and shows Ascend PTO micro-instruction kernels on any computer."""

__version__ = "0.1.0"
