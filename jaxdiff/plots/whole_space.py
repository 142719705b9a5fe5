"""What sampling misses: response curves of samples drawn over the exact one of the whole policy space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D

from jaxdiff.difficulty import response
from jaxdiff.plots.style import INK, SOFT, choose_rules, dress, heading, outside_legend, panels

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def sampled_and_exact(
    dataset: xr.Dataset, size: int = 1900, samples: int = 20, seed: int = 0, rules: Sequence[int] | None = None
) -> Figure:
    """Response curves R(theta) of samples and of the whole space, a panel a rule.

    A sample is what the paper takes: `size` programs of uniform length with uniform instructions, repeated behaviours removed, w = 2^-K. It
    is drawn from the census itself (a behaviour with the probability of its programs), so K is exact on both sides and all that differs is
    which policies are there.

    Args:
        dataset: of `studies.whole_space.measure`.
        size: programs in a sample.
        samples: how many samples.
        seed: of the samples.
        rules: which rules; the first eight when None.
    """
    chosen = choose_rules(dataset, rules)
    lengths = np.arange(1, dataset.sizes["length"])
    share = (dataset.programs.values[:, 1:] / 6.0**lengths).mean(1)
    rng = np.random.default_rng(seed)
    drawn = [np.unique(rng.choice(len(share), size, p=share / share.sum())) for _ in range(samples)]
    figure, axes = panels(len(chosen), 3.6, "ability θ [bits]", "reward per step, R")
    for ax, i in zip(axes, chosen, strict=True):
        reward, k = dataset.reward.values[i], dataset.complexity.values
        for sample in drawn:
            curve = response.curve(response.universal_weights(k[sample]), reward[sample], statistic="mean_first_hit")
            ax.plot(curve.theta, curve.reward, color=SOFT, linewidth=0.8, alpha=0.55)
        exact = response.curve(response.universal_weights(k), reward, statistic="mean_first_hit")
        ax.plot(exact.theta, exact.reward, color=INK, linewidth=2.4)
        dress(ax, f"rule {int(dataset.rule.values[i])}")
    _legend(figure, size, samples, dataset)
    return figure


def _legend(figure: Figure, size: int, samples: int, dataset: xr.Dataset) -> None:
    whole = f"all {dataset.sizes['behaviour']:,} behaviours"
    handles = [
        Line2D([], [], color=INK, linewidth=2.4, label=whole),
        Line2D([], [], color=SOFT, linewidth=0.8, label=f"{samples} samples of {size:,} programs"),
    ]
    outside_legend(figure, handles)
    heading(figure, f"What sampling misses: programs of at most {dataset.attrs['longest']} instructions")
