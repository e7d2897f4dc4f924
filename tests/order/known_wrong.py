"""Programs of `test_micro_programs.py` with an answer that is known to be wrong: the lists may only shrink."""

KNOWN_WRONG: dict[str, set[int]] = {
    # a race that the branches, the places ahead of a counter or the turns of an inner loop rule out; a get of a buffer
    # id behind its release in a loop that may run not at all
    "refuted": {2, 3, 4, 9, 12, 17, 20, 22, 24, 28, 33, 37, 43, 46, 47, 59},
    # ids of what was inserted in nests that are "only known when it runs"
    "insertion": {30, 38},
}
