"""Registers as IR, and what is computed in their lanes; a scalar is a single lane."""
