"""Accesses of each instruction: plain records and geometry, keyed by operation name, read by every other floor."""
