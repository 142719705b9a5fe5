"""Symbolic Alchemy: DeepMind's meta-learning game (Wang et al. 2021) as table look-up, replayed bit for bit."""
