"""What every world, measure and agent shares: the protocol, spaces, names, auto-reset, rollouts, refusal of bad input."""
