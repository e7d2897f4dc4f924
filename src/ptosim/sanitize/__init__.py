"""The sanitizer: an observer of one run that finds races, undefined values and broken rules, and says where.

    observe(subject, execute, ...)   runs a kernel under observation and says what is wrong     (session.py)
    Checker                          the observer                                               (checker.py)

Memory shadow and happens-before are in shadow.py and global_shadow.py, the inside of vector scopes in scope.py and
dependence.py, taint in taint.py, wording in conflict.py and wording.py. What to do about a finding is said in
`repair/`. No engine is imported here: the caller says how a kernel is run.
"""
