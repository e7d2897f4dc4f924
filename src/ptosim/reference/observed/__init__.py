"""Observed runs: accesses, entries, taint, watched lines."""
