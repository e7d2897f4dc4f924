"""Micro-instructions, one room for each group."""
