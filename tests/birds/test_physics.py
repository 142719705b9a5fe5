"""Flight against the closed form, energy in contact, what falls, what explodes, what is pushed."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from jaxdiff.birds import contact, flight, kinds, physics, settling, shots
from jaxdiff.birds.level import Slots, Thing, assembled, padded
from jaxdiff.birds.physics import FAR
from jaxdiff.core.errors import InputError

LANES = 64
G = kinds.GROUND
SHAPE = Slots(4, 1, 1, 1, 1)
TNT = SHAPE.range(kinds.TNT)


def scene(things):
    """Bodies and LANES piles of a few things."""
    level = padded(assembled(things, [0], (-8.0, -1.5)), SHAPE)
    bodies = physics.bodies(level, physics.default())
    pile = settling.Pile(*(np.broadcast_to(v, (LANES, SHAPE.objects)).astype(np.float32) for v in (level.x, level.y, bodies.life)))
    return bodies, pile


@jax.jit
def flown(bodies, pile, actions, numbers):
    bird = shots.thrown(np.zeros(LANES, np.int32), numbers)
    return shots.fly(bodies, pile, shots.launch(actions, np.float32([-8, -1.5]), numbers), numbers, bird)


@jax.jit
def touched(bodies, pile, landed, numbers):
    """All contact states of the steps after a flight, [STEPS, LANES, ...]."""
    bird = shots.thrown(np.zeros(LANES, np.int32), numbers)
    start = shots.touch_down(pile, landed, np.ones(LANES, bool))

    def one(now, _):
        new = contact.step(bodies, pile.y, now, numbers, bird.mass, bird.radius)
        return new, new

    return jax.lax.scan(one, start, None, length=contact.STEPS)[1], start


settled = jax.jit(lambda bodies, pile, numbers: settling.settle(bodies, pile, numbers, TNT))
STACK = [Thing("SquareHole", "wood", 2.0, G + 0.42 + 0.84 * i) for i in range(3)]
SCENES = {
    "hut": [
        Thing("RectMedium", "wood", 1.0, G + 0.84, 90.0),
        Thing("RectMedium", "ice", 2.6, G + 0.84, 90.0),
        Thing("RectBig", "stone", 1.8, G + 1.79),
        Thing("BasicSmall", "", 1.8, G + 0.25),
        Thing("Platform", "", 5.0, 0.5, scale_x=3.0),
        Thing("TNT", "", 4.0, G + 0.33),
    ],
    "stack": [*STACK, Thing("BasicBig", "", 7.0, G + 0.5)],
}


def actions(seed=0):
    return np.random.default_rng(seed).uniform(size=(LANES, 3)).astype(np.float32)


def reference(action, numbers, stop):
    """Flight in short steps of float64, each an exact parabola; steps end on the tap and on the band's edges (to 1e-8 seconds)."""
    angle = np.deg2rad(shots.LOWEST + (shots.HIGHEST - shots.LOWEST) * float(action[0]))
    speed = float(action[1]) * float(numbers.launch_speed)
    p, v = np.array([-8.0, -1.5]), speed * np.array([np.cos(angle) * float(numbers.facing), np.sin(angle)])
    low, high = numbers.band.astype(float)
    t, tap, dt = 0.0, float(action[2]) * shots.LAST_TAP, 1e-2
    while t < stop - 1e-12:
        step = min(dt, stop - t, tap - t if tap > t else np.inf)
        a = np.array([float(numbers.wind), -float(numbers.gravity) + (low < p[0] < high) * float(numbers.fan)])
        q = p + v * step + a * step**2 / 2
        if (low < q[0] < high) != (low < p[0] < high) and step > 1e-8:
            dt = step / 2
            continue
        p, v, t, dt = q, v + a * step, t + step, 1e-2
        if t == tap:
            v = v * float(numbers.bird_boost[0])
    return p, v


def gap(level_things, p, radius):
    """Distance of a bird's square to the nearest thing or the ground, negative within, in float64."""
    best = p[1] - radius - G
    for t in level_things:
        w, h = kinds.SIZE[kinds.NAMES.index(t.name)].astype(np.float64) * (t.scale_x, t.scale_y) / 2
        w, h = (h, w) if round(t.rotation / 90) % 2 else (w, h)
        best = min(best, max(abs(p[0] - t.x) - w, abs(p[1] - t.y) - h) - radius)
    return best


@pytest.mark.parametrize("world", ["still", "wind and fan"])
@pytest.mark.parametrize("name", list(SCENES))
def test_flight_is_the_closed_form_to_1e_4(name, world):
    """At the found time the bird is where tiny steps in float64 bring it, it touches something, and it touched nothing before."""
    bodies, pile = scene(SCENES[name])
    numbers = physics.default()
    if world != "still":
        numbers = replace(numbers, wind=np.float32(-3), fan=np.float32(12), band=np.float32([-6, -3]))
    acts = actions(1)
    landed = jax.tree.map(np.asarray, flown(bodies, pile, acts, numbers))
    assert not landed.flying.any()
    radius = float(numbers.bird_radius[0])
    for lane in range(0, LANES, 4):
        stop = float(landed.time[lane])
        p, v = reference(acts[lane], numbers, stop)
        np.testing.assert_allclose([landed.bird.x[lane], landed.bird.y[lane]], p, atol=1e-4, rtol=0)
        np.testing.assert_allclose([landed.bird.vx[lane], landed.bird.vy[lane]], v, atol=1e-3, rtol=0)
        found = np.array([landed.bird.x[lane], landed.bird.y[lane]], np.float64)
        assert abs(gap(SCENES[name], found, radius)) < 1e-4
        for share in (0.5, 0.9, 0.99):
            assert gap(SCENES[name], reference(acts[lane], numbers, share * stop)[0], radius) > -2e-3


def test_crossing_has_no_cancellation():
    """Times to a plane agree with float64 to 1e-5 where acceleration nearly vanishes or is large, in both directions."""
    rng = np.random.default_rng(0)
    v, a = rng.uniform(-15, 15, 500), rng.choice([0, 1e-6, -1e-4, -9.81, 3.0], 500)
    goal = rng.uniform(-10, 10, 500)
    for sign in (1.0, -1.0):
        found = np.asarray(flight.crossing(np.float32(0), *(x.astype(np.float32) for x in (v, a, goal)), sign), np.float64)
        v1, a1, g1 = (x.astype(np.float32).astype(np.float64) for x in (v, a, goal))
        hits = np.isfinite(found) & (found < 100)
        assert hits.sum() > 100
        v1, a1, g1, found = (x[hits] for x in (v1, a1, g1, found))
        np.testing.assert_allclose(v1 * found + a1 * found**2 / 2, g1, atol=2e-4)
        assert (sign * (v1 + a1 * found) > -1e-2).all()


@pytest.mark.parametrize("name", list(SCENES))
def test_energy_never_grows_in_contact(name):
    bodies, pile = scene(SCENES[name])
    numbers = physics.default()
    landed = flown(bodies, pile, actions(2), numbers)
    states, start = jax.tree.map(np.asarray, touched(bodies, pile, landed, numbers))

    def energy(bird):
        y, vx, vy = (np.asarray(v, np.float64) for v in (bird.y, bird.vx, bird.vy))
        return (vx**2 + vy**2) / 2 + float(numbers.gravity) * (y - G)

    all_of_them = np.concatenate([energy(start.bird)[None], energy(states.bird)])
    growth = np.diff(all_of_them, axis=0) / all_of_them[:-1]
    assert growth.max() < 2e-6, "rounding of float32"
    assert (states.life[-1] <= start.life).all()
    inside = np.abs(states.bird.x[:, :, None] - states.x) < np.asarray(bodies.half_width) + 0.24 - 5e-3
    inside &= np.abs(states.bird.y[:, :, None] - pile.y) < np.asarray(bodies.half_height) + 0.24 - 5e-3
    assert not (inside & (states.life > 0) & states.moving[:, :, None]).any(), "a bird is within a thing"


def test_a_stack_of_three_falls_and_takes_damage_by_height():
    """The lowest of three goes: the others fall by its height, the first on the ground and the second on the first."""
    bodies, pile = scene(SCENES["stack"])
    numbers = physics.default()
    life = pile.life * 10  # so that nothing breaks
    life[:, 0] = 0
    after = jax.tree.map(np.asarray, settled(bodies, pile._replace(life=life), numbers))
    np.testing.assert_allclose(after.y[:, 1], G + 0.42, atol=1e-5)
    np.testing.assert_allclose(after.y[:, 2], G + 0.42 + 0.84, atol=1e-5)
    taken = 0.84**2 * np.sqrt(2 * 9.81 * 0.84) - 0.5
    np.testing.assert_allclose(life[:, 2] - after.life[:, 2], taken, rtol=1e-4)
    np.testing.assert_allclose(life[:, 1] - after.life[:, 1], 2 * taken, rtol=1e-4)  # by its own fall, and by what fell on it
    stands = jax.tree.map(np.asarray, settled(bodies, pile, numbers))
    np.testing.assert_array_equal(stands.y, pile.y)
    heavy = replace(numbers, block_density=numbers.block_density * 2)
    level = padded(assembled(SCENES["stack"], [0], (-8.0, -1.5)), SHAPE)
    harder = settled(physics.bodies(level, heavy), pile._replace(life=life), heavy)
    assert (np.asarray(harder.life)[:, 1] < after.life[:, 1]).all(), "mass matters to what lies underneath"


def test_a_beam_needs_both_of_its_columns():
    bodies, pile = scene(SCENES["hut"])
    life = pile.life * 10  # so that nothing breaks
    life[:, 1] = 0
    after = jax.tree.map(np.asarray, settled(bodies, pile._replace(life=life), physics.default()))
    np.testing.assert_allclose(after.y[:, 2], G + 0.5 + 0.11, atol=1e-5)  # onto the pig under its centre
    assert (after.life[:, 4] < life[:, 4]).all()


def test_tnt_hurts_by_distance():
    things = [Thing("SquareHole", "stone", x, G + 0.42) for x in (1.0, 2.0, 3.5)] + [Thing("BasicBig", "", 9.0, G + 0.5)]
    bodies, pile = scene([*things, Thing("TNT", "", 0.0, G + 0.42)])
    life = pile.life.copy()
    life[:, TNT] = -1
    numbers = physics.default()
    after = np.asarray(settled(bodies, pile._replace(life=life), numbers).life)
    np.testing.assert_allclose(
        life[:, :3] - after[:, :3], np.broadcast_to([12 * (1 - 1 / 2.5), 12 * (1 - 2 / 2.5), 0], (LANES, 3)), rtol=1e-5
    )
    np.testing.assert_array_equal(after[:, 4], life[:, 4])
    assert np.isneginf(after[:, TNT]).all(), "it goes off once"


def pushed(**changes):
    """How far a flat shot pushes a stone square, and how much life that costs it."""
    things = [Thing("SquareHole", "stone", 0.0, G + 0.42), Thing("BasicSmall", "", 9.0, G + 0.25)]
    bodies, pile = scene(things)
    numbers = replace(physics.default(), **changes)
    if changes:
        bodies = physics.bodies(padded(assembled(things, [0], (-8.0, -1.5)), SHAPE), numbers)
    pile = pile._replace(life=np.broadcast_to(bodies.life, pile.life.shape))
    landed = flown(bodies, pile, np.full((LANES, 3), (25 / 90, 0.6, 1.0), np.float32), numbers)
    states, start = touched(bodies, pile, landed, numbers)
    return float(states.x[-1, 0, 0] - start.x[0, 0]), float(start.life[0, 0] - states.life[-1, 0, 0]), landed, bodies


def test_a_pushed_block_slides_as_friction_lets_it():
    way, taken, landed, bodies = pushed()
    numbers = physics.default()
    impulse = 1.3 * float(landed.bird.vx[0]) / (1 + float(bodies.inverse_mass[0]))
    speed = impulse * float(bodies.inverse_mass[0])
    np.testing.assert_allclose(way, speed**2 / (2 * float(numbers.friction) * float(numbers.gravity)), rtol=0.02)
    np.testing.assert_allclose(taken, impulse - 0.5, rtol=0.02)
    assert pushed(friction=np.float32(0.1))[0] > 2 * way > 0
    assert pushed(block_density=numbers.block_density * 3)[0] < way / 2
    assert pushed(block_density=numbers.block_density * 1000, block_life=numbers.block_life * 9)[0] == 0


def test_what_slides_hits_what_is_in_its_way():
    things = [Thing("SquareHole", "stone", 0.0, G + 0.42), Thing("BasicSmall", "", 0.9, G + 0.25)]
    bodies, pile = scene(things)
    numbers = physics.default()
    landed = flown(bodies, pile, np.full((LANES, 3), (25 / 90, 0.6, 1.0), np.float32), numbers)
    states, start = jax.tree.map(np.asarray, touched(bodies, pile, landed, numbers))
    assert states.life[-1, 0, 4] < start.life[0, 4]
    assert states.x[-1, 0, 4] > 0.9 or states.life[-1, 0, 4] <= 0
    assert (states.x[:, 0, 0] + 0.42 <= states.x[:, 0, 4] - 0.25 + 3e-3).all() or states.life[-1, 0, 4] <= 0


def test_wind_and_fan_carry():
    bodies, pile = scene([Thing("BasicSmall", "", 9.0, G + 0.25)])
    acts = np.full((LANES, 3), (0.5, 0.5, 1.0), np.float32)
    still = flown(bodies, pile, acts, physics.default()).bird.x[0]
    back = flown(bodies, pile, acts, replace(physics.default(), wind=np.float32(-3))).bird.x[0]
    up = flown(bodies, pile, acts, replace(physics.default(), fan=np.float32(5), band=np.float32([-7, -5]))).bird.x[0]
    none = flown(bodies, pile, acts, replace(physics.default(), fan=np.float32(5), band=np.float32([FAR, FAR]))).bird.x[0]
    assert back < still < up
    assert none == still


@pytest.mark.host
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("gravity", 0.0, "physics.gravity is 0.0; allowed: above 0"),
        ("restitution", 1.5, "physics.restitution is 1.5; allowed: at least 0 and at most 1"),
        ("block_density", [1.0, 0.0, 1.0], "physics.block_density"),
        ("friction", -0.1, "allowed: at least 0"),
        ("pig_life", [1.0, np.inf, 1.0], "physics.pig_life"),
        ("facing", 0.0, r"1 \(to the right\) or -1"),
    ],
)
def test_impossible_numbers_are_refused(field, value, words):
    physics.require_possible(physics.default())
    with pytest.raises(InputError, match=words):
        physics.require_possible(replace(physics.default(), **{field: np.float32(value)}))
