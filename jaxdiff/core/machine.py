"""What a machine is, as far as it says: for files of results, which mean little without it. Imports no more than JAX."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import jax


def describe() -> dict[str, Any]:
    """Processor, cores, system, versions, and what JAX runs on."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next((line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")), cpu)
    device = jax.devices()[0]
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "jax": jax.__version__,
        "platform": device.platform,
        "device": device.device_kind,
        "devices": jax.device_count(),
        "driver": _driver(device),
    }


def _driver(device: Any) -> str:
    """Version of the accelerator's driver and runtime, as far as they say."""
    parts = [str(getattr(device.client, "platform_version", "")).splitlines()[0][:80]]
    version = Path("/proc/driver/nvidia/version")
    if device.platform == "gpu" and version.exists():
        parts.append(version.read_text().splitlines()[0][:120])
    return "; ".join(part for part in parts if part)
