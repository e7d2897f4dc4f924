"""Programs of `test_micro_programs.py` with an answer that is known to be wrong: the lists may only shrink."""

KNOWN_WRONG: dict[str, set[int]] = {
    "refuted": {35},  # of a set inside a loop that is doubled the proof names the one in front of the loop
}
