"""What an agent did, per episode and trial: scores, items, kinds of action, value won and lost, what it could know (paper, section 5).

Everything is computed by replaying actions, so logs from elsewhere are probed like agents trained here.
Axes: B episodes, T steps, N trials.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import belief, knowledge, layout
from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.alchemy.world import Alchemy, Params, State
from jaxdiff.core.environment import select
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
        entropy: Shannon entropy of the posterior when the trial ended, under the benchmark's prior, nats, float32 [B, N].
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
        chemistry: fields [B], or [] where it is the same in all episodes.
        stones, potions: latent corners int [B, N, stones] and latent types int [B, N, potions], 8 and 6: none there.
        actions: int [B, T]. Numbers outside the action space do nothing, as in `step`; they are counted as "invalid".
        params: the game's numbers, without batch axes; the environment's defaults when None.

    Raises:
        InputError: shapes do not fit one another or the environment, something is not integer, or a corner, type or part of a chemistry
            is out of range.
    """
    acts = as_array("actions", actions, "integers [B, T]")
    require(acts.ndim == 2, "actions", f"of shape {acts.shape}", "integers [B, T]")
    require(np.issubdtype(acts.dtype, np.integer), "actions", f"of type {acts.dtype}", "integers [B, T]")
    batch = acts.shape[:1]
    env.check_items("stones", stones, batch)
    env.check_items("potions", potions, batch)
    chem.check(chemistry)
    fields = [np.asarray(getattr(chemistry, name)) for name in chem.SIZES]
    shapes = {x.shape for x in fields}
    require(shapes <= {(), batch}, "chemistry", f"with fields of shapes {sorted(shapes)}", f"fields of shape {batch}")
    # No observation is looked at: options of what it shows would only compile anew, and a draw of it would want a key.
    env = dataclasses.replace(env, see="none", clock=False, counts=False, observe_used=True, mask=False, debug=False)
    return _replay(
        env,
        Chemistry(*(np.broadcast_to(x, batch).astype(np.int32) for x in fields)),
        np.asarray(stones, np.int32),
        np.asarray(potions, np.int32),
        np.where((acts < 0) | (acts > env.actions), env.actions, acts).astype(np.int32),  # one that is not there, before int32 wraps it
        env.default_params if params is None else params,
    )


@partial(jax.jit, static_argnums=0)
def _replay(env: Alchemy, chemistry: Chemistry, stones: jax.Array, potions: jax.Array, actions: jax.Array, params: Params) -> Probes:
    probe = jax.vmap(partial(_episode, env), in_axes=(0, 0, 0, 0, None))
    sums, starts, ends = probe(chemistry, stones, potions, actions, params)
    shape = starts[0].shape
    batch = jax.tree.map(lambda x: jnp.broadcast_to(x[:, None], shape).reshape(-1), chemistry)

    def over(function: Any, known: knowledge.Known) -> jax.Array:
        flat = jax.tree.map(lambda x: x.reshape(-1), known)
        return jax.vmap(partial(function, rotation=env.rotation))(batch, flat).reshape(shape)

    return Probes(
        **sums,
        worlds_start=over(belief.count_of, starts),
        worlds_end=over(belief.count_of, ends),
        entropy=over(belief.entropy_of, ends),
    )


def _episode(env: Alchemy, chemistry: Chemistry, stones: jax.Array, potions: jax.Array, actions: jax.Array, params: Params) -> Any:
    """Sums per trial as a dict of [N, ...], and what was known at the start and the end of every trial, two uint32 [N]."""
    _, first = env.reset_with(chemistry, stones, potions)
    numbers = jnp.arange(env.trials, dtype=jnp.int32)
    value = jnp.concatenate([env.values(params), jnp.zeros((1,), jnp.float32)])

    def body(carry: tuple[State, knowledge.Known, knowledge.Known], action: jax.Array) -> tuple[Any, Any]:
        state, starts, ends = carry
        after, reward, ended = env.act(state, action, params)
        here = (numbers == state.trial) & (state.trial < env.trials)
        ends = select(here, _everywhere(after.known, env.trials), ends)
        following, fresh = env.next_trial(after, ended)
        starts = select((numbers >= following.trial) & fresh, _everywhere(following.known, env.trials), starts)
        ends = select(numbers > state.trial, _everywhere(following.known, env.trials), ends)
        record = _record(env, state, after, action, ended, reward, value)
        return (following, starts, ends), (state.trial, record)

    known = _everywhere(first.known, env.trials)
    (_, starts, ends), (trial, records) = jax.lax.scan(body, (first, known, known), actions)
    mine = trial == numbers[:, None]  # [N, T]
    sums = jax.tree.map(lambda x: jnp.where(mine.reshape(*mine.shape, *(1,) * (x.ndim - 1)), x, 0).sum(1, dtype=x.dtype), records)
    return sums, starts, ends


def _everywhere(known: knowledge.Known, trials: int) -> knowledge.Known:
    return jax.tree.map(lambda word: jnp.broadcast_to(word, (trials,)), known)


def _record(
    env: Alchemy, before: State, after: State, action: jax.Array, ended: jax.Array, reward: jax.Array, value: jax.Array
) -> dict[str, jax.Array]:
    """What one action adds to the probes of its trial."""
    old, new = layout.unpack_stones(before.stones), layout.unpack_stones(after.stones)
    start = layout.unpack_stones(before.items[jnp.minimum(before.trial, env.trials - 1), 0])
    used = jnp.stack([a != b for a, b in zip(before.potions, after.potions, strict=True)]).any()
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
        InputError: shapes differ, slots that are not integer or out of range, or more events than steps.
    """
    require_integer("steps", steps, 1)
    stone, potion = (as_array(name, x, "integers [B, N, K]") for name, x in (("stones", stones), ("potions", potions)))
    require(stone.ndim == 3 and stone.shape == potion.shape, "potions", f"of shape {potion.shape}", "integers [B, N, K] as stones")
    for name, slots in (("stones", stone), ("potions", potion)):
        require(np.issubdtype(slots.dtype, np.integer), name, f"of type {slots.dtype}", "integers [B, N, K]")
    real = potion != -2
    wrong = stone[real & ((stone < 0) | (stone >= layout.STONES))]
    require(wrong.size == 0, "stones", f"with a {wrong.flat[0] if wrong.size else None}", f"slots 0 to {layout.STONES - 1}")
    wrong = potion[(potion < -2) | (potion >= layout.POTIONS)]
    require(
        wrong.size == 0,
        "potions",
        f"with a {wrong.flat[0] if wrong.size else None}",
        f"slots 0 to {layout.POTIONS - 1}, -1 (cauldron), -2 (padding)",
    )
    longest = int(real.sum(-1).max(initial=0))
    require(longest <= steps, "steps", steps, f"at least the number of events in a trial, {longest}")
    acts = np.where(real, 1 + stone.astype(np.int32) * (1 + layout.POTIONS) + potion + 1, 0)[..., :steps]
    padded = np.pad(acts, ((0, 0), (0, 0), (0, steps - acts.shape[-1])))
    return padded.reshape(stone.shape[0], -1).astype(np.int32)
