"""The values that users hold: check reports and profiles, and their forms."""
