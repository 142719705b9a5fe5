"""Levels: the public format in all its spellings, what is refused, and random levels that can be solved."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxdiff.birds import kinds, level_files, levels, physics
from jaxdiff.birds.level import Thing, assembled, half_sizes
from jaxdiff.birds.play import play
from jaxdiff.birds.settling import Pile, settling_round
from jaxdiff.birds.world import Birds, Params
from jaxdiff.core.errors import InputError

DATA = Path(__file__).parents[1] / "data" / "birds"
SLOTS = levels.Slots(6, 3, 1, 1, 3)  # those of test_world: one compilation where both run in one process
PLAIN = (DATA / "plain.xml").read_bytes()


def same(a, b):
    for one, other in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype


@pytest.mark.host
@pytest.mark.parametrize("name", ["plain", "declares_utf16", "utf16"])
def test_levels_of_the_public_format_load(name):
    level = levels.read(DATA / f"{name}.xml")
    assert [kinds.NAMES[k] for k in level.kind] == ["RectMedium", "RectMedium", "RectBig", "BasicSmall", "BasicMedium", "Platform", "TNT"]
    assert [kinds.MATERIALS[m] if m >= 0 else "" for m in level.material] == ["wood", "ice", "stone", "", "", "", ""]
    np.testing.assert_allclose(level.x, [1.5, 3.1, 2.3, 2.3, 6.1, 6.1, 4.4], rtol=1e-6)
    np.testing.assert_array_equal(level.rotation, [90, 90, 0, 0, 0, 0, 0])
    wide, high = half_sizes(level)
    np.testing.assert_allclose(wide[[0, 2, 5]], [0.11, 1.03, 0.62], rtol=1e-6)
    np.testing.assert_allclose(high[[0, 2, 5]], [0.84, 0.11, 0.155], rtol=1e-6)
    assert level.birds.tolist() == [0, 2]
    np.testing.assert_array_equal(level.sling, np.float32([-8, -2.5]))
    np.testing.assert_array_equal(level.camera, np.float32([0, 2, 20, 30]))
    assert float(level.score) == 1200
    assert levels.slots(level) == levels.Slots(3, 2, 1, 1, 2)


@pytest.mark.host
def test_a_level_written_and_read_again_is_the_same(tmp_path):
    level = levels.read(DATA / "plain.xml")
    same(levels.read(levels.write(level, tmp_path / "level.xml")), level)
    wide = levels.padded(level, levels.Slots(5, 3, 2, 2, 4))
    again = levels.read(levels.write(wide, tmp_path / "wide.xml"))
    same(again, level)
    same(levels.padded(again, levels.Slots(5, 3, 2, 2, 4)), wide)


@pytest.mark.host
@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(kinds.NAMES),
            st.sampled_from(kinds.MATERIALS),
            st.floats(-20, 20, width=32),
            st.floats(-3.5, 20, width=32),
            st.floats(-720, 720, width=32),
            st.floats(0.125, 8, width=32),
        ),
        max_size=12,
    ),
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
)
def test_any_level_survives_writing(rows, birds):
    things = [Thing("BasicSmall", "", 0.1, -3.25)]
    for name, material, x, y, rotation, scale in rows:
        category = kinds.CATEGORY[kinds.NAMES.index(name)]
        scales = (scale, 1 / scale) if category == kinds.PLATFORM else (1.0, 1.0)
        things.append(Thing(name, material if category == kinds.BLOCK else "", x, y, rotation, *scales))
    things.sort(key=lambda t: kinds.CATEGORY[kinds.NAMES.index(t.name)])
    level = assembled(things, birds, (-8.0, -1.7), width=3.0, score=12.5)
    same(level_files.parse(level_files.document(level).encode()), level)


@pytest.mark.host
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"</Level>", b"", "not XML"),
        (b"<Level width", b"<Map width", "not XML"),
        (PLAIN, b"just words", "not XML"),
        (PLAIN, b"\xff\xfe\x00", "no text"),
        (PLAIN, b"<Song><Verse/></Song>", "root Song"),
        (b"<Level width", b"<!DOCTYPE x [<!ENTITY a 'b'>]><Level width", "document type"),
        (b'type="RectBig"', b'type="RectHuge"', "type of Block is 'RectHuge'; allowed: one of SquareHole, "),
        (b'material="ice"', b'material="jelly"', "material of RectMedium is 'jelly'"),
        (b'"BasicMedium"', b'"BasicHuge"', "type of Pig is 'BasicHuge'"),
        (b'"BirdYellow"', b'"BirdPlaid"', "type of Bird is 'BirdPlaid'"),
        (b"<Pig", b"<Cow", "holding a Cow"),
        (b'<Pig type="BasicMedium" material="" x="6.1"', b'<Pig type="BasicMedium" material="" x="61"', r"\(61, 0.795\) for BasicMedium"),
        (b'y="-3.25"', b'y="-33"', r"\(2.3, -33\) for BasicSmall"),
        (b'x="-8"', b'x="-80"', "the slingshot"),
        (b'y="-3.25"', b'y="low"', "y of Pig is 'low'"),
        (b'y="-3.25"', b'y="nan"', "finite"),
        (b'y="-3.25"', b"", "missing in Pig"),
        (b'scaleX="2"', b'scaleX="-2"', "scale is -2"),
        (b'<Bird type="BirdRed"/>', b'<Bird type="BirdRed"/>' * 5, "birds is 6"),
        (b'<Slingshot x="-8" y="-2.5" />', b"", "without a Slingshot"),
    ],
)
def test_bad_files_are_refused_by_name(old, new, words):
    assert old in PLAIN
    with pytest.raises(InputError, match=words):
        level_files.parse(PLAIN.replace(old, new))


@pytest.mark.host
def test_more_that_is_refused(tmp_path):
    with pytest.raises(InputError, match="can be read"):
        levels.read(tmp_path / "nothing.xml")
    level = levels.read(DATA / "plain.xml")
    for wrong in (levels.stack([level, level]), levels.take(levels.stack([level]), slice(0, 1))):
        with pytest.raises(InputError, match="batch"):
            levels.write(wrong, tmp_path / "level.xml")
    no_pig = PLAIN.replace(b"<Pig", b"<TNT")
    with pytest.raises(InputError, match="without a pig"):
        level_files.parse(no_pig)
    with pytest.raises(InputError, match="at least 3, as the level has"):
        levels.padded(level, levels.Slots(blocks=2))
    with pytest.raises(InputError, match="levels is 'empty'"):
        levels.stack([])
    with pytest.raises(InputError, match="pigs is 0"):
        levels.Slots(pigs=0)


@pytest.mark.host
def test_batches_have_one_shape():
    small, large = levels.read(DATA / "plain.xml"), Birds().default_params.level
    batch = levels.stack([small, large])
    assert batch.kind.shape == (2, levels.slots(batch).objects)
    same(levels.padded(levels.take(batch, 0), levels.slots(small)), small)


@pytest.fixture(scope="module")
def made():
    return levels.generated(3, 3, SLOTS, tries=200)


@pytest.mark.slow
def test_random_levels_can_be_solved(made):
    env = Birds(*SLOTS.counts, SLOTS.birds)
    for i in range(3):
        level = levels.check(levels.take(made.level, i))
        solution = np.repeat(made.solution[i][None], 200, axis=0)  # as many as were tried: one compilation
        outcome = play(env, Params(level, physics.default()), solution)
        assert bool(outcome.passed.all())
        assert 0 < made.share[i] <= 0.6
    assert len({made.level.x[i].tobytes() for i in range(3)}) == 3


@pytest.mark.slow
def test_random_levels_stand_and_repeat(made, tmp_path):
    """Nothing falls before the first shot, and a seed means the same levels, written and read or not."""

    @jax.jit
    def moves(level):
        bodies = physics.bodies(level, physics.default())
        pile = Pile(*(jnp.asarray(v)[None] for v in (level.x, level.y, bodies.life)))
        return settling_round(bodies, pile, physics.default(), SLOTS.range(kinds.TNT))[1]

    for i in range(3):
        level = levels.take(made.level, i)
        assert not bool(moves(level))
        same(levels.padded(levels.read(levels.write(level, tmp_path / "l.xml")), SLOTS), level)
    same(levels.generate(3, 2, SLOTS, tries=200), levels.take(made.level, slice(0, 2)))
    with pytest.raises(InputError, match="slots for"):
        levels.generate(0, 1, levels.Slots(0, 1, 0, 0, 1))
