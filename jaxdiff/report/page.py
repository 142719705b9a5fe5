"""A measurement as one self-contained page: numbers, figures inside the file, and what they do not say. Nothing is fetched."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import numpy as np

import jaxdiff
from jaxdiff.core.errors import require
from jaxdiff.core.files import whole
from jaxdiff.plots import any_environment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from jaxdiff.difficulty.numbers import Number
    from jaxdiff.report.measurement import Measurement

STYLE = """
body { font: 16px/1.5 Georgia, serif; color: #1a1a1a; max-width: 60em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.2em; margin-top: 2em; }
table { border-collapse: collapse; font: 13px/1.4 Helvetica, Arial, sans-serif; }
th, td { padding: 0.25em 0.8em; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }
td.n, th.n { text-align: right; } td.n { white-space: nowrap; }
p.first { border-left: 4px solid #1f4fbf; padding-left: 1em; }
img { max-width: 100%; } figure { margin: 1em 0; } figcaption { font-size: 0.9em; color: #5f5f5f; }
@media print { body { margin: 0; max-width: none; font-size: 11pt; } figure, tr { break-inside: avoid; } h2 { break-after: avoid; } }
"""


def write(measurement: Measurement, path: str | Path) -> Path:
    """Write the page.

    Args:
        measurement: what was measured.
        path: file name; `.html` is added where it is missing.

    Returns:
        the file's path.

    Raises:
        InputError: another ending, or a folder that does not exist or cannot be written.
    """
    path = Path(path)
    path = path if path.suffix else path.with_name(path.name + ".html")
    require(path.suffix.lower() in (".html", ".htm"), "path", str(path), "a file name that ends in .html")
    with whole(path) as beside:
        beside.write_text(text(measurement), encoding="utf-8")
    return path


def text(measurement: Measurement) -> str:
    """The page as HTML."""
    name = html.escape(measurement.name)
    figures = "".join(_figure(figure, caption) for figure, caption in _figures(measurement))
    said = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in measurement.sentences())
    bootstrap = (
        "Intervals: 95 %, percentiles of a bootstrap over policies (of the mean: over policies and episodes; of the share that solves: "
        "exact, binomial); "
    )
    intervals = bootstrap if measurement.settings["resamples"] else "Without a bootstrap there are no intervals; "
    settings = ", ".join(f"{k} {v}" for k, v in measurement.settings.items() if v is not None)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>How hard is {name}?</title><style>{STYLE}</style></head><body>
<h1>How hard is {name}?</h1>
<p class="first"><strong>Which number should I quote, and what does it not say?</strong> {html.escape(quote(measurement))}</p>
<h2>What was done</h2><ul>{said}</ul>
<h2>Numbers</h2>{_numbers(measurement)}{_groups(measurement)}
<h2>Figures</h2>{figures}
<h2>How it was made</h2><p>jaxdiff {jaxdiff.__version__}, jax {jax.__version__}; {html.escape(settings)}. {intervals}tries are the median of
a search without replacement, in bits. LS is L(&pi;) + log2(steps &times;
trials to verify at confidence 1 &minus; &delta;).</p>
</body></html>
"""


def quote(measurement: Measurement) -> str:
    """The paragraph that the page opens with."""
    from jaxdiff.report.measurement import interval, shown

    n = measurement.numbers
    limits = (
        "It says how rare good policies are in this population, not how long a learner takes: a world whose reward is sparse can look easy "
        "if what little is found counts as best, and the best policy found need not be the best there is."
    )
    if n.undetermined:
        return (
            f"None. Difficulty is undetermined: {n.undetermined}. Try more policies, another population, longer episodes, or look whether "
            "rewards can be reached at all; a flat line is no evidence that the world is easy or hard."
        )
    kind = "tries_solved" if "tries_solved" in n.by_name else "tries_0.25"
    number = n.by_name[kind]
    goal = "solves it" if kind == "tries_solved" else "is within a quarter of the best found, counted from the mean"
    if np.isinf(number.value):
        above = "" if np.isnan(number.low) else f": quote that its difficulty is above {shown(number.low)} bits for this population (95 %)"
        return f"None of {len(measurement.collected.returns):,} policies {goal}{above}. {limits}"
    between = f" ({interval(number)})" if interval(number) else ""
    return (
        f"Quote {shown(number.value)} bits{between}: log2 of how many policies of this population a blind search tries until "
        f"one {goal}. Say with it which population, how many policies and how many episodes. {limits}"
    )


def _numbers(measurement: Measurement) -> str:
    from jaxdiff.report.measurement import interval, shown

    rows = "".join(
        f"<tr><td>{html.escape(what)}</td><td class='n'>{shown(n.value, name)}</td><td class='n'>{interval(n, name)}</td>"
        f"<td><code>{name}</code></td></tr>"
        for name, what, n in measurement.rows()
    )
    return f"<table><thead><tr><th>what</th><th>value</th><th>95 % interval</th><th>name</th></tr></thead><tbody>{rows}</tbody></table>"


def _groups(measurement: Measurement) -> str:
    from jaxdiff.report.measurement import interval, shown

    if not measurement.by_population:
        return ""
    names = (
        "mean",
        "variance_within",
        "variance_between",
        "percentile_99.9",
        "share_solving",
        "tries_solved",
        "pic",
        "poic",
        "tries_0.25",
        "discrimination",
    )
    groups = measurement.by_population

    def cell(name: str, n: Number) -> str:
        between = interval(n, name)
        return f"<td class='n'>{shown(n.value, name)}" + (f"<br><small>{between}</small>" if between else "") + "</td>"

    # Populations are columns: there are fewer of them, and a sheet of paper is not wide.
    head = "".join(f"<th class='n'>{html.escape(group)}</th>" for group in groups)
    rows = "".join(
        f"<tr><td><code>{name}</code></td>" + "".join(cell(name, n.by_name[name]) for n in groups.values()) + "</tr>"
        for name in names
        if any(name in n.by_name and not np.isnan(n.by_name[name].value) for n in groups.values())
    )
    return (
        "<h2>By population</h2>"
        + ("<p>Below each number its 95 % interval.</p>" if measurement.settings["resamples"] else "")
        + f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _figures(measurement: Measurement) -> list[tuple[Figure, str]]:
    c = measurement.collected
    panels = {name: c.returns[c.group == i] for i, name in enumerate(c.names)}
    made = [
        (
            any_environment.three_panels(panels, measurement.name, measurement.solved),
            "Left: mean return of every policy in ascending order, and all of its episodes. Middle: histogram of mean returns. Right: "
            "variance of a policy's returns against their mean. Dashed: what counts as solved.",
        )
    ]
    if measurement.curve is not None:
        figure = any_environment.response_curve(
            measurement.curve.theta, measurement.curve.reward, measurement.random.value, measurement.band
        )
        caption = (
            "Response curve: the mean return that a blind search of so many bits reaches with probability 1/2. Where it is steep, the "
            "world tells better searchers from worse ones."
        )
        made.append((figure, caption + ("" if measurement.band is None else " Band: 95 %, resampling policies.")))
        figure = any_environment.descriptions(c.bits, c.returns.mean(1), c.group, c.names)
        made.append((figure, "Mean return and length of the policies' descriptions."))
    return made


def _figure(figure: Figure, caption: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    data = base64.b64encode(buffer.getvalue()).decode()
    shown = html.escape(caption, quote=True)
    return f'<figure><img alt="{shown}" src="data:image/png;base64,{data}"><figcaption>{shown}</figcaption></figure>'
