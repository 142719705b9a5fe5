"""What of the chemistry an observation shows: nothing, the truth, a belief, per group of entries, fixed or drawn in each episode.

The 28 entries of the vector form fall into five groups. A group may show a content of `CONTENTS`, or pairs (content, weight) of which
one is drawn per episode. Groups that show nothing take no entries.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import belief, knowledge, tracker
from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.core.errors import InputError, require

Content = str | tuple[tuple[str, float], ...]
See = str | tuple[Content, ...]

CONTENTS = {
    "none": "not shown",
    "unknown": "0.5",
    "ground_truth": "the truth, latent frame",
    "belief": "the benchmark's belief, edges in the aligned frame",
    "marginals": "exact posterior probability under the benchmark's prior, latent frame",
    "marginals_aligned": "exact posterior probability under the benchmark's prior, aligned frame",
}
DRAWN = '(("belief", 1.0), ("unknown", 1.0))'  # how a content that is drawn is written
GROUPS = {"graph": 12, "axis_order": 6, "directions": 3, "stone_map": 3, "rotation": 4}
_STARTS = dict(zip(GROUPS, np.cumsum([0, *GROUPS.values()]).tolist(), strict=False))


def normal_form(see: Any) -> See:
    """One name where all groups show the same, else five contents; lists become tuples, a draw from one content that content.

    Environments that show the same are thus equal and share their compilations.

    Raises:
        InputError: unknown contents, not five of them, weights that are not positive and finite.
    """
    allowed = f"one of {', '.join(CONTENTS)}, or five of them for {', '.join(GROUPS)}; where one is drawn, pairs such as {DRAWN}"
    if isinstance(see, str):
        require(see in CONTENTS, "see", see, allowed)
        return see
    require(isinstance(see, tuple | list) and len(see) == len(GROUPS), "see", see, allowed)
    contents = tuple(_checked(content, allowed) for content in see)
    return contents[0] if isinstance(contents[0], str) and len(set(contents)) == 1 else contents


def _checked(content: Any, allowed: str) -> Content:
    if isinstance(content, str):
        require(content in CONTENTS, "see", content, allowed)
        return content
    try:
        pairs = tuple((str(name), float(weight)) for name, weight in content)
    except (TypeError, ValueError) as error:
        raise InputError("see", content, allowed) from error
    require(len(pairs) > 0 and all(n in CONTENTS and n != "none" and 0 < w < np.inf for n, w in pairs), "see", content, allowed)
    return pairs[0][0] if len(pairs) == 1 else pairs


def _groups(see: See) -> tuple[tuple[str, tuple[tuple[str, float], ...]], ...]:
    """Names of the groups that are shown and what each may show."""
    contents = (see,) * len(GROUPS) if isinstance(see, str) else see
    pairs = [((content, 1.0),) if isinstance(content, str) else content for content in contents]
    return tuple((name, group) for name, group in zip(GROUPS, pairs, strict=True) if group[0][0] != "none")


def shows(see: See, content: str) -> bool:
    """Whether some group shows, or may show, this content."""
    return any(name == content for _, group in _groups(see) for name, _ in group)


def is_drawn(see: See) -> bool:
    """Whether some group's content is drawn."""
    return any(len(group) > 1 for _, group in _groups(see))


def draw(see: See, key: jax.Array) -> jax.Array | None:
    """Which content every shown group has in this episode, int32 [groups]; None where nothing is drawn. The key is consumed."""
    if not is_drawn(see):
        return None
    cumulated = [np.cumsum([w for _, w in group], dtype=np.float32) for _, group in _groups(see)]
    uniform = jax.random.uniform(key, (len(cumulated),), jnp.float32)
    return jnp.stack([(uniform[i] * c[-1] >= c[:-1]).sum(dtype=jnp.int32) for i, c in enumerate(cumulated)])


def show(see: See, c: Chemistry, known: knowledge.Known, tracked: Any, shown: Any, rotation: bool) -> jax.Array:
    """The entries, float32 [those of the groups that are shown].

    Args:
        see: in normal form.
        c: the hidden chemistry.
        known: see `knowledge`, two uint32 [].
        tracked: see `tracker`; None unless "belief" may be shown.
        shown: as drawn.
        rotation: whether rotations are drawn at all.
    """
    vectors = {"unknown": jnp.full((chem.VECTOR,), 0.5, jnp.float32)}
    if shows(see, "ground_truth"):
        vectors["ground_truth"] = chem.to_vector(c)
    if shows(see, "belief"):
        vectors["belief"] = tracker.vector(tracked, c, known)
    if shows(see, "marginals"):
        vectors["marginals"] = belief.marginals_of(c, known, rotation=rotation)
    if shows(see, "marginals_aligned"):
        vectors["marginals_aligned"] = belief.marginals_of(c, known, rotation=rotation, aligned=True)
    parts = []
    for i, (name, group) in enumerate(_groups(see)):
        choices = [vectors[content][_STARTS[name] : _STARTS[name] + GROUPS[name]] for content, _ in group]
        parts.append(choices[0] if len(choices) == 1 else jnp.stack(choices)[shown[i]])
    return jnp.concatenate(parts)


def entries(see: See) -> tuple[str, ...]:
    """What the shown entries are."""
    from jaxdiff.alchemy import graphs

    ends = [f"edge between corners {a} and {b}" for a, b in graphs.edge_endpoints()]
    orders = [f"potion axes 0, 1, 2 act on latent axes {', '.join(map(str, order))}" for order in graphs.AXIS_ORDERS]
    ups = [f"second colour of its pair moves latent axis {k} up" for k in range(3)]
    stones = [f"latent and aligned axis {k} agree" for k in range(3)]
    turns = ["no rotation", "colour and size mixed", "colour and roundness mixed", "size and roundness mixed"]
    names = dict(zip(GROUPS, (ends, orders, ups, stones, turns), strict=True))
    texts = {name: " or ".join(CONTENTS[content] for content, _ in group) for name, group in _groups(see)}
    return tuple(f"{entry}: {texts[name]}" for name, _ in _groups(see) for entry in names[name])
