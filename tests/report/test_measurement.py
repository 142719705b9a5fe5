import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxdiff
from jaxdiff.cli import main
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError
from jaxdiff.core.spaces import Box, Discrete
from jaxdiff.populations import actions
from jaxdiff.report import page, tables, worlds
from jaxdiff.report.comparison import compare
from jaxdiff.report.measurement import interval, measure
from jaxdiff.studies import returns as collecting
from jaxdiff.sweep import labelled, pieces


@dataclass(frozen=True)
class Corridor(Environment):
    """Reward at the far end of a corridor; action 1 leads on, action 0 back to the start. No luck anywhere."""

    length: int = 3
    steps: int = 6
    kind: str = "plain"

    @property
    def name(self):
        return f"Corridor of {self.length}"

    @property
    def default_params(self):
        return np.float32(1)

    def reset_env(self, key, params):
        return jnp.int32(0), (jnp.int32(0), jnp.int32(0))

    def step_env(self, key, state, action, params):
        place, time = state
        action = jnp.asarray(action).reshape(-1)[0]
        there = (place == self.length - 1) & (action == 1)
        place = jnp.where(action == 1, jnp.minimum(place + 1, self.length - 1), 0).astype(jnp.int32)
        reward = jnp.where(there, params, jnp.float32(0)).astype(jnp.float32)
        if self.kind == "nan":
            reward = jnp.where(there, jnp.float32(jnp.nan), reward)
        if self.kind == "flat":
            reward = reward * 0
        over = (time + 1 >= self.steps) & (self.kind != "endless")
        return place, (place, time + 1), reward, there & (self.kind != "endless"), over, {}

    def observation_space(self, params):
        return Discrete(self.length)

    def action_space(self, params):
        return Box(-1.0, 1.0, (1,)) if self.kind == "real" else Discrete(2)


OPTIONS = {"policies": 60, "episodes": 2, "steps": 9, "resamples": 30}


@pytest.fixture(scope="module")
def measured():
    return measure(Corridor(), population="programs", key=3, solved=1.0, **OPTIONS)


def test_numbers_of_a_world_without_luck(measured):
    n = measured.numbers.by_name
    means = measured.collected.returns.mean(1)
    assert set(np.unique(means)) == {0.0, 1.0}
    assert n["mean"].value == pytest.approx(means.mean())
    assert n["share_solving"].value == pytest.approx((means == 1).mean())
    assert n["variance_within"].value == 0
    assert n["best"].value == n["best_fresh"].value == 1
    # Each policy's return is certain: PIC is the entropy of the returns.
    p = means.mean()
    assert n["pic"].value == pytest.approx(-(p * np.log2(p) + (1 - p) * np.log2(1 - p)))
    for name in ("mean", "pic", "tries_0.25", "variance_between"):
        assert n[name].low <= n[name].value <= n[name].high
    # The simplest program that solves it is "always 1": 2 bits, 3 steps, one trial.
    assert n["bits_solved"].value == 2
    assert n["ls_solved"].value == pytest.approx(2 + np.log2(3))
    assert measured.horizon.value == 1, "six steps are plenty"


def test_what_is_said(measured):
    text = measured.table()
    for word in ("Corridor of 3", "effective horizon", "LS: bits to find and verify", "60 policies", "random_actions"):
        assert word in text
    data = measured.to_xarray()
    assert data.sizes["policy"] == 60
    assert float(data.number.sel(name="mean", bound="value")) == measured.numbers.by_name["mean"].value
    assert (data.response_band.sel(side="low") <= data.response_theta).all()
    assert re.search(r"discrimination +a jump", text), "there are only good programs and bad ones"


def test_the_page_is_whole(measured, tmp_path):
    path = measured.report(tmp_path / "page")
    text = path.read_text()
    assert path.name == "page.html"
    assert text.index("Which number should I quote") < text.index("<h2>")
    assert text.count("data:image/png;base64,") == 3
    assert not re.search(r"""(?:src|href)=["'](?!data:)|https?://|url\(|@import|<script""", text), "nothing is fetched"
    with pytest.raises(InputError, match=r"ends in \.html"):
        measured.report(tmp_path / "page.pdf")


@pytest.mark.slow
@pytest.mark.host
def test_the_page_in_a_browser(tmp_path):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no chromium here to open the page in")
    path = measure(Corridor(), population="networks", **OPTIONS).report(tmp_path / "page.html")  # six populations: the widest table
    # The browser itself says whether every figure has been decoded, what it asked the network for, and what is too wide for the page.
    check = (
        "<script>onload=()=>{const i=[...document.images];"
        "document.title='figures '+i.filter(x=>x.complete&&x.naturalWidth>0).length+' of '+i.length+"
        "' requests '+performance.getEntriesByType('resource').filter(r=>!r.name.startsWith('data:')).length+"
        "' cut off '+[...document.body.children].filter(e=>e.scrollWidth>document.body.clientWidth).length}</script>"
    )
    path.write_text(path.read_text().replace("</body>", check + "</body>"))
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--virtual-time-budget=10000", "--window-size=1000,1400", "--dump-dom", path.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "<title>figures 3 of 3 requests 0 cut off 0</title>" in shown


def test_a_stopped_run_goes_on(measured, tmp_path):
    made = []

    def keep(name, about, make):
        made.append(name)
        return pieces.keeper(tmp_path)(name, about, make)

    constant = actions.constant_actions(Discrete(2))
    options = {"episodes": 2, "steps": 9, "chunk": 1}
    first = collecting.collect(Corridor(), None, constant, jax.random.key(0), keep=keep, **options)
    assert len(made) == len(list(tmp_path.iterdir())) == 2
    kept = [path.stat().st_mtime_ns for path in sorted(tmp_path.iterdir())]
    again = collecting.collect(Corridor(), None, constant, jax.random.key(0), keep=keep, **options)
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.iterdir())] == kept
    assert np.array_equal(first.returns, again.returns)
    whole = collecting.collect(Corridor(), None, constant, jax.random.key(0), **{**options, "chunk": 2})
    assert np.array_equal(first.returns, whole.returns), "chunks do not matter"


def test_bad_worlds_and_populations():
    with pytest.raises(InputError, match=r"not finite for policy 1 \(constant actions\) at step 2"):
        measure(Corridor(kind="nan"), population="constants", **OPTIONS)
    for population in ("constants", "programs"):
        with pytest.raises(InputError, match="real actions"):
            measure(Corridor(kind="real"), population=population, **OPTIONS)
    with pytest.raises(InputError, match="object without reset_env, step_env"):
        measure(object())
    with pytest.raises(InputError, match="population is 'people'"):
        measure(Corridor(), population="people")
    for option in ("episodes", "policies", "steps"):
        with pytest.raises(InputError, match=f"{option} is 0"):
            measure(Corridor(), **{**OPTIONS, option: 0})


@pytest.mark.slow
def test_undetermined_and_endless():
    flat = measure(Corridor(kind="flat"), population="constants", **OPTIONS)
    assert "all returns are equal (0)" in flat.numbers.undetermined
    assert "undetermined" in flat.table()
    assert "None. Difficulty is undetermined" in page.text(flat)
    one = measure(Corridor(), population=actions.constant_actions(Discrete(2)).take(slice(1, 2)), **OPTIONS)
    assert "one policy only" in one.numbers.undetermined
    assert np.isnan(one.numbers.by_name["tries_0"].value)
    # What a library calls solved is of whole episodes; what the user calls so is hers.
    endless = measure(worlds.known(Corridor(kind="endless"), solved=1.0), population="constants", **OPTIONS)
    assert endless.solved is None
    assert "calls solved, 1, is of whole episodes" in endless.table()
    assert measure(Corridor(kind="endless"), population="constants", solved=1.0, **OPTIONS).solved == 1.0
    assert endless.bounded == 1
    assert "had not ended after 9 steps" in endless.table()


def test_tables_of_small_worlds():
    w = tables.tabulate(Corridor(), np.float32(1), 6)
    # Places 0..2 at times 0..5, as far as they can be reached.
    assert len(w.next) == 1 + 2 + 3 * 4
    assert w.reward.max() == 1
    assert "more than 5 states" in tables.tabulate(Corridor(), np.float32(1), 6, most=5)
    assert "real" in tables.tabulate(Corridor(kind="real"), np.float32(1), 6)
    env, params = jaxdiff.make("SAECA-v0", width=9, steps=50)
    assert isinstance(tables.tabulate(env, params, 500), str)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.host
def test_several_populations_each_with_intervals(tmp_path):
    both = (actions.constant_actions(Discrete(2)), actions.random_actions(Discrete(2), 5))
    found = measure(Corridor(), population=both, **OPTIONS)
    assert list(found.by_population) == ["constant actions", "random actions"]
    mean = found.by_population["random actions"].by_name["mean"]
    assert mean.low <= mean.value <= mean.high
    data = found.to_xarray()
    for bound in ("value", "low", "high"):
        assert float(data.number_of_population.sel(group="random actions", name="mean", bound=bound)) == getattr(mean, bound)
    assert f"<small>{interval(mean)}</small>" in page.text(found)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.host
def test_larger_networks():
    found = measure(Corridor(), population="larger_networks", **{**OPTIONS, "policies": 8})
    assert list(found.by_population) == ["32 hidden, bias", "64x64 hidden, bias"]
    # 3 one-hot places, 2 actions: weights and biases, of 1 to 16 bits or exact ones, and 4 bits that say which.
    weights = {"32 hidden, bias": 32 * 4 + 2 * 33, "64x64 hidden, bias": 64 * 4 + 64 * 65 + 2 * 65}
    for group, name in enumerate(found.by_population):
        each = (found.collected.bits[found.collected.group == group] - 4) / weights[name]
        assert set(each) <= {*range(1, 17), 32}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.host
def test_devices_share_the_work_and_change_nothing():
    code = (
        "import jax, numpy as np\n"
        "from jaxdiff.studies import returns as collecting\n"
        "from jaxdiff.studies.knobs import Knobs\n"
        "from jaxdiff.populations import actions\n"
        "assert jax.device_count() == 2\n"
        "env = Knobs('chain', 3, horizon=6)\n"
        "everyone = actions.random_actions(env.action_space(None), 5)\n"
        "def run(devices):\n"
        "    return collecting.collect(env, None, everyone, jax.random.key(0), episodes=2, steps=6, chunk=2, devices=devices)\n"
        "one, two = run(None), run(jax.devices())\n"
        "for name in ('returns', 'lengths', 'endings', 'bits', 'group'):\n"
        "    assert np.array_equal(getattr(one, name), getattr(two, name)), name\n"
        "assert 0 < one.returns.mean() < 1\n"
    )
    flags = "--xla_force_host_platform_device_count=2 --xla_backend_optimization_level=0"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=Path(__file__).parents[2], timeout=300)


@pytest.mark.host
@pytest.mark.parametrize("library", ["gymnax", "gymnasium"])
def test_a_library_that_is_missing_is_named(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=rf"pip install 'jaxdiff\[{library}\]'"):
        worlds.find(f"{library}:CartPole-v1")


@pytest.mark.host
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Nothing-v0"], "'Nothing-v0'"),
        (["not_there_measured:make"], "cannot be imported"),
        (["SAECA-v0", "--policies", "0"], "policies is 0"),
        (["SAECA-v0", "--episodes", "0"], "episodes is 0"),
        (["SAECA-v0", "--steps", "-1"], "steps is -1"),
        (["SAECA-v0", "--chunk", "0"], "chunk is 0"),
        (["SAECA-v0", "--devices", "0"], "devices is 0"),
        (["SAECA-v0", "--seed", "-1"], "seed is -1"),
        (["SAECA-v0", "--resamples", "-1"], "resamples is -1"),
        (["SAECA-v0", "--solved", "nan"], "solved is nan"),
    ],
)
def test_bad_input_on_the_command_line(arguments, said, capsys):
    assert main.main(["measure", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_compare_orders(measured):
    def fake(name, share):
        returns = np.zeros((400, 2), np.float32)
        returns[: int(400 * share)] = 1
        c = replace(measured.collected, returns=returns)
        return replace(measured, name=name, collected=c)

    found = compare([fake("easy", 0.5), fake("hard", 0.01), fake("also easy", 0.49)], resamples=200)
    assert found.order[0] == "hard"
    pairs = {(p.harder, p.easier): p for p in found.pairs}
    assert pairs[found.order[0], found.order[2]].significant
    assert not pairs[found.order[1], found.order[2]].significant
    assert "may be chance" in found.table()
    assert "discrimination: share of the way" in found.table()
    assert len(found.discrimination) == 3
    with pytest.raises(InputError, match="at least two"):
        compare([measured])


def test_worlds_by_name(tmp_path, monkeypatch):
    assert worlds.find("Lambda-v0").env.name == "Lambda-v0 (first seat)"
    (tmp_path / "mine_measured.py").write_text("def make_env():\n    return 3\n\ndef needs(x):\n    pass\n")
    (tmp_path / "broken_measured.py").write_text("import nothing_like_it\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, words in (
        ("Nothing-v0", "world is 'Nothing-v0'"),
        ("mine_measured:make_env", "a int without reset_env"),
        ("mine_measured:other", "no function other"),
        ("mine_measured:needs", "without arguments"),
        ("broken_measured:make", "ModuleNotFoundError"),
        ("not_there_measured:make", "cannot be imported"),
    ):
        with pytest.raises(InputError, match=words):
            worlds.find(name)


@pytest.mark.slow
@pytest.mark.host
def test_the_command_line(tmp_path, capsys):
    pytest.importorskip("gymnasium")
    arguments = ["--population", "constants", "--episodes", "4", "--steps", "100", "--resamples", "30"]
    assert main.main(["measure", "gymnasium:FrozenLake-v1", *arguments, "--out", str(tmp_path), "--json"]) == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out.splitlines()[-1])
    assert shown["settings"]["solved"] == 0.7
    assert {p.name for p in tmp_path.iterdir()} == {"measurement.zarr.zip", "report.html", "runs"}
    assert labelled.load(tmp_path / "measurement.zarr.zip", "measurement").sizes["policy"] == 4
    assert main.main(["measure", "gymnasium:FrozenLeak-v1"]) == 2
    assert "did you mean FrozenLake" in capsys.readouterr().err
    assert main.main(["compare", "SAECA-v0"]) == 2
    assert "at least two worlds" in capsys.readouterr().err
    assert main.main(["compare", "SAECA-v0", "Lambda-v0", "--gamma", "2"]) == 2, "before anything is measured"
    assert "gamma is 2" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.host
def test_cartpole_is_solved_by_some_untrained_networks():
    pytest.importorskip("gymnax", reason="gymnax is not installed (1.0.1 refuses jax 0.12)")
    found = measure("gymnax:CartPole-v1", policies=300, episodes=2, steps=500, resamples=50)
    assert found.solved == 475
    assert found.numbers.by_name["share_solving"].value > 0
    assert len(found.by_population) == 6
