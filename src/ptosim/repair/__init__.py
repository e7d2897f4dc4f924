"""Repair: findings become edits that were tried, the least first. A hint is the first edit of a repair.

    Engine(observation, trials)    the findings with hints, and the repaired text          (engine.py)
    repair(observation, ...)       the search for a repair                                 (search.py)
    Proposals                      what may help, as edits of the text                     (proposals.py)
    Rehearsal                      trying edited texts, at this size and at a larger one   (trials.py)

No engine is imported here: the caller says how a text is tried.
"""
