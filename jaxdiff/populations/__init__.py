"""Populations of policies, as data with a leading policy axis."""
