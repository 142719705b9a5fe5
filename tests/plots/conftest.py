import matplotlib
import numpy as np
import pytest
from matplotlib.text import Text

from jaxdiff.studies.complexity_distribution import Settings, measure

RULES = (184, 110, 164)


@pytest.fixture(scope="session")
def dataset():
    """Three rules, two populations of 95 policies and 5 walkers."""
    return measure(Settings(rules=RULES, policies=100, steps=30, populations=2))


@pytest.fixture(autouse=True)
def nothing_global_changes():
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before, "rcParams were changed"
    import matplotlib.pyplot as plt

    assert plt.get_fignums() == [], "pyplot knows a figure"


def pixels(figure, dpi=50):
    """The figure as drawn, uint8 [height, width, 3]; drawing is part of every test that calls this."""
    figure.set_dpi(dpi)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3]


def line(ax, label):
    """x and y of the one line with this label."""
    (found,) = [a for a in ax.lines if a.get_label() == label]
    return np.asarray(found.get_xdata(), float), np.asarray(found.get_ydata(), float)


def titles(figure):
    return [title for ax in figure.axes if (title := ax.get_title(loc="left") or ax.get_title())]


def written(figure, dpi=100):
    """Draw the figure; every text that was drawn: (text, font size, box in pixels)."""
    out = []

    def draw(self, renderer, *args, **kwargs):
        if self.get_visible() and self.get_text().strip():
            out.append((self.get_text(), self.get_fontsize(), Text.get_window_extent(self, renderer)))
        return original(self, renderer, *args, **kwargs)

    original = Text.draw
    figure.set_dpi(dpi)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", draw)
        figure.canvas.draw()
    return out


def misplaced(figure):
    """Texts that overlap another or leave the figure, and texts smaller than 14 pixels where the figure is 1000 pixels wide."""
    drawn = written(figure)
    width, height = figure.bbox.size
    out = [(text, "leaves the figure") for text, _, box in drawn if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1]
    out += [(text, "is small") for text, size, _ in drawn if size / 72 * 1000 / max(figure.get_figwidth(), 10) < 14]
    for i, (text, _, one) in enumerate(drawn):
        for other, _, two in drawn[:i]:
            if min(one.x1, two.x1) - max(one.x0, two.x0) > 2 and min(one.y1, two.y1) - max(one.y0, two.y0) > 4:
                out.append((text, f"overlaps {other}"))
    return out
