"""The slingshot in the terminal: a person shoots, and every shot can be looked at as a picture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jaxdiff.cli import console
from jaxdiff.core.errors import InputError

if TYPE_CHECKING:
    import numpy as np

HELP = "ANGLE PULL [TAP]: elevation in degrees (-10..80), pull in percent, seconds to the tap (0..3); random; help; quit"


def run(level: Path | None, seed: int, out: Path | None, json: bool) -> int:
    """Play one level.

    Args:
        level: a file of the public format; a random level that can be solved when None.
        seed: of that, and of random shots.
        out: folder for the pictures.
        json: whether the result is printed as one line of JSON, last.

    Raises:
        InputError: a level that cannot be read, a folder that cannot be written.
    """
    import jax
    import numpy as np

    from jaxdiff.birds import levels, physics, picture
    from jaxdiff.birds.film import film
    from jaxdiff.birds.world import Birds, Params

    folder = console.output_folder(out)
    if folder is not None and (folder / "episode.gif").exists():
        raise InputError("out", str(folder), "a folder without an episode.gif")
    screen = console.console(json)
    drawn = levels.take(levels.generate(seed, 1), 0) if level is None else levels.read(level)
    shape = levels.slots(drawn)
    env = Birds(*shape.counts, shape.birds)
    params = Params(levels.padded(drawn, shape), physics.default())
    rng = np.random.default_rng(seed)
    _, state = env.reset_env(jax.random.key(0), params)  # the key is never used: there is no chance in this world
    shots: list[np.ndarray] = []
    pictures: list[np.ndarray] = []
    passed, left = False, int(env.pigs_left(state))
    screen.print(HELP, style="dim")
    if folder is not None:
        screen.print(f"wrote {picture.write_png(picture.render(env, state, params), folder / 'level.png')}", soft_wrap=True)
    while not passed and len(shots) < env.birds:
        screen.print(f"bird {len(shots) + 1} of {env.birds}, {left} pigs left > ", end="")
        sys.stdout.flush()
        line = sys.stdin.readline()
        action = _action(line, rng) if line.strip() else None
        if not line or line.split()[:1] in (["quit"], ["q"]):
            screen.print("stopped")
            break
        if action is None:
            screen.print(HELP, style="dim")
            continue
        shot = film(env, params, state, action)
        if folder is not None:
            pictures += picture.shown(env, params, state, shot)
        state, before = shot.after, left
        left = int(env.pigs_left(state))
        passed = left == 0
        shots.append(action)
        screen.print(f"  {before - left} pig{'s' if before - left != 1 else ''} destroyed")
    screen.print("passed" if passed else f"{left} pigs left")
    if folder is not None and shots:
        screen.print(f"wrote {picture.write_gif(pictures, folder / 'episode.gif')}", soft_wrap=True)
    if json:
        console.print_json({"passed": passed, "birds": len(shots), "pigs_left": left, "actions": [a.tolist() for a in shots]})
    return 0


def _action(line: str, rng: np.random.Generator) -> np.ndarray | None:
    """The action that a line says in degrees, percent and seconds; None where it says none."""
    import numpy as np

    from jaxdiff.birds import shots

    words = line.split()
    if words == ["random"]:
        return rng.uniform(size=3).astype(np.float32)
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return None
    if len(numbers) not in (2, 3) or not np.isfinite(numbers).all():
        return None
    angle, pull, tap = numbers if len(numbers) == 3 else (*numbers, shots.LAST_TAP)
    part = ((angle - shots.LOWEST) / (shots.HIGHEST - shots.LOWEST), pull / 100, tap / shots.LAST_TAP)
    inside = all(-1e-6 <= p <= 1 + 1e-6 for p in part)
    return np.clip(np.array(part, np.float32), 0, 1) if inside else None
