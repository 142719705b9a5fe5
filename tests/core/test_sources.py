import importlib
import sys

import pytest

from jaxdiff.automata.world import SAECA
from jaxdiff.core import sources

pytestmark = pytest.mark.host
CODE = """
import gymnasium

class World(gymnasium.Env):
    def step(self, action):
        return 0, {reward}, True, False, {{}}

def make():
    return gymnasium.Wrapper(World())
"""


def test_a_digest_follows_the_code(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = {}
    for number, reward in enumerate((1.0, 1.0, 5.0)):
        (tmp_path / f"world_{number}.py").write_text(CODE.format(reward=reward))
        module = importlib.import_module(f"world_{number}")
        found[number] = [sources.digest(thing) for thing in (module.World(), module.make(), module.make)]
    assert found[0] == found[1]
    assert all(a != b for a, b in zip(found[0], found[2], strict=True)), "also through wrappers and functions"


def test_a_digest_is_of_the_code_alone():
    assert sources.digest(SAECA(width=9)) == sources.digest(SAECA(width=21)) != sources.digest(print)
