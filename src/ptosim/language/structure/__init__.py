"""Scalar arithmetic, control flow and functions: the `arith`, `math`, `scf`, `cf` and `func` operations."""
