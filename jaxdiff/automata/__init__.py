"""Agent-populated elementary cellular automata and their policy language (paper: complexity distribution of agent policies)."""
