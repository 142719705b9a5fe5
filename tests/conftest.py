"""Settings of the whole suite."""

import jax
import pytest
from hypothesis import HealthCheck, settings

# Deadlines are timing thresholds; the first example of a property compiles.
settings.register_profile("suite", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("suite")

# The files that take longest, longest first: no worker is left alone with one of them at the end.
LONG = ("test_notebooks.py", "test_learner.py", "test_cli.py", "test_reproduce_society.py", "test_alchemy.py", "test_networks.py")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


@pytest.fixture(scope="module")
def quick_compilation():
    """For tests of whole commands and trainers, which do not depend on how well XLA optimises; the kernels' own tests are without."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
