"""How long a run takes: vector functions, pipes and their waits, the critical path. Never what it computes."""
