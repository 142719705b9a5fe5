"""Makes rlax_vectors.npz beside this file: random inputs and what rlax 0.1.9 makes of them (pip install rlax==0.1.9; jax 0.10.1)."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import rlax

rng = np.random.default_rng(0)
T, B = 12, 3
f = np.float32
reward = rng.normal(size=(T, B)).astype(f)
discount = np.where(rng.random((T, B)) < 0.2, 0, 0.93).astype(f)
value = rng.normal(size=(T + 1, B)).astype(f)
log_ratio = (0.5 * rng.normal(size=(T, B))).astype(f)
out = {"reward": reward, "discount": discount, "value": value, "log_ratio": log_ratio}
gae = jax.vmap(lambda r, d, v: rlax.truncated_generalized_advantage_estimation(r, d, 0.9, v), in_axes=1, out_axes=1)
out["gae"] = gae(reward, discount, value)
vt = jax.vmap(lambda v0, v1, r, d, rho: rlax.vtrace_td_error_and_advantage(v0, v1, r, d, rho, 0.95), in_axes=1, out_axes=1)(
    value[:-1], value[1:], reward, discount, np.exp(log_ratio)
)
out["vtrace_errors"] = vt.errors
out["vtrace_advantage"] = vt.pg_advantage
logp = (-rng.gamma(2.0, size=(T, B))).astype(f)
adv = rng.normal(size=(T, B)).astype(f)
kl = rng.gamma(1.0, 0.1, size=(T, B)).astype(f)
out |= {
    "log_probability": logp,
    "advantage": adv,
    "divergence": kl,
    "temperature": f(0.7),
    "alpha": f(1.3),
    "eps_t": f(0.5),
    "eps_a": f(0.01),
}


def vm(logp, adv, kl, temp, alpha):
    loss, o = rlax.vmpo_loss(
        sample_log_probs=logp,
        advantages=adv,
        temperature_constraint=rlax.LagrangePenalty(temp, 0.5, False),
        kl_constraints=[(kl, rlax.LagrangePenalty(alpha, 0.01, False))],
        projection_operator=lambda x: x,
        top_k_fraction=0.5,
    )
    return loss.mean(), o


loss, o = vm(logp, adv, kl, 0.7, 1.3)

g = jax.grad(lambda *a: vm(*a)[0], argnums=(0, 1, 2, 3, 4))(logp, adv, kl, jnp.float32(0.7), jnp.float32(1.3))
out["vmpo_loss"] = loss
for n, x in zip(("log_probability", "advantage", "divergence", "temperature", "alpha"), g, strict=False):
    out["vmpo_grad_" + n] = x
out["ppo_loss"] = rlax.clipped_surrogate_pg_loss(np.exp(log_ratio).reshape(-1), adv.reshape(-1), 0.2)
np.savez_compressed(Path(__file__).with_name("rlax_vectors.npz"), **{k: np.asarray(v) for k, v in out.items()})
