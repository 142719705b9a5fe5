"""Losses and targets against numbers of rlax, and by hand."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.agents import distributions
from jaxdiff.agents.losses import impala, ppo, returns, vmpo

CLOSE = {"rtol": 2e-5, "atol": 2e-6}


@pytest.fixture(scope="module")
def rlax():
    with np.load(Path(__file__).parents[1] / "data" / "agents" / "rlax_vectors.npz") as file:
        return {name: file[name] for name in file.files}


def test_advantages(rlax):
    found = returns.advantages(rlax["reward"], rlax["discount"], rlax["value"], 0.9)
    np.testing.assert_allclose(found, rlax["gae"], **CLOSE)


def test_advantages_by_hand():
    reward, discount, value = (jnp.array([x], jnp.float32).T for x in ([1.0, 2.0], [0.5, 0.0], [3.0, 4.0, 9.0]))
    # The second step ends the episode: 2 - 4; the first: 1 + .5 x 4 - 3, and γ λ of what follows.
    np.testing.assert_allclose(returns.advantages(reward, discount, value, 0.5)[:, 0], [0.0 + 0.25 * -2.0, -2.0])
    np.testing.assert_allclose(returns.discounted(reward, discount, value[-1])[:, 0], [1 + 0.5 * 2, 2.0])


def test_v_trace(rlax):
    found = returns.v_trace(rlax["reward"], rlax["discount"], rlax["value"], rlax["log_ratio"], trace=0.95)
    np.testing.assert_allclose(found.values - rlax["value"][:-1], rlax["vtrace_errors"], **CLOSE)


def test_v_trace_advantages(rlax):
    # rlax mixes λ into the advantage's next target; where λ is 1 both are the paper's.
    found = returns.v_trace(rlax["reward"], rlax["discount"], rlax["value"], rlax["log_ratio"])
    following = jnp.concatenate([found.values[1:], rlax["value"][-1:]])
    ratio = np.minimum(np.exp(rlax["log_ratio"]), 1)
    np.testing.assert_allclose(found.advantages, ratio * (rlax["reward"] + rlax["discount"] * following - rlax["value"][:-1]), **CLOSE)


def test_v_trace_on_policy_is_gae(rlax):
    """With equal policies the targets are λ-returns."""
    found = returns.v_trace(rlax["reward"], rlax["discount"], rlax["value"], jnp.zeros_like(rlax["reward"]), trace=0.9)
    gae = returns.advantages(rlax["reward"], rlax["discount"], rlax["value"], 0.9)
    np.testing.assert_allclose(found.values, gae + rlax["value"][:-1], **CLOSE)


def _vmpo(log_probability, advantage, divergence, temperature, alpha):
    return vmpo.losses(log_probability, advantage, divergence, temperature, alpha, epsilon_temperature=0.5, epsilon_alpha=0.01).total


VMPO = ("log_probability", "advantage", "divergence", "temperature", "alpha")


def test_v_mpo(rlax):
    given = [rlax[name] for name in VMPO]
    np.testing.assert_allclose(_vmpo(*given), rlax["vmpo_loss"], **CLOSE)
    gradients = dict(zip(VMPO, jax.jit(jax.grad(_vmpo, argnums=range(5)))(*map(jnp.asarray, given)), strict=True))
    # rlax leaves it to its caller to keep the temperature's gradient from the critic.
    assert not gradients.pop("advantage").any(), "nothing of the temperature's loss reaches the critic"
    for name, gradient in gradients.items():
        np.testing.assert_allclose(gradient, rlax[f"vmpo_grad_{name}"], **CLOSE)


def test_v_mpo_takes_the_better_half():
    advantage = jnp.arange(8, dtype=jnp.float32).reshape(4, 2)
    zeros = jnp.zeros_like(advantage)
    found = vmpo.losses(zeros, advantage, zeros, jnp.float32(1), jnp.float32(1), epsilon_temperature=0.1, epsilon_alpha=0.1)
    np.testing.assert_array_equal(np.asarray(found.weights) > 0, np.arange(8).reshape(4, 2) >= 4)
    np.testing.assert_allclose(found.weights.sum(), 1, rtol=1e-6)


def test_duals_are_positive_and_start_where_they_should():
    assert vmpo.positive(jnp.float32(-100)) > 0
    np.testing.assert_allclose(vmpo.positive(jnp.float32(vmpo.raw_of(5.0))), 5.0, rtol=1e-6)


def test_clipped_surrogate(rlax):
    found = ppo.policy_loss(rlax["log_ratio"], jnp.zeros_like(rlax["log_ratio"]), rlax["advantage"], 0.2)
    np.testing.assert_allclose(found, rlax["ppo_loss"], **CLOSE)


def test_impala_gradients(rlax):
    """Of the policy: -advantage / n; of the value: value less target."""
    reward, discount, value = (jnp.asarray(rlax[name]) for name in ("reward", "discount", "value"))
    taken = jnp.asarray(rlax["log_probability"])

    def loss(taken, value, which):
        return impala.losses(taken, taken, reward, discount, value, jnp.asarray(rlax["value"][-1]))[which]

    targets = returns.v_trace(reward, discount, value, jnp.zeros_like(reward))
    np.testing.assert_allclose(jax.grad(loss)(taken, value[:-1], 0), -targets.advantages / taken.size, **CLOSE)
    np.testing.assert_allclose(jax.grad(loss, argnums=1)(taken, value[:-1], 1), (value[:-1] - targets.values) / taken.size, **CLOSE)


def test_policies_of_two_parts():
    logits = jnp.log(jnp.array([[0.5, 0.5, 0.2, 0.3, 0.5], [0.9, 0.1, 0.6, 0.3, 0.1]], jnp.float32))
    action = jnp.array([[0, 2], [1, 1]], jnp.int32)
    np.testing.assert_allclose(distributions.log_probability(logits, action, (2, 3)), np.log([0.25, 0.03]), rtol=1e-6)
    assert distributions.greedy(logits, (2, 3)).tolist() == [[0, 2], [0, 0]]
    p, q = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    r, s = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1])
    wanted = (p * np.log(p / q)).sum() + (r * np.log(r / s)).sum()
    np.testing.assert_allclose(distributions.divergence(logits[:1], logits[1:], (2, 3)), wanted, rtol=1e-5)
    np.testing.assert_allclose(distributions.entropy(logits[:1], (2, 3)), -(p * np.log(p)).sum() - (r * np.log(r)).sum(), rtol=1e-6)


def test_masked_actions_are_never_drawn_and_cost_no_gradient():
    logits = jnp.array([0.0, -1e9, 1.0], jnp.float32)
    drawn = jax.vmap(lambda k: distributions.sample(k, logits, (3,)))(jax.random.split(jax.random.key(0), 200))
    assert set(drawn.tolist()) == {0, 2}
    gradient = jax.grad(lambda x: distributions.entropy(x, (3,)))(logits)
    assert jnp.isfinite(gradient).all()
    assert gradient[1] == 0
