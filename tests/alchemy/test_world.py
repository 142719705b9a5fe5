import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from matplotlib.axes import Axes

import jaxdiff
from jaxdiff.alchemy import belief, chemistry, documentation, graphs, inputs, layout, levels, picture, probes, world
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.core.autoreset import reset_batch, step_batch
from jaxdiff.core.errors import InputError

PLAIN = Chemistry(graphs.COMPLETE, chemistry.IDENTITY_POTION_MAP, chemistry.IDENTITY_STONE_MAP, 0)
STONES = np.array([[6, 0, 7], [7, 7, 0]])
POTIONS = np.tile([1, 0, 3, 2, 5, 4], (2, 2))
SMALL = {"trials": 2, "steps": 4}
MANY = jax.tree.map(lambda x: np.full(3, x), PLAIN)


def start(**options):
    env = world.Alchemy(**{**SMALL, **options})
    obs, state = env.reset_with(PLAIN, STONES, POTIONS)
    return env, jax.jit(env.step_env), obs, state


def with_graph(graph):
    return dataclasses.replace(world.Alchemy().default_params, graph=graph)


def replay_of(chemistry=PLAIN, stones=STONES, potions=POTIONS, actions=((0,),)):
    return probes.replay(world.Alchemy(**SMALL), chemistry, stones[None], potions[None], actions)


@pytest.fixture(scope="module")
def fresh():
    """Twenty thousand episodes of two trials."""
    env = world.Alchemy(rotation=True, trials=2)
    return jax.jit(jax.vmap(env.reset_env, in_axes=(0, None)))(jax.random.split(jax.random.key(0), 20_000), env.default_params)


def test_sampled_items_are_uniform_and_independent(fresh):
    """Chi-square tests at 99.9 % confidence: corners, colours, pairs of neighbouring slots; +15 stones are not left out."""
    _, state = fresh
    stones = np.asarray(layout.unpack_stones(state.items[..., 0]))
    potions = np.asarray(layout.unpack_potions(tuple(state.items[..., 1 + i] for i in range(3))))
    assert scipy.stats.chisquare(np.bincount(stones.ravel(), minlength=9)[:8]).pvalue > 1e-3
    assert scipy.stats.chisquare(np.bincount(potions.ravel(), minlength=6)).pvalue > 1e-3
    assert potions.max() == 5
    for a, b, n in [(stones[..., 0], stones[..., 1], 8), *((potions[..., i], potions[..., i + 1], 6) for i in range(11))]:
        assert scipy.stats.chisquare(np.bincount((n * a + b).ravel(), minlength=n * n)).pvalue > 1e-4
    share = (stones == 7).any(-1).mean()
    assert share == pytest.approx(1 - (7 / 8) ** 3, abs=0.01)
    assert scipy.stats.chisquare(np.bincount(np.asarray(state.chemistry.rotation), minlength=4)).pvalue > 1e-3


def test_everything_is_in_the_observation_space(fresh):
    env = world.Alchemy(rotation=True, trials=2)
    assert bool(env.observation_space(env.default_params).contains(fresh[0]))
    assert fresh[0].dtype == jnp.float32


def test_an_episode_by_hand():
    env, step, obs, state = start()
    third = np.float32(1 / 3)
    assert obs[:5].tolist() == [-1, 1, 1, third, 0]
    assert obs[15:21].tolist() == pytest.approx([-2 / 3, 0, -1, 0, 0, 0])
    play = [(1 + 0, 1.0, (False, 0)), (1 + 26 + 1, 0.0, (False, 0)), (1 + 13 + 1, 0.0, (False, 0)), (1 + 26, 15.0, (True, 1))]
    for action, value, (new, trial) in play:  # cash +1; a potion that does nothing to +15; that potion is gone; cash +15
        obs, state, reward, terminated, truncated, info = step(jax.random.key(0), state, action, env.default_params)
        assert (float(reward), bool(terminated), bool(truncated)) == (value, False, False)
        assert (bool(info["new_trial"]), int(info["trial"])) == (new, trial)
    assert obs[:5].tolist() == [1, 1, 1, 1, 0], "the last step of a trial shows the next one's stones"
    for _ in range(4):
        obs, state, reward, terminated, _, info = step(jax.random.key(0), state, 0, env.default_params)
    assert (bool(terminated), int(info["trial"]), bool(info["new_trial"])) == (True, -1, False)
    assert obs[:5].tolist() == [1, 1, 1, 1, 0], "what is left of the last trial"
    after, state, reward, terminated, *_ = step(jax.random.key(0), state, 1, env.default_params)
    assert (float(reward), bool(terminated), after.tolist()) == (0.0, True, obs.tolist()), "nothing happens after the end"
    assert int(state.step) == 0, "the clock stands still too"


def test_absent_items_are_no_ops_and_strange_actions_too():
    env, step, _, state = start()
    _, state, *_ = step(jax.random.key(0), state, 1, env.default_params)
    before = jax.tree.leaves(dataclasses.replace(state, step=0))
    for action in (1, 2, 40, 10**6, -1, -(10**6)):
        _, after, reward, *_ = step(jax.random.key(0), state, action, env.default_params)
        assert float(reward) == 0
        assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(dataclasses.replace(after, step=0)), before, strict=True)), action


def test_reward_weights_and_shaping():
    env, step, _, state = start()
    params = dataclasses.replace(env.default_params, coefficients=np.float32([2, 1, 1]), offset=np.float32(0.5), bonus=np.float32(1))
    params = dataclasses.replace(params, per_potion=np.float32(0.25))
    assert env.values(params).tolist() == [-3.5, 0.5, -1.5, 2.5, -1.5, 2.5, 0.5, 5.5]
    assert env.values(env.default_params).tolist() == [-3, -1, -1, 1, -1, 1, 1, 15]
    _, state, reward, *_ = step(jax.random.key(0), state, 2, params)
    assert float(reward) == 0.25
    assert float(step(jax.random.key(0), state, 1, params)[2]) == 5.5
    many = jax.tree.map(lambda x: jnp.stack([jnp.asarray(x)] * 3), params)
    many = dataclasses.replace(many, per_potion=jnp.arange(3, dtype=jnp.float32))
    assert jax.vmap(lambda p: env.step_env(jax.random.key(0), state, 3, p)[2])(many).tolist() == [0, 1, 2]


def test_end_trial():
    env, step, _, state = start(end_trial=True)
    assert env.action_space(env.default_params).n == 41
    _obs, state, reward, terminated, _, info = step(jax.random.key(0), state, 0, env.default_params)
    assert (float(reward), bool(terminated), bool(info["new_trial"]), int(info["trial"]), int(state.step)) == (0, False, True, 1, 0)
    *_, reward, terminated, _, _ = step(jax.random.key(0), state, 2, env.default_params)
    assert (float(reward), bool(terminated)) == (15.0, False)
    assert bool(step(jax.random.key(0), state, 0, env.default_params)[3])


def test_departures():
    """Typed actions, colour counts, clock, mask, no used flags."""
    env, step, obs, state = start(typed_actions=True, counts=True, clock=True, mask=True, observe_used=False)
    assert env.actions == 22
    assert obs.shape == (12 + 6 + 2,) == env.observation_space(env.default_params).shape
    assert obs[12:].tolist() == pytest.approx([2 / 12] * 6 + [0, 0])
    slot, slot_step, _, slot_state = start()
    kind = 1  # green: up on axis 0
    action = 1 + 0 * 7 + 1 + kind
    obs, state, _, _, _, info = step(jax.random.key(0), state, action, env.default_params)
    _, slot_state, *_ = slot_step(jax.random.key(0), slot_state, 1 + 1, slot.default_params)
    assert int(state.stones) == int(slot_state.stones)
    assert [int(w) for w in state.potions] == [int(w) for w in slot_state.potions], "the first slot that holds the colour"
    assert obs[12:].tolist() == pytest.approx([2 / 12, 1 / 12, 2 / 12, 2 / 12, 2 / 12, 2 / 12, 0, 1 / 4])
    assert info["action_mask"].all()
    obs, state, *_ = step(jax.random.key(0), state, action, env.default_params)
    *_, info = step(jax.random.key(0), state, 1, env.default_params)
    mask = info["action_mask"].tolist()
    assert mask[:8] == [True, *[False] * 7], "the first stone is gone"
    assert mask[8:15] == [True, True, False, True, True, True, True], "and so is the colour"


def test_mask_of_slots_says_what_changes_the_table():
    env, step, _, state = start(mask=True, end_trial=True)
    rng = np.random.default_rng(0)
    for action in rng.integers(2, 41, 3):
        _, state, _, _, _, info = step(jax.random.key(0), state, int(action), env.default_params)
    every = jax.vmap(lambda a: env.act(state, a, env.default_params)[0])(jnp.arange(41, dtype=jnp.int32))
    changed = (every.stones != state.stones) | jnp.stack([a != b for a, b in zip(every.potions, state.potions, strict=True)]).any(0)
    assert info["action_mask"].tolist() == [True, True, *changed.tolist()[2:]]


def test_fewer_items_keep_their_slots():
    env = world.Alchemy(stones=1, potions=5, trials=3)
    obs, state = env.reset(jax.random.key(0))
    assert obs[5:15].tolist() == [2, 2, 2, 2, 1] * 2
    assert obs[25:].tolist() == [1.0] * 14
    assert (np.asarray(layout.unpack_potions(state.potions)) < 6).tolist() == [True] * 5 + [False] * 7
    given, _ = env.reset_with(PLAIN, np.zeros((3, 1), int), np.ones((3, 5), int))
    assert given[5:15].tolist() == [2, 2, 2, 2, 1] * 2


def test_fixed_parts_of_the_chemistry_are_parameters():
    env = world.Alchemy(trials=1)
    params = dataclasses.replace(env.default_params, graph=np.arange(109, dtype=np.int32))
    axes = dataclasses.replace(jax.tree.map(lambda _: None, env.default_params), graph=0)
    begin = jax.jit(jax.vmap(env.reset_env, in_axes=(None, axes)))
    _, state = begin(jax.random.key(0), params)
    assert state.chemistry.graph.tolist() == list(range(109))
    beyond = dataclasses.replace(params, graph=jnp.arange(109, dtype=jnp.int32) + 50)
    assert begin(jax.random.key(0), beyond)[1].chemistry.graph.tolist() == np.minimum(np.arange(109) + 50, 108).tolist()


def test_transformations_may_rebuild_parameters_with_anything():
    params = world.Alchemy().default_params
    for value in (None, True, object(), jax.ShapeDtypeStruct((2,), jnp.int32), (), (500,), np.zeros(3, jax.dtypes.float0)):
        assert jax.tree.map(lambda _, value=value: value, params).graph is value
    gradient = jax.grad(lambda p: jnp.asarray(p.offset) * 2, allow_int=True)(params)
    assert float(gradient.offset) == 2
    assert dataclasses.replace(params, graph=[3, -1]).graph == [3, -1]


@pytest.mark.long
@pytest.mark.slow
def test_shown_contents_may_be_drawn():
    see = ("ground_truth", [("unknown", 1), ("ground_truth", 3)], "none", "belief", "marginals")
    env = world.Alchemy(see=see, trials=1)
    obs, state = jax.jit(jax.vmap(env.reset_env, in_axes=(0, None)))(jax.random.split(jax.random.key(0), 2000), env.default_params)
    assert obs.shape[-1] == 39 + 12 + 6 + 3 + 4 == len(env.observation_entries(env.default_params))
    truth = jax.vmap(chemistry.to_vector)(state.chemistry)
    np.testing.assert_array_equal(obs[:, 39:51], truth[:, :12])
    unknown = (np.asarray(obs[:, 51:57]) == 0.5).all(-1)
    assert unknown.mean() == pytest.approx(0.25, abs=0.04)
    np.testing.assert_array_equal(obs[~unknown, 51:57], truth[~unknown, 12:18])
    np.testing.assert_array_equal(obs[:, 60:], truth[:, 24:])
    with pytest.raises(InputError, match="key is None"):
        env.reset_with(PLAIN, STONES[:1], POTIONS[:1])
    acts = np.ones((1, 9), int)
    found, plain = (probes.replay(e, PLAIN, STONES[None, :1], POTIONS[None, :1], acts) for e in (env, world.Alchemy(trials=1)))
    assert found.score.tolist() == plain.score.tolist() == [[1]], "a replay looks at no observation and needs no draw"


@pytest.mark.slow
def test_auto_reset_is_fresh_and_keeps_the_last_observation():
    env = world.Alchemy(trials=1, steps=3)
    params = env.default_params
    obs, state = reset_batch(env, jax.random.split(jax.random.key(0), 4), params)
    step = jax.jit(lambda k, s, a: step_batch(env, k, s, a, params))
    starts = [obs]
    for t in range(6):
        before = obs
        obs, state, _, terminated, _, info = step(jax.random.key(t), state, jnp.zeros(4, jnp.int32))
        assert terminated.all() == (t % 3 == 2)
        np.testing.assert_array_equal(info["final_observation"], before)
        starts += [obs] if t % 3 == 2 else []
    assert len({tuple(row) for s in starts for row in s.tolist()}) == 12


def test_protocol():
    env, params = jaxdiff.make("Alchemy-v0", see="belief", rotation=True, mask=True)
    obs, state = jax.eval_shape(env.reset, jax.random.key(0), params)
    new_obs, new_state, reward, terminated, truncated, info = jax.eval_shape(env.step, jax.random.key(0), state, jnp.int32(0), params)
    assert (obs, state) == (new_obs, new_state)
    assert info["final_observation"] == obs
    assert (reward.dtype, terminated.dtype, truncated.dtype) == (jnp.float32, jnp.bool_, jnp.bool_)
    assert env == world.Alchemy(see="belief", rotation=True, mask=True)
    assert hash(env) == hash(world.Alchemy(see=["belief"] * 5, rotation=True, mask=True))
    assert env == world.Alchemy(see=((("belief", 2.0),),) * 5, rotation=True, mask=True)


@pytest.mark.host
def test_levels():
    full = levels.level("alchemy/perceptual_mapping_randomized_with_rotation_and_random_bottleneck", trials=3)
    assert (full.rotation, full.bottlenecks, full.random_maps, full.trials) == (True, "random", True, 3)
    fixed = levels.level("all_fixed_bottleneck1")
    assert (fixed.rotation, fixed.bottlenecks, fixed.random_maps) == (False, 1, False)
    assert int(fixed.default_params.potion_map) == chemistry.IDENTITY_POTION_MAP
    assert levels.level("perceptual_mapping_randomized").bottlenecks == "none"
    assert [levels.level(name) for name in levels.LEVELS]
    turned = levels.level("all_fixed_bottleneck2_and_rotation")
    assert (turned.rotation, turned.bottlenecks) == (True, 2)
    strange = (
        "everything_random",
        "all_fixed_bottleneck4",
        "all_fixed_rotations",
        "all_fixedrotation",
        "all_fixed_with_and",
        "all_fixed_",
        3,
    )
    for name in (*strange, "all_fixed_rotation_rotation", "all_fixed_bottleneck1_bottleneck2", "x_all_fixed", "all_fixed__rotation"):
        with pytest.raises(InputError, match="level is"):
            levels.level(name)
    with pytest.raises(InputError, match=r"did you mean perceptual_mapping_randomized_with_rotation\?\)$"):
        levels.level("alchemy/perceptual_mapping_randomised_with_rotation")
    with pytest.raises(InputError, match="foo is 1; allowed: one of the fields of Alchemy-v0"):
        levels.level("all_fixed", foo=1)


@pytest.mark.host
def test_the_page_of_observation_entries_is_up_to_date():
    assert documentation.PAGE.read_text() == documentation.page()
    assert "| 15 to 26 | stone 1 into potion 0 to 11 |" in documentation.page()
    assert "| 16 to 21 | stone 2 into red, " in documentation.page()
    for env in (world.Alchemy(see="marginals", clock=True), world.Alchemy(counts=True, observe_used=False)):
        entries = env.observation_entries(env.default_params)
        assert len(set(entries)) == len(entries) == env.observation_space(env.default_params).shape[0]


def test_pictures(tmp_path):
    env, _, _, state = start()
    frames = picture.episode(env, state, [2, 1])
    assert {(f.shape, f.dtype) for f in frames} == {((330, 740, 3), np.dtype(np.uint8))}
    assert len({f.tobytes() for f in frames}) == 3
    np.testing.assert_array_equal(frames[0], env.render(state, env.default_params))
    assert picture.strip(frames, 2).shape == (660, 1480, 3)
    np.testing.assert_array_equal(picture.strip(np.stack(frames), 2), picture.strip(frames, 2))
    assert picture.gif(tmp_path / "episode.gif", frames).stat().st_size > 1000
    assert picture.topologies().dtype == np.uint8
    assert [size for _, size in picture.topology_classes()] == [1, 12, 6, 6, 12, 24, 24, 24]


def test_pictures_say_what_a_stone_is_worth_and_which_it_is(monkeypatch):
    words = []
    write = Axes.text
    monkeypatch.setattr(Axes, "text", lambda self, x, y, s, **style: words.append(s) or write(self, x, y, s, **style))
    env, _, _, state = start()
    params = dataclasses.replace(env.default_params, bonus=np.float32(0), offset=np.float32(-4.5))
    env.render(state, params)
    assert {"−3.5", "−7.5", "−1.5", "stone 0", "stone 1", "stone 2"} <= set(words)
    assert not {"+15", "+1", "−3"} & set(words)
    _, _, _, state = start()
    words.clear()
    picture.table_top(env, dataclasses.replace(state, stones=jnp.uint32(0x077)))
    assert {"+15", "stones 0, 1", "stone 2"} <= set(words)


def test_probes_by_hand():
    env = world.Alchemy(**SMALL, end_trial=True)
    spoil = 2 + 26 + 2  # +15 with the potion that moves axis 0 down
    up = 2 + 0 + 1  # stone 6 with the potion that moves axis 0 up: +1 becomes +15
    actions = [[spoil, up, 2, 0, 2, 2, 1, 2 + 26, 5]]
    found = probes.replay(env, PLAIN, STONES[None], POTIONS[None], actions)
    assert found.score.tolist() == [[15, 12]]
    assert found.kinds.tolist() == [[[0, 1, 1, 1, 0, 0, 1], [0, 0, 0, 2, 1, 1, 0]]]
    assert found.potions.tolist() == [[2, 0]]
    assert found.stones.tolist() == [[1, 2]]
    assert found.spoiled.tolist() == [[14, 0]]
    assert found.improvement.tolist() == [[14, 0]]
    assert found.left.tolist() == [[1, 15]]
    _, state = env.reset_with(PLAIN, STONES, POTIONS)
    assert found.worlds_start[0, 0] == belief.worlds(state)
    assert found.worlds_end[0, 0] < found.worlds_start[0, 0]
    strange = probes.replay(env, PLAIN, STONES[None], POTIONS[None], [[2**32 + 2, 999, -1, -(2**40), 41, 2, 2, 2, 2]])
    assert strange.kinds.tolist() == [[[0, 0, 0, 0, 0, 4, 0], [0, 0, 0, 1, 0, 3, 0]]], "no number wraps around to an action"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: world.Alchemy(stones=4), "stones is 4"),
        (lambda: world.Alchemy(potions=13), "potions is 13"),
        (lambda: world.Alchemy(trials=0), "trials is 0"),
        (lambda: world.Alchemy(steps=0), "steps is 0"),
        (lambda: world.Alchemy(bottlenecks=4), "bottlenecks is 4"),
        (lambda: world.Alchemy(rotation=2), "rotation is 2"),
        (lambda: world.Alchemy(see="everything"), "see is 'everything'"),
        (lambda: world.Alchemy(see=("belief",) * 4), "five of them"),
        (lambda: world.Alchemy(see=[[("none", 1.0)], *["belief"] * 4]), "pairs"),
        (lambda: world.Alchemy(see=[[("belief", -1.0)], *["belief"] * 4]), "pairs"),
        (lambda: world.Alchemy(see=[3, *["belief"] * 4]), "pairs"),
        (lambda: world.Alchemy(see=[("belief", 1.0), *["belief"] * 4]), r"pairs such as \(\(\"belief\", 1.0\), \(\"unknown\", 1.0\)\)$"),
        (lambda: world.Alchemy(see=[[("belief", np.inf)], *["belief"] * 4]), "pairs"),
        (lambda: world.Alchemy(**SMALL).reset_with(PLAIN, STONES + 2, POTIONS), "stones is an array with a 9"),
        (lambda: world.Alchemy(**SMALL).reset_with(PLAIN, STONES, POTIONS + 2), "potions is an array with a 7"),
        (lambda: world.Alchemy(**SMALL).reset_with(PLAIN, STONES - 1, POTIONS), "stones is an array with a -1"),
        (lambda: world.Alchemy(**SMALL).reset_with(PLAIN, np.zeros((2, 4), int), POTIONS), "of shape \\(2, 4\\)"),
        (lambda: world.Alchemy(**SMALL).reset_with(PLAIN, STONES, np.zeros((2, 13), int)), "of shape \\(2, 13\\)"),
        (lambda: world.Alchemy(**SMALL).reset_with(PLAIN, STONES[:1], POTIONS), "shape \\[2, 3\\]"),
        (lambda: world.Alchemy(**SMALL).reset_with(PLAIN, STONES * 0.5, POTIONS), "type float64"),
        (lambda: world.Alchemy(**SMALL, stones=1).reset_with(PLAIN, STONES, POTIONS), "stones is of shape \\(2, 3\\).*\\[2, 1\\]"),
        (lambda: jax.eval_shape(world.Alchemy(**SMALL).reset_with, PLAIN, STONES[:1], POTIONS), "stones is of shape"),
        (lambda: world.Alchemy(**SMALL).reset_with(MANY, STONES, POTIONS), "chemistry is with fields of shapes .*vmap"),
        (lambda: world.Alchemy(**SMALL).reset_with((0, 0, 0, 0), STONES, POTIONS), "chemistry is \\(0, 0, 0, 0\\); allowed: a Chemistry"),
        (
            lambda: world.Alchemy(**SMALL, debug=True).step_env(jax.random.key(0), start()[3], 40, world.Alchemy().default_params),
            "action is 40",
        ),
        (lambda: dataclasses.replace(world.Alchemy().default_params, graph=109), "graph is 109"),
        (lambda: dataclasses.replace(world.Alchemy().default_params, graph=3.7), "graph is 3.7"),
        (lambda: dataclasses.replace(world.Alchemy().default_params, graph=np.float32(3)), "graph is 3.0"),
        (lambda: dataclasses.replace(world.Alchemy().default_params, graph=[500]), "graph is 500"),
        (lambda: dataclasses.replace(world.Alchemy().default_params, rotation=np.int8(-2)), "rotation is -2"),
        (lambda: dataclasses.replace(world.Alchemy().default_params, stone_map="7"), "stone_map is '7'"),
        (lambda: world.Alchemy().reset(jax.random.key(0), with_graph(jnp.int32(200))), "graph is 200"),
        (lambda: jax.eval_shape(world.Alchemy().reset, jax.random.key(0), with_graph(jnp.float32(3))), "graph is of type float32"),
        (lambda: probes.replay(world.Alchemy(), PLAIN, STONES[None], POTIONS[None], [[0]]), "stones is of shape"),
        (lambda: probes.replay(world.Alchemy(**SMALL), PLAIN, STONES[None] + 2, POTIONS[None], [[0]]), "with a 9"),
        (lambda: probes.replay(world.Alchemy(**SMALL), PLAIN, STONES[None], POTIONS[None], [0]), "actions is of shape"),
        (lambda: replay_of(stones=STONES + 0.5), "stones is of type float64"),
        (lambda: replay_of(stones=STONES * np.nan), "stones is of type float64"),
        (lambda: replay_of(stones=STONES > 6), "stones is of type bool"),
        (lambda: replay_of(potions=POTIONS + 6), "potions is an array with a"),
        (lambda: replay_of(actions=[[0.0, 1.0]]), "actions is of type float64"),
        (lambda: replay_of(chemistry=jax.tree.map(jnp.float32, PLAIN)), "graph is"),
        (lambda: replay_of(chemistry=(0, 0, 0, 0)), "chemistry is"),
        (lambda: probes.actions_of_events([[[1.7]]], [[[2]]], 20), "stones is of type float64"),
        (lambda: probes.actions_of_events([[[1]]], [[[2.2]]], 20), "potions is of type float64"),
        (lambda: probes.actions_of_events([[[3]]], [[[0]]], 20), "stones is"),
        (lambda: probes.actions_of_events([[[0]]], [[[12]]], 20), "potions is"),
        (lambda: probes.actions_of_events([[[0] * 5]], [[[0] * 5]], 4), "steps is 4"),
        (lambda: picture.gif("x.png", [np.zeros((2, 2, 3), np.uint8)]), "ends in .gif"),
        (lambda: picture.strip([]), "frames is"),
        (lambda: picture.strip(3), "frames is 3"),
        (lambda: picture.strip([np.zeros((2, 2, 3), np.uint8), np.zeros((2, 3, 3), np.uint8)]), "frames is of shapes"),
        (lambda: picture.strip([np.zeros((2, 2, 3))]), "frames is with one of type float64"),
        (lambda: picture.strip(np.zeros((2, 2, 3), np.uint8)), "frames is with one of shape"),
        (lambda: picture.gif("x.gif", [np.zeros((2, 2, 3), np.uint8)], seconds=-1), "seconds is -1"),
        (lambda: picture.gif("x.gif", [np.zeros((2, 2, 3), np.uint8)], seconds=np.nan), "seconds is nan"),
        (lambda: picture.episode(world.Alchemy(**SMALL), start()[3], [40]), "action is 40"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()


@pytest.mark.host
def test_groups_are_the_vector():
    assert sum(inputs.GROUPS.values()) == chemistry.VECTOR
