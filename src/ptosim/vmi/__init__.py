"""The floor of logical vectors: the register of each lane, and the micro-instructions on these registers."""
