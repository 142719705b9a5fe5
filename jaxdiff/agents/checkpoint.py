"""Checkpoints of a whole training state, and policies that can be taken elsewhere.

A checkpoint (orbax) holds every array of the `TrainState` and the host's counters; a run that goes on from it is the same, bit for bit, as
one that was never stopped. A policy is a folder with `config.json` and `parameters.npz`: what an evaluation or a notebook needs.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import jax
import numpy as np

from jaxdiff.agents import config as configs
from jaxdiff.agents.config import TrainConfig
from jaxdiff.agents.state import TrainState
from jaxdiff.core.errors import InputError, require
from jaxdiff.core.files import whole

CONFIG, POLICY, PARAMETERS, CHECKPOINTS = "config.json", "policy", "parameters.npz", "checkpoints"
KEPT = 2


@dataclass(frozen=True)
class Counters:
    """What the host counts, in Python integers that do not overflow.

    Attributes:
        updates: of the learner.
        steps: of environments.
        seconds: spent on training, without compilation.
        environments: B; fewer than configured where memory was short.
        seed: of the run.
    """

    updates: int = 0
    steps: int = 0
    seconds: float = 0.0
    environments: int = 0
    seed: int = 0


def _manager(folder: Path) -> Any:
    import orbax.checkpoint as ocp

    options = ocp.CheckpointManagerOptions(max_to_keep=KEPT, create=True, enable_async_checkpointing=False)
    return ocp.CheckpointManager((folder / CHECKPOINTS).resolve(), options=options)


def save(folder: Path, state: TrainState, counters: Counters) -> None:
    """Write a checkpoint; the last two are kept, and one is either whole or not there."""
    import orbax.checkpoint as ocp

    with _manager(folder) as manager:
        if manager.latest_step() == counters.updates:
            return
        items = ocp.args.Composite(state=ocp.args.StandardSave(_leaves(state)), counters=ocp.args.JsonSave(asdict(counters)))  # pyright: ignore[reportCallIssue]
        manager.save(counters.updates, args=items)


def latest(folder: Path) -> Counters | None:
    """The counters of the last checkpoint, None where there is none."""
    import orbax.checkpoint as ocp

    if not (folder / CHECKPOINTS).is_dir():
        return None
    with _manager(folder) as manager:
        step = manager.latest_step()
        if step is None:
            return None
        found = manager.restore(step, args=ocp.args.Composite(counters=ocp.args.JsonRestore()))
        return Counters(**found["counters"])


def restore(folder: Path, like: TrainState) -> TrainState:
    """The state of the last checkpoint, with the shapes, types and devices of `like`."""
    import orbax.checkpoint as ocp

    abstract = {k: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding) for k, x in _leaves(like).items()}
    with _manager(folder) as manager:
        step = manager.latest_step()
        found = manager.restore(step, args=ocp.args.Composite(state=ocp.args.StandardRestore(abstract)))  # pyright: ignore[reportCallIssue]
    return jax.tree.unflatten(jax.tree.structure(like), [found["state"][name] for name in _leaves(like)])


def _leaves(state: TrainState) -> dict[str, Any]:
    """Leaves by their paths: orbax rebuilds trees with other things in their fields, which a checked `Chemistry` refuses."""
    return {jax.tree_util.keystr(path): x for path, x in jax.tree_util.tree_leaves_with_path(state)}


def check_config(folder: Path, config: TrainConfig) -> None:
    """Write the configuration into a new folder, or compare it with the one that is there.

    Raises:
        InputError: the folder belongs to another configuration or version.
    """
    path = folder / CONFIG
    if not path.exists():
        with whole(path) as beside:
            beside.write_text(configs.to_json(config))
        return
    apart = configs.difference(read_config(folder), config)
    require(not apart, "out", f"{folder}, whose run has {'; '.join(apart)}", "a new folder, or the one of the same configuration")


def read_config(folder: Path) -> TrainConfig:
    """The configuration in a folder.

    Raises:
        InputError: there is none, or one of another version.
    """
    try:
        text = (folder / CONFIG).read_text()
    except OSError as error:
        raise InputError("agent", str(folder), f"a folder with {CONFIG}, as jaxdiff train writes it") from error
    return configs.from_json(text)


# Policies.


def named(tree: Any) -> dict[str, np.ndarray]:
    """Leaves of a tree by their paths."""
    return {"/".join(str(k.key) for k in path): np.asarray(x) for path, x in jax.tree_util.tree_leaves_with_path(tree)}


def export(folder: Path, config: TrainConfig, parameters: Any, about: dict[str, Any] | None = None) -> Path:
    """Write a policy: configuration and the network's parameters, without heads and optimiser.

    Args:
        folder: of the run; the policy lies in its sub-folder `policy`.
        config: of the run.
        parameters: of the network.
        about: written beside, for people.
    """
    target = folder / POLICY
    target.mkdir(parents=True, exist_ok=True)
    with whole(target / CONFIG) as beside:
        beside.write_text(configs.to_json(config))
    with whole(target / PARAMETERS) as beside, beside.open("wb") as file:
        np.savez(file, **named(parameters))  # pyright: ignore[reportArgumentType]
    with whole(target / "about.json") as beside:
        beside.write_text(json.dumps(about or {}, indent=1) + "\n")
    return target


def load(folder: Path) -> tuple[TrainConfig, Any]:
    """The configuration and parameters of a policy, from its folder or from the run's.

    Raises:
        InputError: no policy there, or parameters that do not fit the configuration.
    """
    from jaxdiff.agents.update import Program, start

    folder = Path(folder)
    folder = folder / POLICY if (folder / POLICY).is_dir() else folder
    config = read_config(folder)
    allowed = f"a folder with {CONFIG} and {PARAMETERS}, as jaxdiff train writes it"
    try:
        with np.load(folder / PARAMETERS) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, BadZipFile) as error:
        raise InputError("agent", str(folder), allowed) from error
    like = jax.eval_shape(lambda key: start(Program(config), key, 1).learned["network"], jax.random.key(0))

    def fill(path: Any, leaf: Any) -> np.ndarray:
        name = "/".join(str(k.key) for k in path)
        require(name in arrays, "agent", f"{folder} without parameter {name}", allowed)
        shape = arrays[name].shape
        require(shape == leaf.shape, "agent", f"{folder} with {name} of shape {shape}", f"shape {leaf.shape}, as its configuration says")
        return arrays[name]

    return config, jax.tree_util.tree_map_with_path(fill, like)
