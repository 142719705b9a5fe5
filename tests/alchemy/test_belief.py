"""The exact posterior against enumerating all 167,424 chemistries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.alchemy import belief, chemistry, frames, graph_sets, graphs, knowledge, layout, world
from jaxdiff.alchemy.chemistry import Chemistry
from tests.alchemy import reference


class Enumeration:
    """Every chemistry that gives the same pictures, one look and one potion at a time."""

    def __init__(self):
        sizes = [chemistry.SIZES[name] for name in ("graph", "potion_map", "stone_map", "rotation")]
        self.graph, self.potion_map, self.stone_map, self.rotation = (x.ravel() for x in np.meshgrid(*map(np.arange, sizes), indexing="ij"))
        self.weight = graphs.weights()[self.graph]

    def keep(self, possible):
        for name in ("graph", "potion_map", "stone_map", "rotation", "weight"):
            setattr(self, name, getattr(self, name)[possible])

    def latent(self, features, level):
        """Latent corner of a perceived stone under every chemistry, -1 where it cannot be."""
        sides = chemistry.rotation_matrices()[self.rotation] @ features
        aligned = ((sides > 0) << np.arange(3)).sum(-1)
        corner = aligned ^ self.stone_map ^ 7
        fits = (np.abs(sides) == 1).all(-1) & (chemistry.value_level()[corner] == level)
        return np.where(fits, corner, -1)

    def look(self, stone):
        self.keep(self.latent(*stone) >= 0)

    def potion(self, before, colour, after):
        self.look(before)
        self.look(after)
        kind = chemistry.type_of_colour()[self.potion_map, colour]
        self.keep(graphs.transitions()[self.graph, self.latent(*before), kind] == self.latent(*after))

    def marginals(self, aligned=False):
        flip = self.stone_map ^ 7 if aligned else 0 * self.stone_map
        graph, potion_map = graphs.reflections()[flip, self.graph], self.potion_map ^ flip
        bits = np.arange(3)
        columns = [graphs.edges()[graph], np.eye(6)[potion_map // 8], potion_map[:, None] >> bits & 1]
        columns += [self.stone_map[:, None] >> bits & 1, np.eye(4)[self.rotation]]
        return self.weight @ np.concatenate(columns, axis=1) / self.weight.sum()

    def entropy(self):
        p = self.weight / self.weight.sum()
        return -(p * np.log(p)).sum()


@jax.jit
def all_of(c, known):
    """Count, entropy, marginals in both frames."""
    marginals = [belief.marginals_of(c, known, aligned=aligned) for aligned in (False, True)]
    return belief.count_of(c, known), belief.entropy_of(c, known), *marginals


@jax.jit
def learn(known, c, corner, new, colour):
    stones = layout.pack_stones(jnp.stack([corner, new, jnp.int32(8)]))
    before = knowledge.see(known, stones & jnp.uint32(15) | jnp.uint32(0x880), c.stone_map)
    return knowledge.try_potion(before, corner, new, colour, jnp.bool_(True), c.stone_map)


@pytest.mark.parametrize("episode", range(6))
def test_equals_enumeration(episode):
    """Random potions on random stones; every second episode only stones that leave rotations open."""
    rng = np.random.default_rng(episode)
    c = Chemistry(*(np.int32(rng.integers(n)) for n in chemistry.SIZES.values()))
    if episode % 2:
        c = Chemistry(c.graph, c.potion_map, c.stone_map, np.int32(1 + episode % 3))
    open_corners = [a for a in range(8) if (frames.corner_under()[c.rotation, :, a] >= 0).sum() > 1]
    every, known = Enumeration(), knowledge.nothing()

    def perceived(latent):
        aligned = latent ^ int(c.stone_map) ^ 7
        return chemistry.perceived_features()[c.rotation, aligned], chemistry.value_level()[latent]

    for step in range(12):
        aligned = rng.choice(open_corners) if open_corners and step < 4 else rng.integers(8)
        corner, colour = int(aligned) ^ int(c.stone_map) ^ 7, int(rng.integers(6))
        new = int(graphs.transitions()[c.graph, corner, chemistry.type_of_colour()[c.potion_map, colour]])
        every.potion(perceived(corner), colour, perceived(new))
        known = learn(known, c, jnp.int32(corner), jnp.int32(new), jnp.int32(colour))
        count, entropy, latent_frame, aligned_frame = all_of(c, known)
        assert int(count) == every.weight.size
        assert float(entropy) == pytest.approx(every.entropy(), abs=1e-4)
        np.testing.assert_allclose(latent_frame, every.marginals(), atol=1e-6)
        np.testing.assert_allclose(aligned_frame, every.marginals(aligned=True), atol=1e-6)
        truth = (every.graph == c.graph) & (every.potion_map == c.potion_map) & (every.stone_map == c.stone_map)
        assert (truth & (every.rotation == c.rotation)).sum() == 1, "the truth is never lost"


def test_before_anything_is_seen_everything_is_possible():
    c = Chemistry(*np.zeros((4,), np.int32))
    count, entropy, *_ = all_of(c, knowledge.nothing())
    assert int(count) == 167_424
    prior = -(graphs.prior() * np.log(graphs.prior())).sum() + np.log(48 * 8 * 4)
    assert float(entropy) == pytest.approx(prior, abs=1e-4)
    assert int(belief.count_of(chemistry.as_int32(c), knowledge.nothing(), rotation=False)) == 41_856


def test_of_states():
    env = world.Alchemy(trials=2)
    step = jax.jit(env.step_env)
    obs, state = env.reset_with(Chemistry(108, 7, 7, 0), np.zeros((2, 3), int), np.full((2, 12), 1))
    assert belief.worlds(state) == 48 * 109  # a stone of value -3 tells the stone map
    assert belief.log_count(state) == pytest.approx(np.log(48 * 109))
    before = belief.entropy(state)
    _, state, *_ = step(jax.random.key(0), state, 2, env.default_params)
    assert belief.worlds(state) < 48 * 109
    assert belief.entropy(state) < before
    both = jax.tree.map(lambda x: jnp.stack([x, x]), state)
    assert belief.worlds(both).tolist() == [belief.worlds(state)] * 2
    assert belief.entropy(both).tolist() == [belief.entropy(state)] * 2
    assert belief.log_count(both).shape == (2,)


@pytest.mark.host
def test_graph_sets_are_the_6544_closed_ones():
    assert len(graph_sets.after_absent()) == graph_sets.SETS
    members = graph_sets.members()
    assert members[0].all()
    assert len(np.unique(members, axis=0)) == graph_sets.SETS
    edges = graphs.edges() == 1
    for n in range(0, graph_sets.SETS, 97):
        for e in range(12):
            for table, kept in ((graph_sets.after_present(), edges[:, e]), (graph_sets.after_absent(), ~edges[:, e])):
                left = members[n] & kept
                assert (table[n, e] == graph_sets.NONE) == (not left.any())
                if left.any():
                    np.testing.assert_array_equal(members[table[n, e]], left)
    knowledge_of_edges = graph_sets.edge_knowledge()
    assert set(np.unique(knowledge_of_edges).tolist()) == {0.0, 0.5, 1.0}
    np.testing.assert_array_equal(graph_sets.weight()[0], graphs.URN)


@pytest.mark.host
def test_frames():
    assert (frames.corner_under()[range(4), range(4)] == np.arange(8)).all()
    left = frames.stone_maps_left()
    for r in range(4):
        for s in range(8):
            assert (left[r, r, s] >> s & 1).all(), "the true stone map always stays"
    assert (frames.rotations_left()[0, :, 1:] == 1).all(), "without rotation one stone tells"
    assert frames.axes_agreed()[[0, 0b1, 0b11, 0xFF]].tolist() == [0, 7, 6, 0]


def test_the_benchmarks_belief_is_never_stronger_than_the_exact_posterior_and_sometimes_weaker():
    """Frames aside (edges are compared in the aligned frame), what the tracker says is certain is certain."""
    d, c = reference.load("trajectories_random"), reference.recorded_chemistries()
    chosen = np.flatnonzero((d["level"] == 1) & (d["end_trial_action"] == 0))[:30]
    env = world.Alchemy(rotation=True, see=("belief", "belief", "none", "belief", "belief"))
    c = jax.tree.map(lambda x: x[chosen], c)
    obs, known, *_ = reference.play(env, c, d["stones_latent"][chosen], d["potions_latent"][chosen], d["action"][chosen])
    batch = jax.tree.map(lambda x: jnp.repeat(jnp.asarray(x), obs.shape[1]), c)
    exact = jax.jit(jax.vmap(lambda c, k: belief.marginals_of(c, k, aligned=True)))(batch, jnp.asarray(known.reshape(-1, 2)))
    exact = np.asarray(exact).reshape(*obs.shape[:2], 28)
    theirs, edges = obs[..., 39:51], exact[..., :12]
    certain = theirs != 0.5
    np.testing.assert_array_equal(theirs[certain], edges[certain])
    assert ((edges == 0) | (edges == 1)).sum() > certain.sum()
