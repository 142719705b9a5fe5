"""Environment class Lambda, its agents, and how the other agents change difficulty."""
