"""Arrays over the devices of this process: one mesh with one axis, along which a batch is cut.

Kernels are elementwise over their batch, so XLA keeps whatever cut the inputs have and devices never talk. Without devices nothing is
moved: JAX's default device does the work.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Device: TypeAlias = jax.Device  # pyright: ignore[reportInvalidTypeForm]
Devices: TypeAlias = Sequence[Device] | None
AXIS = "batch"


def spread(tree: Any, axis: int | None, devices: Devices) -> Any:
    """Put every array of `tree` on all devices, cut along `axis` (from the end when negative), or whole on each of them when None.

    The axis must be a multiple of the number of devices, see `round_up`.
    """
    if devices is None:
        return tree
    mesh = Mesh(np.asarray(devices), (AXIS,))

    def place(x: Any) -> jax.Array:
        names: list[str | None] = [None] * np.ndim(x)
        if axis is not None:
            names[axis] = AXIS
        return jax.device_put(x, NamedSharding(mesh, PartitionSpec(*names)))

    return jax.tree.map(place, tree)


def round_up(size: int, multiple: int) -> int:
    """The least multiple of `multiple` that is at least `size`."""
    return -(-size // multiple) * multiple


def free_memory(device: Device) -> int:
    """Bytes that a device has left; of a CPU, what the machine has."""
    stats = device.memory_stats() or {}
    if "bytes_limit" in stats:
        return stats["bytes_limit"] - stats.get("bytes_in_use", 0)
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // len(jax.local_devices())


def dividing(devices: Devices, size: int) -> Devices:
    """The first of the devices, as many as divide an axis of `size` evenly."""
    if devices is None:
        return None
    return devices[: max(n for n in range(1, len(devices) + 1) if size % n == 0)]


def count(devices: Devices) -> int:
    """How many devices share the work."""
    return 1 if devices is None else len(devices)
