"""Learners of memory-based policies: networks, losses, a trainer that the host drives in jitted chunks, evaluation, checkpoints."""
