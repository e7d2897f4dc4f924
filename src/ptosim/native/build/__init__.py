"""From a verified kernel to its code: programs, cores and entries, and how an instruction is lowered."""
