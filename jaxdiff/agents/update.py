"""One update: a rollout, then passes over it in minibatches of whole environments. A pure function of a `TrainState`.

On several devices every device has its own environments; gradients and numbers are averaged. Axes: T steps, B environments (of a device).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxdiff.agents import auxiliary, inputs, objectives, teacher
from jaxdiff.agents.config import TrainConfig
from jaxdiff.agents.networks.agent import build
from jaxdiff.agents.networks.encoders import sizes_of
from jaxdiff.agents.rollout import Running, Trajectory, collect
from jaxdiff.agents.state import TrainState
from jaxdiff.agents.teacher import Lesson, Shown
from jaxdiff.core.autoreset import reset_batch

Numbers = dict[str, jax.Array]
BATCHED = ("memory", "inputs", "world", "returns")  # fields of the state that have an axis of environments


@dataclass(frozen=True)
class Program:
    """A configuration made ready: world, network, heads. Hashes by value, so equal configurations share one compilation."""

    config: TrainConfig

    @property
    def env(self) -> Any:
        """The world."""
        return self.config.world.make()[0]

    @property
    def network(self) -> Any:
        """The network."""
        env, params = self.config.world.make()
        return build(self.config.network, env, params)

    @property
    def heads(self) -> auxiliary.Heads:
        """Auxiliary heads."""
        return auxiliary.Heads(self.config.auxiliary, self.config.network.core == "slots")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Choices of every part of an action."""
        env, params = self.config.world.make()
        return sizes_of(env.action_space(params), "action")

    @property
    def optimiser(self) -> optax.GradientTransformation:
        """Clipped Adam with rate 1; the rate of the moment multiplies what it says."""
        algorithm = self.config.algorithm
        return optax.chain(optax.clip_by_global_norm(algorithm.gradient_norm), optax.scale_by_adam(eps=algorithm.adam_epsilon))


def start(program: Program, key: jax.Array, environments: int | None = None) -> TrainState:
    """The state before the first update.

    Args:
        program: what is trained.
        key: consumed.
        environments: B, the configuration's when None.
    """
    config, env, network = program.config, program.env, program.network
    params = env.default_params
    count = config.environments if environments is None else environments
    key_net, key_heads, key_world, key = jax.random.split(key, 4)
    observation, world = reset_batch(env, jax.random.split(key_world, count), params)
    sizes = program.sizes
    first = inputs.start(observation, () if len(sizes) == 1 else (len(sizes),))
    memory = network.initial(count)
    parameters = network.init(key_net, memory, first, method="step")
    learned = {"network": parameters, "duals": objectives.start_duals(config.algorithm), "auxiliary": {}}
    if config.auxiliary:
        _, out = jax.eval_shape(lambda p: network.apply(p, memory, first, method="step"), parameters)
        learned["auxiliary"] = program.heads.init(key_heads, jnp.zeros(out.hidden.shape, jnp.float32))
    return TrainState(
        learned=learned,
        acting=jax.tree.map(jnp.array, parameters) if config.algorithm.name == "vmpo" else None,
        optimiser=program.optimiser.init(learned),
        memory=memory,
        inputs=first,
        world=world,
        returns=jnp.zeros((count,), jnp.float32),
        key=jax.random.key_data(key),
        updates=jnp.zeros((), jnp.int32),
    )


def update(
    program: Program, state: TrainState, progress: jax.Array, lesson: Lesson | None = None, axis: str | None = None
) -> tuple[TrainState, Numbers]:
    """One update.

    Args:
        program: what is trained.
        state: before.
        progress: share of the budget that is spent, float32 [], for the schedules.
        lesson: the teacher's, where the configuration has one.
        axis: name of the devices' axis, inside `shard_map`.

    Returns:
        state, and numbers, float32 [] each; `trial_scores` float32 [trials] where an episode of Alchemy is one rollout.
    """
    config = program.config
    key = jax.random.wrap_key_data(state.key)
    keys = jax.random.split(key, 2 if lesson is None else 3)
    key_rollout, key_next = keys[0], keys[1]
    if axis is not None:
        key_rollout = jax.random.fold_in(key_rollout, jax.lax.axis_index(axis))
    acting = state.learned["network"] if state.acting is None else state.acting
    running, rollout = collect(
        program.network,
        program.env,
        program.env.default_params,
        program.sizes,
        acting,
        Running(state.memory, state.inputs, state.world),
        key_rollout,
        config.steps,
        config.algorithm.reward_scale,
        config.auxiliary,
    )
    shown = None
    if lesson is not None:
        key_lesson = keys[2] if axis is None else jax.random.fold_in(keys[2], jax.lax.axis_index(axis))
        count = rollout.value.shape[1]
        shown = teacher.show(program.env, program.env.default_params, lesson, key_lesson, count, config.algorithm.reward_scale)
    learned, optimiser, numbers = _learn(program, state.learned, state.optimiser, rollout, shown, progress, axis)
    returns, scores = _scores(state.returns, rollout)
    numbers |= _episodes(program, rollout, scores, axis)
    updates = state.updates + 1
    if state.acting is not None:
        due = updates % config.algorithm.target_period == 0
        acting = jax.tree.map(lambda new, old: jnp.where(due, new, old), learned["network"], state.acting)
    after = TrainState(
        learned=learned,
        acting=None if state.acting is None else acting,
        optimiser=optimiser,
        memory=running.memory,
        inputs=running.inputs,
        world=running.world,
        returns=returns,
        key=jax.random.key_data(key_next),
        updates=updates,
    )
    return after, numbers


def _learn(
    program: Program, learned: Any, optimiser: Any, rollout: Trajectory, shown: Shown | None, progress: jax.Array, axis: str | None
) -> tuple[Any, Any, Numbers]:
    """All epochs and minibatches."""
    algorithm = program.config.algorithm
    goal = objectives.targets(algorithm, rollout, axis)
    count = rollout.value.shape[1]
    left = 1 - progress
    rate = algorithm.last_learning_rate + left * (algorithm.learning_rate - algorithm.last_learning_rate)
    entropy = algorithm.last_entropy + left * (algorithm.entropy - algorithm.last_entropy)

    def step(carry: tuple[Any, Any], chosen: jax.Array) -> tuple[tuple[Any, Any], Numbers]:
        learned, optimiser = carry
        part, part_goal = _environments((rollout, goal), chosen)
        if shown is None:
            gradients, numbers = jax.grad(_loss, argnums=1, has_aux=True)(program, learned, part, part_goal, entropy)
        else:
            some = jax.tree.map(lambda x: jnp.take(x, chosen, axis=1), shown)
            gradients, numbers = _taught(program, learned, part, part_goal, entropy, some, progress)
        if axis is not None:
            gradients = jax.lax.pmean(gradients, axis)
        steps, optimiser = program.optimiser.update(gradients, optimiser)
        learned = jax.tree.map(lambda p, s: p - rate * s, learned, steps)
        return (learned, optimiser), {**numbers, "gradient_norm": _norm(gradients)}

    orders = _orders(algorithm.epochs, algorithm.minibatches, count)
    (learned, optimiser), numbers = jax.lax.scan(step, (learned, optimiser), jnp.asarray(orders))
    numbers = jax.tree.map(lambda x: x.mean(), numbers)
    return learned, optimiser, jax.lax.pmean(numbers, axis) if axis is not None else numbers


def _taught(
    program: Program,
    learned: Any,
    part: Trajectory,
    goal: objectives.Targets,
    entropy: jax.Array,
    shown: Shown,
    progress: jax.Array,
) -> tuple[Any, Numbers]:
    """Gradients and numbers where there is a teacher: those of reward and of the teacher together, or of the teacher alone.

    A teacher whose weight has fallen to 0 costs nothing more.
    """
    config = program.config.teacher
    assert config is not None

    def pull(learned: Any) -> tuple[jax.Array, Any]:
        memory = program.network.initial(shown.action.shape[1])

        def loss(learned: Any) -> jax.Array:
            _, out = program.network.apply(learned["network"], memory, shown.inputs, method="unroll")
            return teacher.loss(out.logits, shown.action, program.sizes)

        return jax.value_and_grad(loss)(learned)

    if config.imitate:
        found, gradients = pull(learned)
        weight = jnp.float32(config.weight)
        return jax.tree.map(lambda g: weight * g, gradients), {"teacher": found, "loss": weight * found}
    weight = jnp.float32(config.weight) * jnp.maximum(1 - progress / jnp.float32(config.until), 0)
    gradients, numbers = jax.grad(_loss, argnums=1, has_aux=True)(program, learned, part, goal, entropy)
    nothing = (jnp.float32(jnp.nan), jax.tree.map(jnp.zeros_like, learned))
    found, pulled = jax.lax.cond(weight > 0, pull, lambda _: nothing, learned)
    gradients = jax.tree.map(lambda g, p: g + weight * p, gradients, pulled)
    return gradients, {**numbers, "teacher": found, "loss": numbers["loss"] + jnp.where(weight > 0, weight * found, 0)}


def _orders(epochs: int, minibatches: int, count: int) -> np.ndarray:
    """Which environments form every minibatch, int32 [epochs x minibatches, B / minibatches].

    Environments are exchangeable, so groups that are drawn once and kept are as good as fresh ones, and need no sorting on the device.
    """
    rng = np.random.default_rng(0)
    return np.concatenate([rng.permutation(count) for _ in range(epochs)]).reshape(epochs * minibatches, -1).astype(np.int32)


def _norm(tree: Any) -> jax.Array:
    return jnp.sqrt(sum((jnp.square(x).sum() for x in jax.tree.leaves(tree)), jnp.zeros((), jnp.float32)))


def _environments(tree: tuple[Trajectory, objectives.Targets], chosen: jax.Array) -> Any:
    """Some environments of a rollout; memory and the last value have no axis of steps."""
    rollout, goal = tree
    fields = {name: getattr(rollout, name) for name in ("memory", "last_value")}
    taken = jax.tree.map(lambda x: jnp.take(x, chosen, axis=1), (_without(rollout), goal))
    first = jax.tree.map(lambda x: jnp.take(x, chosen, axis=0), fields)
    return Trajectory(**taken[0], **first), taken[1]


def _without(rollout: Trajectory) -> dict[str, Any]:
    names = ("inputs", "action", "logits", "value", "reward", "raw_reward", "ended", "labels")
    return {name: getattr(rollout, name) for name in names}


def _loss(program: Program, learned: Any, rollout: Trajectory, goal: objectives.Targets, entropy: jax.Array) -> tuple[jax.Array, Numbers]:
    _, out = program.network.apply(learned["network"], rollout.memory, rollout.inputs, method="unroll")
    total, numbers = objectives.loss(program.config.algorithm, program.sizes, out, rollout, goal, learned["duals"], entropy)
    if program.config.auxiliary:
        predicted = program.heads.apply(learned["auxiliary"], out.hidden)
        for name, loss in auxiliary.losses(predicted, rollout.labels).items():  # pyright: ignore[reportArgumentType]
            total += np.float32(program.config.auxiliary_weight) * loss
            numbers[f"auxiliary_{name}"] = loss
    return total, {**numbers, "loss": total}


def _scores(returns: jax.Array, rollout: Trajectory) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    """Running sums after the rollout [B]; sum over the episodes that ended, and their number."""

    def step(carry: tuple[jax.Array, ...], now: tuple[jax.Array, jax.Array]) -> tuple[tuple[jax.Array, ...], None]:
        running, total, count = carry
        reward, ended = now
        running += reward
        total += jnp.where(ended, running, 0).sum(dtype=jnp.float32)
        return (jnp.where(ended, 0, running), total, count + ended.sum(dtype=jnp.float32)), None

    zero = jnp.zeros((), jnp.float32)
    (running, total, count), _ = jax.lax.scan(step, (returns, zero, zero), (rollout.raw_reward, rollout.ended))
    return running, (total, count)


def _episodes(program: Program, rollout: Trajectory, scores: tuple[jax.Array, jax.Array], axis: str | None) -> Numbers:
    """Score per episode; NaN where none ended, which the host leaves out."""
    total, count = scores if axis is None else jax.lax.psum(scores, axis)
    numbers = {"score": total / count, "episodes": count}
    env = program.env
    trials = getattr(env, "trials", 0)
    if trials and trials * env.steps == program.config.steps:
        each = rollout.raw_reward.reshape(trials, env.steps, -1).sum(1).mean(-1)
        numbers["trial_scores"] = each if axis is None else jax.lax.pmean(each, axis)
    return numbers
