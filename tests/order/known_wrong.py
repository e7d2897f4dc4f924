"""Programs of `test_micro_programs.py` with an answer that is known to be wrong: the lists may only shrink."""

KNOWN_WRONG: dict[str, set[int]] = {}
