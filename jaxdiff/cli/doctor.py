"""`jaxdiff doctor`: is this installation all right?"""

from __future__ import annotations

import platform
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from typing import Annotated, Any

import tyro

from jaxdiff.cli import console
from jaxdiff.core.errors import InputError

PACKAGES = ("jaxdiff", "jax", "jaxlib", "numpy", "scipy", "xarray", "zarr", "matplotlib", "tyro", "rich")


@dataclass(frozen=True)
class Doctor:
    """Show versions, devices and the compile cache, and check a few results against known numbers."""

    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print the report as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns 0, or 1 where a check failed."""
        import jax

        versions = {name: _version(name) for name in PACKAGES}
        try:
            devices = [f"{d.platform}: {d.device_kind}" for d in jax.devices()]
        except (RuntimeError, AssertionError) as error:  # what JAX raises where the wanted platform cannot be started
            raise InputError("platform", str(_setting("jax_platforms") or "default"), f"one that JAX can start here ({error})") from error
        cache = _setting("jax_compilation_cache_dir") or "off (set JAX_COMPILATION_CACHE_DIR to keep compiled kernels between runs)"
        checks = _checks()
        screen = console.console(self.json)
        facts = [
            ["Python", sys.version.split()[0]],
            ["machine", f"{platform.system()} {platform.machine()}"],
            *([k, v] for k, v in versions.items()),
        ]
        facts += [["devices", "; ".join(devices)], ["default float", str(jax.dtypes.canonicalize_dtype(float))], ["compile cache", cache]]
        screen.print(console.table("Installation", ["what", "is"], facts))
        screen.print(
            console.table(
                "Checks",
                ["check", "result", "seconds"],
                [[c["name"], "right" if c["right"] else "WRONG: " + c["found"], f"{c['seconds']:.2f}"] for c in checks],
            )
        )
        right = all(c["right"] for c in checks)
        if self.json:
            console.print_json({"versions": versions, "devices": devices, "compile_cache": cache, "checks": checks, "right": right})
        return 0 if right else 1


def _setting(name: str) -> object:
    """A setting of JAX; its type stubs do not know them."""
    import jax

    return getattr(jax.config, name, None)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _checks() -> list[dict[str, Any]]:
    """Known numbers: made by a scalar program with exact fractions, or by hand."""
    import numpy as np

    from jaxdiff.automata import apl, eca, strategies, world
    from jaxdiff.difficulty import complexity, response

    def rollouts() -> Any:
        program = apl.parse(GOLDEN_PROGRAM)[None]
        return strategies.fresh(program, world.paper_world(np.array(sorted(GOLDEN))), 300).numerator[:, 0].tolist()

    cases = (
        (
            "automaton: rule 110, one step of 00010011",
            lambda: eca.step(np.array([0, 0, 0, 1, 0, 0, 1, 1]), 110).tolist(),
            [0, 0, 1, 1, 0, 1, 1, 1],
        ),
        ("kernel: exact rewards of a policy, four rules", rollouts, [GOLDEN[rule] for rule in sorted(GOLDEN)]),
        ("zlib: complexity of a program", lambda: complexity.lempel_ziv(np.array([[0, 1] * 10])).tolist(), [4]),
        (
            "response: a uniform draw of 10 policies finds the best one by the 5th",
            lambda: response.first_hit(np.ones(10), np.arange(10.0), 0.0).tolist(),
            [5.0],
        ),
    )
    out = []
    for name, compute, wanted in cases:
        begin = time.perf_counter()
        found = compute()
        out.append(
            {"name": name, "right": found == wanted, "found": str(found), "wanted": str(wanted), "seconds": time.perf_counter() - begin}
        )
    return out


GOLDEN_PROGRAM = "back Vaddm fwd Uaddm Vadd1"
# Rule -> sum of 300 rewards times 2^11 in the paper's world.
GOLDEN = {110: 451336, 122: 372593, 164: 85642, 184: 458680}
