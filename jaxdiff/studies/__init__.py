"""Experiments from world and population to a labelled dataset: one module a paper."""
