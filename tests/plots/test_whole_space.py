import numpy as np

from jaxdiff.difficulty import response
from jaxdiff.plots.whole_space import sampled_and_exact
from jaxdiff.studies import whole_space


def test_samples_lie_around_the_exact_curve_and_never_above_its_best():
    data = whole_space.measure(whole_space.Settings(longest=5, rules=(110, 164), steps=30))
    figure = sampled_and_exact(data, size=50, samples=4)
    figure.canvas.draw()
    assert len(figure.axes) == 2
    for i, ax in enumerate(figure.axes):
        *samples, exact = ax.lines
        assert len(samples) == 4
        reward = data.reward.values[i]
        wanted = response.curve(response.universal_weights(data.complexity.values), reward, statistic="mean_first_hit")
        np.testing.assert_array_equal(exact.get_xdata(), wanted.theta)
        np.testing.assert_array_equal(exact.get_ydata(), wanted.reward)
        assert all(np.max(line.get_ydata()) <= reward.max() for line in samples)
