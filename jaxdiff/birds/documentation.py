"""Tables of observation, action and physics, generated: `python -m jaxdiff.birds.documentation` writes docs/birds_observation.md anew."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from pathlib import Path

import numpy as np

from jaxdiff.birds import contact, flight, kinds, novelties, physics, settling, shots
from jaxdiff.birds.world import ENTRIES, Birds

PAGE = Path(__file__).resolve().parents[2] / "docs" / "birds_observation.md"

INTRODUCTION = """\
# What observations and actions of Birds-v0 are, and its physics

Generated from the code by `python -m jaxdiff.birds.documentation`; a test fails when it is out of date.
"""


def page() -> str:
    """The whole page as Markdown."""
    env = Birds()
    params = env.default_params
    names = env.observation_entries(params)
    first = len(ENTRIES) * env.slots.objects
    things = "".join(f"| {i} | {entry} |\n" for i, entry in enumerate(ENTRIES))
    slots = ", ".join(f"{count} {word}" for count, word in zip(env.slots.counts, ("blocks", "pigs", "platforms", "TNT"), strict=True))
    rest = "".join(f"| {first + i} | {name} |\n" for i, name in enumerate(names[first:]))
    numbers = physics.default()
    values = "".join(f"| `{f.name}` | {_shown(getattr(numbers, f.name))} |\n" for f in dataclasses.fields(numbers))
    sizes = "".join(
        f"| {kinds.CATEGORIES[c]} | {name} | {w:g} x {h:g} |\n"
        for name, c, (w, h) in zip(kinds.NAMES, kinds.CATEGORY.tolist(), kinds.SIZE.tolist(), strict=True)
    )
    ours = "".join(f"| {i + 1} | {n.name} | {n.kind} |\n" for i, n in enumerate(novelties.ours()))
    null = novelties.appearance_only()
    return "\n".join(
        [
            INTRODUCTION,
            f"## Observation, {len(names)} entries with the default slots\n",
            f"float32. {len(ENTRIES)} entries for every slot ({slots}, in this order), all 0 where nothing is (any more):\n",
            "| entry of a slot | what |\n|---|---|\n" + things,
            "Behind them:\n",
            "| entry | what |\n|---|---|\n" + rest,
            "## Action, 3 numbers from 0 to 1\n",
            "| entry | what |\n|---|---|\n"
            f"| 0 | elevation, from {shots.LOWEST:g} to {shots.HIGHEST:g} degrees |\n"
            "| 1 | pull: speed as a part of `launch_speed` |\n"
            f"| 2 | tap: when the bird's speed is multiplied by its `bird_boost`, from 0 to {shots.LAST_TAP:g} seconds after launch |\n",
            "Reward of a shot: pigs that it destroyed, as a part of the level's pigs. An episode ends when no pig or no bird is left.\n",
            "## Physics\n",
            *(_text(module) for module in (physics, flight, contact, settling)),
            f"A contact step lasts {contact.DT:g} seconds; after {contact.STEPS} of them a bird is taken away.\n",
            "| number | without novelty |\n|---|---|\n" + values,
            "| category | type | size |\n|---|---|---|\n" + sizes,
            "## Our twelve novelties, and the null\n",
            "| | name | kind |\n|---|---|---|\n" + ours + f"| null | {null.name} | {null.kind} |\n",
        ]
    )


def _text(module: object) -> str:
    return (inspect.getdoc(module) or "") + "\n"


def _shown(value: np.ndarray) -> str:
    return ", ".join(f"{float(v):g}" for v in np.atleast_1d(value))


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"wrote {PAGE.name}\n")
