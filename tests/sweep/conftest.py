import pytest

from jaxdiff.sweep import runner
from tests.sweep.stores import JOB


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """A whole store of JOB."""
    path = tmp_path_factory.mktemp("undisturbed") / "a.zarr"
    done = runner.run(JOB, path)
    assert len(done.computed) == len(JOB.tasks())
    assert done.damaged == ()
    return path
