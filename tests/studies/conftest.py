import jax
import pytest

from jaxdiff.studies import item_bank, persons
from tests import sweeps

RULES = (0, 30, 110, 124, 164, 255)


@pytest.fixture(scope="session")
def swept():
    """Six rules, two of them with constant rewards and two of one class, two strategies, two populations of 60 policies."""
    return sweeps.sweep(RULES)


@pytest.fixture(scope="session")
def bank(swept):
    return item_bank.items(swept)


@pytest.fixture(scope="session")
def taken(swept):
    """120 persons of ability 0 to 5 bits who took all items."""
    return persons.simulate(jax.random.key(0), swept, persons.spread(120, 5.0))
