"""How hard is it to react to a novelty, on any world, and does the number tell how agents fare?

A `domain` is a world with levels and novelties; `protocol` measures the distance between solutions before and after, `agents` plays;
`prediction` sets one beside the other. `worlds` holds the domains that come with the library.
"""
