"""Losses of three algorithms and their targets: arrays in, losses out; no network, no world."""
