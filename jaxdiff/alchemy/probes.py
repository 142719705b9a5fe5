"""What an agent did, per episode and trial: scores, items, kinds of action, value won and lost, what it could know (paper, section 5).

Everything is computed by replaying actions, so logs from elsewhere are probed like agents trained here.
Axes: B episodes, T steps, N trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import belief, layout
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.alchemy.world import Alchemy, Params, State
from jaxdiff.core.errors import as_array, require, require_integer

KINDS = ("no effect", "value up", "value down", "cauldron", "no-op", "invalid", "end of trial")


@partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        "score",
        "potions",
        "stones",
        "kinds",
        "cashed",
        "improvement",
        "spoiled",
        "left",
        "worlds_start",
        "worlds_end",
        "entropy",
    ],
    meta_fields=[],
)
@dataclass(frozen=True)
class Probes:
    """Probes of B episodes of N trials; trials that were not reached hold zeros (worlds and entropy: what was known last).

    Attributes:
        score: sum of rewards, float32 [B, N].
        potions: potions used, int32 [B, N].
        stones: stones put into the cauldron, int32 [B, N].
        kinds: number of actions of every kind in `KINDS`, int32 [B, N, 7].
        cashed: value of the stones put into the cauldron, float32 [B, N].
        improvement: the same less what these slots held when the trial began, float32 [B, N].
        spoiled: value lost by moving a best stone away from the best corner, float32 [B, N].
        left: positive value on the table when the trial ended, float32 [B, N].
        worlds_start: chemistries still possible after the look at a trial's stones, int32 [B, N].
        worlds_end: the same when the trial ended, int32 [B, N]; its logarithm is the paper's posterior entropy.
        entropy: Shannon entropy of the posterior when the trial ended, under the prior, nats, float32 [B, N].
    """

    score: jax.Array
    potions: jax.Array
    stones: jax.Array
    kinds: jax.Array
    cashed: jax.Array
    improvement: jax.Array
    spoiled: jax.Array
    left: jax.Array
    worlds_start: jax.Array
    worlds_end: jax.Array
    entropy: jax.Array


def replay(env: Alchemy, chemistry: Chemistry, stones: Any, potions: Any, actions: Any, params: Params | None = None) -> Probes:
    """Play given actions in given episodes and probe them.

    Args:
        env: the game's options; episodes end where it says, later actions are ignored.
        chemistry: fields [B].
        stones, potions: latent corners int [B, N, stones] and latent types int [B, N, potions].
        actions: int [B, T].
        params: the game's numbers, without batch axes; the environment's defaults when None.

    Raises:
        InputError: shapes do not fit one another or the environment, or an index is out of range.
    """
    acts = as_array("actions", actions, "integers [B, T]")
    require(acts.ndim == 2 and np.issubdtype(acts.dtype, np.integer), "actions", f"of shape {acts.shape}", "integers [B, T]")
    items = {"stones": (stones, 9), "potions": (potions, 7)}
    arrays = {name: as_array(name, value, "integers [B, N, slots]") for name, (value, _) in items.items()}
    for name, array in arrays.items():
        shape = (acts.shape[0], env.trials, getattr(env, name))
        require(array.shape == shape, name, f"of shape {array.shape}", f"shape {shape}")
        wrong = array[(array < 0) | (array >= items[name][1])]
        require(wrong.size == 0, name, f"an array with a {wrong.flat[0] if wrong.size else None}", f"0 to {items[name][1] - 1}")
    fields = jax.tree.map(np.asarray, chemistry)
    batch = {np.shape(x) for x in jax.tree.leaves(fields)}
    require(batch <= {(), acts.shape[:1]}, "chemistry", f"with fields of shapes {sorted(batch)}", f"fields of shape {acts.shape[:1]}")
    fields = jax.tree.map(lambda x: np.broadcast_to(x, acts.shape[:1]).astype(np.int32), fields)
    params = env.default_params if params is None else params
    return _replay(env, fields, arrays["stones"].astype(np.int32), arrays["potions"].astype(np.int32), acts.astype(np.int32), params)


@partial(jax.jit, static_argnums=0)
def _replay(env: Alchemy, chemistry: Chemistry, stones: jax.Array, potions: jax.Array, actions: jax.Array, params: Params) -> Probes:
    probe = jax.vmap(partial(_episode, env), in_axes=(0, 0, 0, 0, None))
    sums, starts, ends = probe(chemistry, stones, potions, actions, params)
    batch = jax.tree.map(lambda x: jnp.broadcast_to(x[:, None], starts.shape[:2]).reshape(-1), chemistry)

    def over(function: Any, known: jax.Array) -> jax.Array:
        return jax.vmap(partial(function, rotation=env.rotation))(batch, known.reshape(-1, 2)).reshape(starts.shape[:2])

    return Probes(
        **sums,
        worlds_start=over(belief.count_of, starts),
        worlds_end=over(belief.count_of, ends),
        entropy=over(belief.entropy_of, ends),
    )


def _episode(env: Alchemy, chemistry: Chemistry, stones: jax.Array, potions: jax.Array, actions: jax.Array, params: Params) -> Any:
    """Sums per trial as a dict of [N, ...], and what was known at the start and the end of every trial, uint32 [N, 2]."""
    _, first = env.reset_with(chemistry, stones, potions)
    numbers = jnp.arange(env.trials, dtype=jnp.int32)
    value = jnp.concatenate([env.values(params), jnp.zeros((1,), jnp.float32)])

    def body(carry: tuple[State, jax.Array, jax.Array], action: jax.Array) -> tuple[Any, Any]:
        state, starts, ends = carry
        after, reward, ended = env.act(state, action, params)
        here = (numbers == state.trial) & (state.trial < env.trials)
        ends = jnp.where(here[:, None], after.known, ends)
        following, fresh = env.next_trial(after, ended)
        starts = jnp.where(((numbers >= following.trial) & fresh)[:, None], following.known, starts)
        ends = jnp.where((numbers > state.trial)[:, None], following.known, ends)
        record = _record(env, state, after, action, ended, reward, value)
        return (following, starts, ends), (state.trial, record)

    known = jnp.broadcast_to(first.known, (env.trials, 2))
    (_, starts, ends), (trial, records) = jax.lax.scan(body, (first, known, known), actions)
    mine = trial == numbers[:, None]  # [N, T]
    sums = jax.tree.map(lambda x: jnp.where(mine.reshape(*mine.shape, *(1,) * (x.ndim - 1)), x, 0).sum(1, dtype=x.dtype), records)
    return sums, starts, ends


def _record(
    env: Alchemy, before: State, after: State, action: jax.Array, ended: jax.Array, reward: jax.Array, value: jax.Array
) -> dict[str, jax.Array]:
    """What one action adds to the probes of its trial."""
    old, new = layout.unpack_stones(before.stones), layout.unpack_stones(after.stones)
    start = layout.unpack_stones(before.items[jnp.minimum(before.trial, env.trials - 1), 0])
    used = (before.potions != after.potions).any()
    gone = (old != new) & (new == layout.NO_STONE)
    change = (value[new] - value[old]).sum(dtype=jnp.float32)
    cashed = gone.any()
    ending = (action == 0) if env.end_trial else jnp.zeros((), jnp.bool_)
    idle = action == int(env.end_trial)
    flags = [used & (change == 0), used & (change > 0), used & (change < 0), cashed, idle]
    flags += [~(used | cashed | idle | ending), ending]
    best = (old == len(value) - 2) & (new != old) & ~gone
    return {
        "score": reward,
        "potions": used.astype(jnp.int32),
        "stones": cashed.astype(jnp.int32),
        "kinds": jnp.stack(flags).astype(jnp.int32),
        "cashed": jnp.where(gone, value[old], 0).sum(dtype=jnp.float32),
        "improvement": jnp.where(gone, value[old] - value[start], 0).sum(dtype=jnp.float32),
        "spoiled": jnp.where(best, value[old] - value[new], 0).sum(dtype=jnp.float32),
        "left": jnp.where(ended, jnp.maximum(value[new], 0).sum(dtype=jnp.float32), 0),
    }


def actions_of_events(stones: Any, potions: Any, steps: int) -> np.ndarray:
    """Actions of a log that lists only what was done in each trial: events first, then no-ops until the trial is over.

    Args:
        stones: stone slot of each event, int [B, N, K].
        potions: potion slot; -1: cauldron; -2: padding behind the last event, int [B, N, K].
        steps: steps of a trial.

    Returns:
        slot actions without an end-trial action, int32 [B, N x steps].

    Raises:
        InputError: shapes differ, slots out of range, or more events than steps.
    """
    require_integer("steps", steps, 1)
    stone, potion = (as_array(name, x, "integers [B, N, K]") for name, x in (("stones", stones), ("potions", potions)))
    require(stone.ndim == 3 and stone.shape == potion.shape, "potions", f"of shape {potion.shape}", "integers [B, N, K] as stones")
    real = potion != -2
    wrong = stone[real & ((stone < 0) | (stone >= layout.STONES))]
    require(wrong.size == 0, "stones", f"with a {wrong.flat[0] if wrong.size else None}", "slots 0 to 2")
    wrong = potion[(potion < -2) | (potion >= layout.POTIONS)]
    require(wrong.size == 0, "potions", f"with a {wrong.flat[0] if wrong.size else None}", "slots 0 to 11, -1 (cauldron), -2 (padding)")
    longest = int(real.sum(-1).max(initial=0))
    require(longest <= steps, "steps", steps, f"at least the number of events in a trial, {longest}")
    acts = np.where(real, 1 + stone.astype(np.int32) * (1 + layout.POTIONS) + potion + 1, 0)[..., :steps]
    padded = np.pad(acts, ((0, 0), (0, 0), (0, steps - acts.shape[-1])))
    return padded.reshape(stone.shape[0], -1).astype(np.int32)
