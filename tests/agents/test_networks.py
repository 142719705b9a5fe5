"""Every core: step by step is the same as all at once; the transformer's properties; what the slot core sees and does."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxdiff
from jaxdiff.agents import inputs, table, update
from jaxdiff.agents.config import TrainConfig, WorldConfig, from_json, to_json
from jaxdiff.agents.networks import gru, slots
from jaxdiff.agents.networks.agent import CORES, NetworkConfig, build
from jaxdiff.agents.networks.dense import Dense
from jaxdiff.agents.networks.initial import UNIFORM
from jaxdiff.alchemy.world import Alchemy
from jaxdiff.core.autoreset import reset_batch, step_batch
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError

T, B = 10, 3
SMALL = {"units": 8, "encoder_units": 8, "scorer_units": 8, "layers": 2, "heads": 2, "head_units": 4, "mlp_units": 8, "memory": 4}
ENV = Alchemy(trials=2, steps=3, typed_actions=True)


def played(env, steps, batch, seed=0):
    """Inputs of random play over episode boundaries, [T, B]."""
    params = env.default_params
    step = jax.jit(lambda key, state, action: step_batch(env, key, state, action, params))
    keys = iter(jax.random.split(jax.random.key(seed), 2 * steps + 1))
    observation, state = jax.jit(lambda key: reset_batch(env, jax.random.split(key, batch), params))(next(keys))
    now, out = inputs.start(observation), []
    for _ in range(steps):
        out.append(now)
        action = jax.random.randint(next(keys), (batch,), 0, env.actions, jnp.int32)
        observation, state, reward, ended, _, _ = step(next(keys), state, action)
        now = inputs.following(now, observation, action, reward, ended)
    return jax.tree.map(lambda *x: jnp.stack(x), *out)


@pytest.fixture(scope="module")
def seen():
    return played(ENV, T, B)


@pytest.fixture(scope="module")
def other_play():
    return played(ENV, T, B, seed=5)


def ready(core, seen):
    network = build(NetworkConfig(core, **SMALL), ENV, ENV.default_params)
    first = jax.tree.map(lambda x: x[0], seen)
    parameters = jax.jit(lambda k: network.init(k, network.initial(B), first, method="step"))(jax.random.key(1))
    # Biases and gates away from where they start, so that a mistake in any of them shows.
    leaves, tree = jax.tree.flatten(parameters)
    keys = jax.random.split(jax.random.key(2), len(leaves))
    noisy = [x + 0.3 * jax.random.normal(k, x.shape, x.dtype) for x, k in zip(leaves, keys, strict=True)]
    return network, jax.tree.unflatten(tree, noisy)


@pytest.fixture(scope="module")
def cores(seen):
    """Networks with parameters and their compiled unroll of T steps, by core."""
    out = {}
    for core in CORES:
        network, parameters = ready(core, seen)
        out[core] = network, parameters, jax.jit(lambda p, m, x, network=network: network.apply(p, m, x, method="unroll"))
    return out


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("core", CORES)
def test_unroll_is_step_by_step(core, seen, cores):
    """Over the end of an episode, and in two pieces."""
    network, parameters, unroll = cores[core]
    step = jax.jit(lambda p, m, x: network.apply(p, m, x, method="step"))
    memory, steps = network.initial(B), []
    for t in range(T):
        memory, out = step(parameters, memory, jax.tree.map(lambda x, t=t: x[t], seen))
        steps.append(out)
    wanted = jax.tree.map(lambda *x: jnp.stack(x), *steps)
    last, whole = unroll(parameters, network.initial(B), seen)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5), (last, whole), (memory, wanted))
    middle, first = unroll(parameters, network.initial(B), jax.tree.map(lambda x: x[:5], seen))
    _, second = unroll(parameters, middle, jax.tree.map(lambda x: x[5:], seen))
    jax.tree.map(lambda a, b, c: np.testing.assert_allclose(jnp.concatenate([a, b]), c, rtol=2e-4, atol=2e-5), first, second, whole)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("core", CORES)
def test_nothing_of_an_episode_reaches_the_next(core, seen, other_play, cores):
    network, parameters, unroll = cores[core]
    start = 6
    assert seen.is_first[start].all()
    other = jax.tree.map(lambda x, y: jnp.concatenate([y[:start], x[start:]]), seen, other_play)
    here, there = (unroll(parameters, network.initial(B), x)[1].value for x in (seen, other))
    assert (here[:start] != there[:start]).any()
    np.testing.assert_array_equal(here[start:], there[start:])


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("core", CORES)
def test_every_parameter_has_a_gradient(core, seen):
    network, parameters = ready(core, seen)

    def loss(p):
        out = network.apply(p, network.initial(B), seen, method="unroll")[1]
        return jnp.square(out.value).sum() + jnp.where(out.logits > -1e8, jnp.square(out.logits), 0).sum()

    for path, gradient in jax.tree_util.tree_leaves_with_path(jax.jit(jax.grad(loss))(parameters)):
        assert jnp.abs(gradient).max() > 0, jax.tree_util.keystr(path)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_the_hand_written_gradient(shared):
    """Of the recurrent unit, also where rows of one kind are given the same: B = S = 2, V = 3."""
    keys = jax.random.split(jax.random.key(0), 6)
    x, hidden = (
        jax.random.normal(keys[0], (6, 2, 3, 15) if shared else (6, 4, 15), jnp.float32),
        jax.random.normal(keys[1], (4, 5), jnp.float32),
    )
    kinds = jax.random.randint(keys[5], (6, 2, 2), 0, 3, jnp.int32) if shared else None
    weight, bias = jax.random.normal(keys[2], (5, 15), jnp.float32), jax.random.normal(keys[3], (5,), jnp.float32)
    first, moves = jnp.arange(24).reshape(6, 4) % 7 == 3, jnp.arange(24).reshape(6, 4) % 5 != 2
    mix = jax.random.normal(keys[4], (6, 4, 5), jnp.float32)

    def plain(x, hidden, weight, bias):
        if kinds is not None:
            x = jnp.take_along_axis(x, kinds[..., None], axis=2).reshape(6, 4, 15)

        def step(h, now):
            x, first, move = now
            h = jnp.where(first[:, None], 0, h)
            h = jnp.where(move[:, None], gru.cell(x, h, weight, bias)[0], h)
            return h, h

        last, states = jax.lax.scan(step, hidden, (x, first, moves))
        return (states * mix).sum() + jnp.square(last).sum()

    def ours(x, hidden, weight, bias):
        last, states = gru.unroll(x, kinds, first, moves, hidden, weight, bias)
        return (states * mix).sum() + jnp.square(last).sum()

    same_gradients(plain, ours, x, hidden, weight, bias)


def same_gradients(plain, ours, *arguments):
    """Values and gradients of two functions agree."""
    wanted, found = (jax.value_and_grad(f, argnums=range(len(arguments)))(*arguments) for f in (plain, ours))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), found, wanted)


@pytest.mark.slow
def test_the_hand_written_gradient_of_pairs():
    keys = jax.random.split(jax.random.key(1), 5)
    stones, colours = (jax.random.normal(k, (4, n, 5), jnp.float32) for k, n in zip(keys, (3, 6), strict=False))
    weight, mix = jax.random.normal(keys[2], (5,), jnp.float32), jax.random.normal(keys[3], (4, 3, 6), jnp.float32)
    again = jax.random.normal(keys[4], (4, 3, 5), jnp.float32)

    def plain(stones, colours, weight):
        pairs = jax.nn.relu(stones[:, :, None] + colours[:, None])
        return ((pairs @ weight) * mix).sum() + (pairs.mean(2) * again).sum()

    def ours(*given):
        rated, means = slots.rated_pairs(*given)
        return (rated * mix).sum() + (means * again).sum()

    same_gradients(plain, ours, stones, colours, weight)


@pytest.mark.slow
@pytest.mark.parametrize("units", [1, 9])
def test_the_dense_layer_is_that_of_flax(units):
    x, layer = jax.random.normal(jax.random.key(2), (3, 4, 5), jnp.float32), Dense(units)
    rival = nn.Dense(units, kernel_init=UNIFORM)
    parameters = layer.init(jax.random.key(3), x)
    jax.tree.map(np.testing.assert_array_equal, parameters, rival.init(jax.random.key(3), x))
    same_gradients(*(lambda p, x, m=m: jnp.square(m.apply(p, x) - 1).sum() for m in (rival, layer)), parameters, x)


@pytest.mark.long
@pytest.mark.slow
def test_slots_are_scored_in_blocks_as_at_once(seen):
    network, parameters = ready("slots", seen)
    longer = jax.tree.map(lambda x: jnp.resize(x, (2 * slots.BLOCK, *x.shape[1:])), seen)
    hidden = jax.random.normal(jax.random.key(4), (2 * slots.BLOCK, B, 6, network.core.units), jnp.float32)
    bound = network.bind(parameters)
    blocks, whole = bound.heads.blocks(hidden, longer), bound.heads(hidden, longer)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), blocks, whole)


@pytest.mark.long
@pytest.mark.slow
def test_transformer_starts_near_the_identity(seen):
    """At the start gates let little through: the stream is close to the embedded input."""
    network = build(NetworkConfig("gtrxl", **{**SMALL, "layers": 1}), ENV, ENV.default_params)
    parameters = network.init(jax.random.key(1), network.initial(B), jax.tree.map(lambda x: x[0], seen), method="step")
    bound = network.bind(parameters)
    x = bound.encoder(seen)
    _, out = bound.core.unroll(network.initial(B), x, seen.is_first)
    embedded = bound.core.embed(x)
    assert jnp.linalg.norm(out - embedded) < 0.5 * jnp.linalg.norm(embedded)


@pytest.mark.long
@pytest.mark.slow
def test_transformer_forgets_what_lies_further_back_than_its_memory():
    network = build(NetworkConfig("gtrxl", **{**SMALL, "layers": 1}), ENV, ENV.default_params)
    core = network.core
    x = jax.random.normal(jax.random.key(0), (8, 1, 6), jnp.float32)
    first = jnp.zeros((8, 1), jnp.bool_)
    parameters = core.init(jax.random.key(1), core.initial(1), x, first, method="unroll")
    here = core.apply(parameters, core.initial(1), x, first, method="unroll")[1]
    there = core.apply(parameters, core.initial(1), x.at[0].add(1.0), first, method="unroll")[1]
    same = (here == there).all(-1)[:, 0]
    assert same.tolist() == [False] * 5 + [True] * 3  # memory 4: steps 0 to 4 see the first one


# The table.


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("typed", [False, True])
def test_the_table_is_read_as_it_lies(typed):
    env = Alchemy(typed_actions=typed, mask=True)
    shown = table.interface(env)
    keys = jax.random.split(jax.random.key(3), 40)
    _, state = env.reset(keys[0])
    step = jax.jit(env.step_env)
    for key in keys[1:]:
        action = jax.random.randint(key, (), 0, env.actions, jnp.int32)
        observation, state, _, _, _, info = step(key, state, action, env.default_params)
        seen = shown.read(observation)
        np.testing.assert_array_equal(shown.possible_actions(seen), info["action_mask"])
        typed_state = Alchemy(typed_actions=True, mask=True)._possible(state)
        np.testing.assert_array_equal(shown.possible(seen), typed_state)


def test_counts_and_slots_say_the_same():
    slots, counted = Alchemy(typed_actions=True), Alchemy(typed_actions=True, counts=True)
    a, b = (table.interface(env).read(env.reset(jax.random.key(0))[0]) for env in (slots, counted))
    np.testing.assert_array_equal(a.counts, b.counts)
    np.testing.assert_array_equal(a.stones, b.stones)


def test_pointing_takes_the_first_slot_of_a_colour():
    env = Alchemy()
    shown = table.interface(env)
    observation, _state = env.reset(jax.random.key(4))
    seen = shown.read(observation)
    choices = jnp.arange(22, dtype=jnp.float32)
    pointed = np.asarray(shown.point(choices, seen, -1e9))
    colours = np.asarray(seen.colours).tolist()
    for action in range(40):
        stone, colour = (int(x) for x in shown.choice(jnp.int32(action), seen))
        if action == 0:
            assert pointed[0] == 0
        elif colour < 0:
            assert pointed[action] == 1 + 7 * stone
        else:
            slot = (action - 1) % 13 - 1
            first = colours.index(colour) == slot
            assert pointed[action] == (2 + 7 * stone + colour if first else np.float32(-1e9))


@pytest.mark.long
@pytest.mark.slow
def test_both_interfaces_are_one_policy():
    """The benchmark's 40 actions and the 22 by colour: same parameters, same probabilities of what is done."""
    by_slot, by_colour = Alchemy(), Alchemy(typed_actions=True)
    config = NetworkConfig("slots", **SMALL)
    one, other = build(config, by_slot, by_slot.default_params), build(config, by_colour, by_colour.default_params)
    observation = jax.vmap(lambda k: by_slot.reset(k)[0])(jax.random.split(jax.random.key(0), B))
    first = inputs.start(observation)
    parameters = one.init(jax.random.key(1), one.initial(B), first, method="step")
    a, b = (jax.nn.softmax(n.apply(parameters, n.initial(B), first, method="step")[1].logits) for n in (one, other))
    seen = table.interface(by_slot).read(observation)
    for row in range(B):
        summed, its = np.zeros(22), jax.tree.map(lambda x, row=row: x[row], seen)
        for action in range(40):
            stone, colour = (int(x) for x in table.interface(by_slot).choice(jnp.int32(action), its))
            if action == 0 or colour < 6:
                summed[0 if action == 0 else 2 + 7 * stone + colour] += a[row, action]
        np.testing.assert_allclose(summed, b[row], atol=1e-6)


@pytest.mark.long
@pytest.mark.slow
def test_slots_hear_of_uses_only_and_never_of_a_hidden_outcome(seen):
    network, parameters = ready("slots", seen)
    told, _, used = network.bind(parameters).encoder(seen)
    assert not used[seen.is_first].any()
    assert not used[seen.clock % ENV.steps == 0].any()
    assert used.any()
    assert not told[~used].any()


@pytest.mark.long
@pytest.mark.slow
def test_renaming_colours_renames_slots():
    """Pairs of colours may be exchanged, and the two of a pair: slots follow. Nothing is known of a colour but what it did."""
    env = Alchemy(typed_actions=True)
    config = NetworkConfig("slots", **SMALL)
    network = build(config, env, env.default_params)
    seen = played(env, 12, B)
    parameters = network.init(jax.random.key(1), network.initial(B), jax.tree.map(lambda x: x[0], seen), method="step")
    order = np.array([3, 2, 0, 1, 4, 5])  # new name of every colour

    def renamed(observation, before):
        colour = np.rint(np.asarray(before[..., 15::2]) * 3 + 3).astype(int)
        new = np.where(colour < 6, order[np.minimum(colour, 5)], 6)
        return jnp.asarray(observation).at[..., 15::2].set((new - 3) / np.float32(3))

    stone, target = np.divmod(np.maximum(np.asarray(seen.action) - 1, 0), 7)
    action = np.where(np.asarray(seen.action) > 0, 1 + 7 * stone + np.where(target > 0, 1 + order[np.maximum(target - 1, 0)], 0), 0)
    other = inputs.Inputs(
        renamed(seen.observation, seen.observation),
        renamed(seen.before, seen.before),
        action.astype(np.int32),
        seen.reward,
        seen.is_first,
        seen.clock,
    )
    here, there = (network.apply(parameters, network.initial(B), x, method="unroll")[1] for x in (seen, other))
    np.testing.assert_allclose(there.hidden[:, :, order], here.hidden, atol=1e-6)
    np.testing.assert_allclose(there.value, here.value, atol=1e-5)


# Any world.


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SAECA-v0", "Alchemy-v0"])
@pytest.mark.parametrize("core", ["gru", "lstm", "gtrxl"])
def test_flat_networks_know_every_single_agent_world(name, core):
    env, params = jaxdiff.make(name)
    network = build(NetworkConfig(core, **SMALL), env, params)
    observation = jax.vmap(lambda k: env.reset(k, params)[0])(jax.random.split(jax.random.key(0), 2))
    space = env.action_space(params)
    first = inputs.start(observation, space.shape)
    parameters = jax.eval_shape(lambda: network.init(jax.random.key(1), network.initial(2), first, method="step"))
    _, out = jax.eval_shape(lambda p: network.apply(p, network.initial(2), first, method="step"), parameters)
    assert out.logits.shape == (2, space.n if hasattr(space, "n") else sum(space.sizes))
    assert out.value.shape == (2,)


@pytest.mark.host
def test_refusals():
    saeca, params = jaxdiff.make("SAECA-v0")
    with pytest.raises(InputError, match="core is"):
        build(NetworkConfig("slots"), saeca, params)
    with pytest.raises(InputError, match="core is 'rnn'; allowed: one of slots, gru, lstm, gtrxl"):
        NetworkConfig("rnn")
    with pytest.raises(InputError, match="end_trial"):
        build(NetworkConfig("slots"), Alchemy(end_trial=True), Alchemy(end_trial=True).default_params)
    with pytest.raises(InputError, match="units is 0"):
        NetworkConfig(units=0)

    class Pictures(Environment):
        name = "Pictures"

        def observation_space(self, params):
            return jaxdiff.core.spaces.Box(0.0, 1.0, (8, 8))

    with pytest.raises(InputError, match="Pictures"):
        build(NetworkConfig("gru"), Pictures(), None)


@pytest.mark.slow
def test_one_seat_among_several_agents():
    """All of them at once are refused in one sentence; one of them can be trained."""
    world = WorldConfig.of("Lambda-v0", agents=3)
    with pytest.raises(InputError, match=r"rewards of shape \(3,\) a step; allowed: one reward a step; core.seat.OneSeat takes one"):
        build(NetworkConfig("gru"), *world.make())
    config = TrainConfig(WorldConfig.of("Lambda-v0", agents=3, seat=True), NetworkConfig("gru", **SMALL), environments=4, steps=5)
    program = update.Program(from_json(to_json(config)))
    state = jax.eval_shape(lambda key: update.start(program, key), jax.random.key(0))
    after, numbers = jax.eval_shape(lambda state: update.update(program, state, jnp.float32(0)), state)
    assert jax.tree.map(lambda x: (x.shape, x.dtype), after) == jax.tree.map(lambda x: (x.shape, x.dtype), state)
    assert numbers["loss"].shape == ()
