"""The sanitizer: an observer of one run that finds races, undefined values and broken rules, and says where.

    check(program, execute, ...)   runs a kernel under observation and returns its findings   (session.py)
    Checker                        the observer                                               (checker.py)

Memory shadow and happens-before are in shadow.py and global_shadow.py, the inside of vector scopes in scope.py and
dependence.py, taint in taint.py, wording and repair in conflict.py and hints.py. No engine is imported here: whoever
calls `check` says how a kernel is run.
"""
