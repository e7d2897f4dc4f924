"""Repair: findings become edits that were tried, the least first. A hint is the first of them."""
