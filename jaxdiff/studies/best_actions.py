"""Best-action hardness: how complex is the simplest sequence of actions with the highest reward (paper, Equation 2)?

h = min K(alpha) over A, "the set of sequences of actions made by any policy such that R is maximised". Our reading, in both forms:

- over a population ("any policy" is any policy of Omega, as in Equations 3 and 6, and as the paper itself measures K(alpha) in
  Figure 13): among the programs with the highest reward the least complexity of what they did. Its maximum is that of the population;
- over all 12^T sequences of T actions, which is Equation 2 to the letter, since a policy may be any function of its history. Only for
  a few steps can it be had exactly: no shortcut is known for the least zlib length among exponentially many sequences.

K(alpha) is the zlib length of the T pairs <V, U>, two digits a step, less that of nothing, in bytes. Axes: R rules, S populations, P
programs.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from jaxdiff.automata import ring, rollouts
from jaxdiff.automata.compiled import compile_programs
from jaxdiff.automata.world import Params, batched
from jaxdiff.core.errors import require, require_integer
from jaxdiff.difficulty import complexity

LANES = 1 << 13
MOST_EXHAUSTIVE = 6  # 12^6 is three million sequences


def hardness(
    numerator: np.ndarray, programs: np.ndarray, params: Params, steps: int, progress: Callable[[int, int], None] | None = None
) -> np.ndarray:
    """H over populations.

    Args:
        numerator: exact sums of rewards of the programs under the strategy Fresh, int64 [R, S, P].
        programs: int8 [S, P, L].
        params: the R worlds.
        steps: T.
        progress: called with (best programs run again, in all).

    Returns:
        bytes, int64 [R, S].
    """
    rule, cells, position, _ = batched(params)
    shape = rollouts.shape_for(cells.shape[1], steps)
    different = [np.unique(some, axis=0, return_index=True)[1] for some in programs]
    first = np.zeros(programs.shape[:2], bool)
    for j, places in enumerate(different):
        first[j, places] = True
    best = (numerator == numerator.max(-1, keepdims=True)) & first
    worlds, sets, rows = np.nonzero(best)
    out = np.full(numerator.shape[:2], np.iinfo(np.int64).max)
    for start in range(0, len(rows), LANES):
        some = slice(start, start + LANES)
        r, s, p = (np.resize(index[some], LANES) for index in (worlds, sets, rows))  # the last lanes repeat, so that all calls are alike
        linear = compile_programs(jnp.asarray(programs[s, p]))
        _, actions = rollouts.paired(linear, rule[r], cells[r], position[r], shape, True)
        moves, upshots = (np.asarray(x).T for x in rollouts.moves_and_upshots(actions))
        used = len(rows[some])
        np.minimum.at(out, (r[:used], s[:used]), complexity.action_sequence(moves[:used], upshots[:used]))
        if progress is not None:
            progress(start + used, len(rows))
    return out


def exhaustive(params: Params, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Highest sum of reward numerators over all sequences of actions, and h over all of them, int64 [R] each.

    Raises:
        InputError: more than 6 steps.
    """
    require_integer("steps", steps, 1, MOST_EXHAUSTIVE)
    rule, cells, position, _ = batched(params)
    require(ring.limbs_for(cells.shape[1], steps) > 0, "width", cells.shape[1], "a width whose sum of rewards fits in 63 bits")
    sequences = np.stack(np.meshgrid(*[np.arange(rollouts.ACTIONS, dtype=np.uint8)] * steps, indexing="ij"), -1).reshape(-1, steps)
    total = ring.to_int64(rollouts.given(jnp.asarray(sequences.T), rule, cells, position, rollouts.shape_for(cells.shape[1], steps)))
    highest = total.max(-1)
    simplest = []
    for mine in total == highest[:, None]:
        moves, upshots = (np.asarray(x) for x in rollouts.moves_and_upshots(sequences[mine]))
        simplest.append(complexity.action_sequence(moves, upshots).min())
    return highest, np.array(simplest)
