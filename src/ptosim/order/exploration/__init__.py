"""A second way to prove order: all states that a program can come to, as far as indices matter only by their turns.

The walk of `order/walk.py` follows each pair of entries over the least distance at which they meet. Here the program is
executed with every number of iterations and on every branch at once: an index is known exactly at first, then modulo
the numbers that ids and slots are counted by, so that a loop comes back to states that were seen. What is left to go
round is finite, and is gone round until nothing new comes in.
"""
