"""How many policies are drawn before one of weight 2^-k appears, and two round numbers around it (paper, Proposition 5, Figure 3)."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from jaxdiff.core.errors import require
from jaxdiff.plots.style import HIGH, INK, LOW, NOTE, SOFT, dress, new_figure


def exact(k: np.ndarray, w_all: float = 1.0) -> np.ndarray:
    """fm(k) = -1 / log2(1 - 2^-k / w_all): draws, with replacement, that bring the policy with probability 1/2; float64 [n].

    Args:
        k: complexities above -log2(w_all), [n].
        w_all: sum of 2^-K over the population.
    """
    return -1.0 / np.log2(1.0 - 2.0 ** -np.asarray(k, np.float64) / w_all)


def bound(longest: float = 10.0, w_all: float = 1.0) -> Figure:
    """Fm between fr(k) = 2^k w_all and fl(k) = 2^(k-1) w_all, and all three as a fraction of fr.

    Args:
        longest: largest complexity shown.
        w_all: sum of 2^-K over the population.

    Raises:
        InputError: a sum that is not positive, or a complexity that is not above its logarithm.
    """
    require(w_all > 0, "w_all", w_all, "a number above 0")
    least = max(-np.log2(w_all), 0.0)
    require(longest > least + 1, "longest", longest, f"a number above {least + 1:g}")
    k = np.linspace(least, longest, 401)[1:]
    upper, lower, middle = 2.0**k * w_all, 2.0 ** (k - 1) * w_all, exact(k, w_all)
    figure = new_figure(4.8)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for ax, unit in ((left, np.ones_like(k)), (right, upper)):
        ax.plot(k, upper / unit, color=HIGH, linestyle="--", linewidth=2, label=r"fr = $2^k\,w_{\mathrm{all}}$")
        ax.plot(k, middle / unit, color=INK, linewidth=2.4, label=r"fm = $-1\,/\,\log_2(1 - 2^{-k}/\,w_{\mathrm{all}})$")
        ax.plot(k, lower / unit, color=LOW, linestyle=":", linewidth=2.6, label=r"fl = $2^{k-1}\,w_{\mathrm{all}}$")
    left.set_yscale("log", base=2)
    left.set(xlim=(least, longest), ylim=(lower[0] / 2, upper[-1] * 2))
    left.legend(fontsize=NOTE, labelcolor=INK, frameon=False, loc="upper left")
    dress(left, "policies to draw for an even chance", "complexity k of the policy sought", "policies drawn, N")
    right.axhline(np.log(2), color=SOFT, linewidth=1, linestyle="-.")
    right.annotate(
        f"ln 2 = {np.log(2):.2f}", (longest, np.log(2)), (0, 5), textcoords="offset points", ha="right", fontsize=NOTE, color=INK
    )
    right.set(xlim=(least, longest), ylim=(0, 1.09))
    dress(right, "as a fraction of fr", "complexity k", "N / fr")
    return figure
