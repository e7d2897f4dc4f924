"""The floor of logical vectors: which register holds which lane, and the micro-instructions that compute with them."""
