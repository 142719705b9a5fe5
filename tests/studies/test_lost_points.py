"""Where an agent loses: sums by trial and kind, and the sentence that says it."""

import numpy as np
import pytest
import xarray as xr

from jaxdiff.alchemy.regret import KINDS
from jaxdiff.core.errors import InputError
from jaxdiff.studies.lost_points import lost_points

pytestmark = pytest.mark.host


def dataset(regret):
    regret = np.asarray(regret, float)
    data = {
        "regret": (("regret_episode", "trial", "loss"), regret),
        "expected": (("regret_episode", "trial"), np.full(regret.shape[:2], 20.0)),
        "loss": (("loss",), list(KINDS)),
    }
    return xr.Dataset(data)


def test_sums_and_sentence():
    regret = np.zeros((2, 3, len(KINDS)))
    regret[0, 0, 4], regret[1, 0, 4] = 6, 8  # exploration not done
    regret[:, 1, 2], regret[:, 2, 5] = 1, 0.5
    lost = lost_points(dataset(regret))
    rows = {what: (points, share) for what, points, share in lost.rows}
    assert lost.columns == ["to what", "trial 1", "trial 2", "trial 3", "episode", "share"]
    assert rows["exploration not done"] == ([7, 0, 0, 7], 7 / 8.5)
    assert rows["all"] == ([7, 1, 0.5, 8.5], 1)
    assert rows["expected at its start"][0] == [20, 20, 20, 60]
    assert lost.total.error == pytest.approx(1.0)
    assert lost.sentence == (
        "It loses 8.5 ± 1.0 points an episode against the ideal observer (2 episodes): 7.0 of them in trial 1 "
        "(most by “exploration not done”: 7.0), 1.5 in trials 2 to 3, 0.8 in each (most by “potion wasted”: 1.0)."
    )


def test_little_to_say():
    assert lost_points(dataset(np.zeros((1, 10, 6)))).sentence == "It loses nothing against the ideal observer (1 episode)."
    one = np.zeros((1, 1, 6))
    one[0, 0, 0] = 3
    assert lost_points(dataset(one)).sentence == (
        "It loses 3.0 points an episode against the ideal observer (1 episode): 3.0 of them in trial 1 (most by “left on the table”: 3.0)."
    )
    with pytest.raises(InputError, match="without regret"):
        lost_points(xr.Dataset())
