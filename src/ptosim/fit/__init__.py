"""Fitting the figures of a target file to cycles that were measured on a board."""
