"""Do measures of difficulty predict how long learners take? Worlds with known knobs, two learners of its own, rank correlations.

Learners: tabular Q-learning, and REINFORCE with a linear softmax policy and a running baseline, both on whole episodes. Sample complexity
is the steps of experience until the mean of the last `WINDOW` returns reaches the middle between random actions and the best that any
learner reached; runs that never do are censored at what they were given. Axes: S seeds, E episodes, T steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from jaxdiff.core.environment import Environment, select
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.registry import make
from jaxdiff.core.seat import OneSeat
from jaxdiff.core.spaces import Box, Discrete, Space
from jaxdiff.populations.networks import chosen, number_of_outputs
from jaxdiff.populations.population import features, number_of_features
from jaxdiff.studies.knobs import Knobs

Learner = Literal["q_learning", "reinforce"]
LEARNERS: tuple[Learner, ...] = ("q_learning", "reinforce")
WINDOW = 20
MOST_ROWS = 1 << 16


@dataclass(frozen=True)
class Case:
    """A world with a knob.

    Attributes:
        name: unique.
        env, params: the world.
        steps: of an episode at most.
        knob: which family it belongs to; within one, difficulty should rise with `level`, all else equal. Empty for none.
        level: of the knob.
    """

    name: str
    env: Environment[Any, Any]
    params: Any
    steps: int
    knob: str = ""
    level: float = 0.0


def cases() -> list[Case]:
    """The worlds: chains and grids with every knob, automata, and social worlds with one to three agents."""
    out = []
    families: dict[str, list[tuple[float, Knobs, float]]] = {}
    for shape, sizes, base in (("chain", (3, 5, 7, 9), 5), ("grid", (3, 4, 5, 6), 4)):
        plain = Knobs(shape, base)
        families[f"{shape} size"] = [(size, Knobs(shape, size), 0.0) for size in sizes]
        families[f"{shape} noise"] = [(p, plain, p) for p in (0.0, 0.2, 0.4)]
        families[f"{shape} delay"] = [(d, Knobs(shape, base, delay=d), 0.0) for d in (0, 4, 8)]
        families[f"{shape} irrelevant bits"] = [(k, Knobs(shape, base, irrelevant=k), 0.0) for k in (0, 2, 4)]
        families[f"{shape} sparsity"] = [(0, Knobs(shape, base, dense=True), 0.0), (1, plain, 0.0)]
        families[f"{shape} shortness"] = [(-h, Knobs(shape, base, horizon=h), 0.0) for h in (60, 30, 15)]
    for knob, levels in families.items():
        out += [Case(f"{knob} {abs(level):g}", env, np.float32(p), env.horizon, knob, level) for level, env, p in levels]
    for rule in (184, 110, 122, 164):
        env, params = make("SAECA-v0", width=21, steps=60)
        out.append(Case(f"SAECA rule {rule}", env, _with(params, rule=np.uint8(rule)), 60))
    for agents in (1, 2, 3):
        env, params = make("Lambda-v0", agents=agents, cells=5, steps=60)
        out.append(Case(f"Lambda, {agents} agents", OneSeat(env), params, 60, "agents", agents))
    return out


def _with(params: Any, **changes: Any) -> Any:
    import dataclasses

    return dataclasses.replace(params, **changes)


def learn(case: Case, learner: Learner, key: jax.Array, *, seeds: int, episodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Train a learner.

    Args:
        case: the world.
        learner: one of `LEARNERS`.
        key: PRNG key; consumed.
        seeds: S.
        episodes: E.

    Returns:
        returns float32 [S, E], lengths int32 [S, E] of the episodes of training, in order.

    Raises:
        InputError: an unknown learner, no seeds or episodes, a world whose observations or actions are not integers.
    """
    require(learner in LEARNERS, "learner", learner, f"one of {', '.join(LEARNERS)}")
    require_integer("seeds", seeds, 1)
    require_integer("episodes", episodes, WINDOW)
    observation, action = case.env.observation_space(case.params), case.env.action_space(case.params)
    if isinstance(action, Box) or isinstance(observation, Box):
        raise InputError("world", case.name, "one with integer observations and actions")
    rows = math.prod(_sizes(observation))
    require(rows <= MOST_ROWS, "world", f"{case.name}, with {rows} observations", f"at most {MOST_ROWS}")
    out = _learn(case.env, learner, case.params, jax.random.split(key, seeds), episodes, case.steps)
    returns, lengths = map(np.asarray, out)
    return returns, lengths


def _sizes(space: Space) -> tuple[int, ...]:
    if isinstance(space, Box):
        raise InputError("space", space, "a space of integers")
    return (space.n,) if isinstance(space, Discrete) else space.sizes


@partial(jax.jit, static_argnums=(0, 1, 4, 5))
def _learn(env: Any, learner: Learner, params: Any, keys: jax.Array, episodes: int, steps: int) -> tuple[jax.Array, jax.Array]:
    observation, action = env.observation_space(params), env.action_space(params)
    outputs = number_of_outputs(action)
    offsets = np.cumsum([0, *_sizes(action)])[:-1].astype(np.int32)
    strides = np.cumprod([1, *_sizes(observation)[:-1]]).astype(np.int32)

    def row(obs: Any) -> jax.Array:
        return (jnp.asarray(obs).astype(jnp.int32).reshape(-1) * strides).sum(dtype=jnp.int32)

    def taken(a: jax.Array) -> jax.Array:
        """Places of an action's entries among the outputs; every entry of a MultiDiscrete action has values of its own."""
        return jnp.asarray(a).astype(jnp.int32).reshape(-1) + offsets

    def best(q: jax.Array, obs: Any) -> jax.Array:
        value = q[row(obs)]
        return jnp.stack([value[o : o + n].max() for o, n in zip(offsets.tolist(), _sizes(action), strict=True)])

    def q_episode(q: jax.Array, key: jax.Array) -> Any:
        key_reset, key_steps = jax.random.split(key)
        obs, state = env.reset_env(key_reset, params)

        def step(carry: Any, key: jax.Array) -> tuple[Any, Any]:
            q, obs, state, done = carry
            k_tie, k_explore, k_action, k_env = jax.random.split(key, 4)
            noisy = q[row(obs)] + 1e-4 * jax.random.uniform(k_tie, (outputs,), jnp.float32)  # ties are drawn
            explore = jax.random.uniform(k_explore, (), jnp.float32) < 0.1
            a = jnp.where(explore, action.sample(k_action), chosen(action, noisy))
            new_obs, new_state, reward, terminated, truncated, _ = env.step_env(k_env, state, a, params)
            target = reward.astype(jnp.float32) + jnp.float32(0.95) * best(q, new_obs) * ~terminated
            at = (row(obs), taken(a))
            q = jnp.where(done, q, q.at[at].add(jnp.float32(0.2) * (target - q[at])))
            out = jnp.where(done, jnp.float32(0), reward.astype(jnp.float32)), ~done
            return (q, new_obs, select(done, state, new_state), done | terminated | truncated), out

        (q, *_), (rewards, live) = jax.lax.scan(step, (q, obs, state, jnp.bool_(False)), jax.random.split(key_steps, steps))
        return q, (rewards.sum(dtype=jnp.float32), live.sum(dtype=jnp.int32))

    def logits_of(weights: jax.Array, obs: Any) -> jax.Array:
        return (weights * features(observation, obs)).sum(-1)

    def log_probability(weights: jax.Array, obs: Any, a: jax.Array) -> jax.Array:
        logits = logits_of(weights, obs)
        parts = [jax.nn.log_softmax(logits[o : o + n]) for o, n in zip(offsets.tolist(), _sizes(action), strict=True)]
        return jnp.concatenate(parts)[taken(a)].sum()

    def reinforce_episode(carry: Any, key: jax.Array) -> Any:
        weights, baseline = carry
        key_reset, key_steps = jax.random.split(key)
        obs, state = env.reset_env(key_reset, params)

        def step(carry: Any, key: jax.Array) -> tuple[Any, Any]:
            obs, state, done = carry
            k_act, k_env = jax.random.split(key)
            a = chosen(action, logits_of(weights, obs) + jax.random.gumbel(k_act, (outputs,), jnp.float32))
            new_obs, new_state, reward, terminated, truncated, _ = env.step_env(k_env, state, a, params)
            out = obs, a, jnp.where(done, jnp.float32(0), reward.astype(jnp.float32)), ~done
            return (new_obs, select(done, state, new_state), done | terminated | truncated), out

        _, (seen, acts, rewards, live) = jax.lax.scan(step, (obs, state, jnp.bool_(False)), jax.random.split(key_steps, steps))

        def back(later: jax.Array, reward: jax.Array) -> tuple[jax.Array, jax.Array]:
            later = reward + jnp.float32(0.95) * later
            return later, later

        _, gain = jax.lax.scan(back, jnp.float32(0), rewards, reverse=True)
        weight = (gain - baseline) * live

        def objective(w: jax.Array) -> jax.Array:
            return (jax.vmap(lambda o, a: log_probability(w, o, a))(seen, acts) * weight).sum() / live.sum()

        weights = weights + jnp.float32(2.0) * jax.grad(objective)(weights)
        mean = (gain * live).sum() / live.sum()
        return (weights, baseline + jnp.float32(0.05) * (mean - baseline)), (rewards.sum(dtype=jnp.float32), live.sum(dtype=jnp.int32))

    def one_seed(key: jax.Array) -> Any:
        if learner == "q_learning":
            table = jnp.zeros((math.prod(_sizes(observation)), outputs), jnp.float32)
            return jax.lax.scan(q_episode, table, jax.random.split(key, episodes))[1]
        start = (jnp.zeros((outputs, number_of_features(observation)), jnp.float32), jnp.float32(0))
        return jax.lax.scan(reinforce_episode, start, jax.random.split(key, episodes))[1]

    return jax.vmap(one_seed)(keys)


def smoothed(returns: np.ndarray) -> np.ndarray:
    """Means of the last `WINDOW` returns, [S, E - WINDOW + 1]."""
    total = np.cumsum(np.pad(returns.astype(np.float64), ((0, 0), (1, 0))), axis=1)
    return (total[:, WINDOW:] - total[:, :-WINDOW]) / WINDOW


def sample_complexity(returns: np.ndarray, lengths: np.ndarray, target: float) -> tuple[np.ndarray, np.ndarray]:
    """Steps of experience until the smoothed return reaches a target, and which runs never do (censored at all they were given).

    Returns:
        int64 [S], bool [S].
    """
    reached = smoothed(returns) >= target
    spent = np.cumsum(lengths.astype(np.int64), axis=1)[:, WINDOW - 1 :]
    first = np.argmax(reached, axis=1)
    censored = np.asarray(~reached.any(1), bool)
    return np.where(censored, spent[:, -1], spent[np.arange(len(spent)), first]), censored


def correlation(measure: Sequence[float], complexity: np.ndarray, seed: int = 0, resamples: int = 1000) -> tuple[float, float, float]:
    """Spearman correlation of a measure with median sample complexity over worlds, and its 95 % bootstrap interval over worlds.

    Args:
        measure: one number a world [W]; an undefined one (NaN) stands for "hardest", since nothing was found that could be measured.
        complexity: steps [W, S]; censored runs count as what they were given, and so tie at the top.
    """
    x = np.nan_to_num(np.asarray(measure, np.float64), nan=1e300, posinf=1e300)
    y = np.median(complexity, axis=1)
    rho = float(stats.spearmanr(x, y).statistic) if np.ptp(x) > 0 and np.ptp(y) > 0 else float("nan")  # pyright: ignore[reportAttributeAccessIssue]
    rng = np.random.default_rng(seed)
    values = []
    for _ in range(resamples):
        i = rng.integers(0, len(x), len(x))
        if np.ptp(x[i]) > 0 and np.ptp(y[i]) > 0:
            values.append(float(stats.spearmanr(x[i], y[i]).statistic))  # pyright: ignore[reportAttributeAccessIssue]
    low, high = np.quantile(values, [0.025, 0.975]) if values else (np.nan, np.nan)
    return rho, float(low), float(high)


def monotone(worlds: Sequence[Case], measure: Mapping[str, float]) -> dict[str, float]:
    """By knob, the share of neighbouring levels between which a measure does not fall; NaN (undetermined) counts as hardest."""
    out = {}
    for knob in dict.fromkeys(case.knob for case in worlds if case.knob):
        ordered = sorted((case for case in worlds if case.knob == knob), key=lambda case: case.level)
        values = np.nan_to_num([measure[case.name] for case in ordered], nan=1e300, posinf=1e300)
        out[knob] = float((np.diff(values) >= 0).mean())
    return out
