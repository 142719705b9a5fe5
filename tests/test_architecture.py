"""The house: imports point one way, importing is light, nothing global is changed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "jaxdiff"
# A package may import those of lower rank and itself; worlds do not know one another.
RANK = {
    **dict.fromkeys(["core"], 0),
    **dict.fromkeys(["automata", "alchemy", "society", "birds"], 1),
    **dict.fromkeys(["populations", "difficulty"], 2),
    **dict.fromkeys(["agents", "sweep"], 3),
    **dict.fromkeys(["studies"], 4),
    **dict.fromkeys(["plots"], 5),
    **dict.fromkeys(["report"], 6),
    **dict.fromkeys(["cli"], 7),
}
FILES = sorted(PACKAGE.rglob("*.py"))


def imports(path):
    """Modules a file imports, anywhere in it, as dotted names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part(path):
    inside = path.relative_to(PACKAGE).parts
    return inside[0] if len(inside) > 1 else None


@pytest.mark.host
@pytest.mark.parametrize("path", [p for p in FILES if part(p)], ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    mine = part(path)
    for name in imports(path):
        words = name.split(".")
        if words[0] != "jaxdiff" or len(words) < 2 or words[1] not in RANK:
            continue
        theirs = words[1]
        assert theirs == mine or RANK[theirs] < RANK[mine], f"{mine} imports {name}"
        # Measures take arrays: they import no world.
        assert not (mine == "difficulty" and theirs in ("automata", "populations")), f"difficulty imports {name}"


@pytest.mark.host
def test_every_package_has_a_rank():
    assert {part(p) for p in FILES} - {None} == set(RANK)


@pytest.mark.host
def test_kernels_need_no_storage_plots_or_command_line():
    """Accelerator machines are bare: what bench/accelerator.py uses imports jax, numpy and the standard library alone."""
    code = (
        "import sys\n"
        "for name in ('scipy', 'xarray', 'zarr', 'matplotlib', 'tyro', 'rich', 'pandas'): sys.modules[name] = None\n"
        "from jaxdiff.automata import rollouts, strategies, world, eca, apl\n"
        "from jaxdiff.populations import programs\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.host
def test_importing_starts_no_backend_and_changes_no_setting():
    code = (
        "import sys, jax, matplotlib\n"
        "before = list(dict.items(matplotlib.rcParams))  # reading them one by one would start pyplot\n"
        "import jaxdiff, jaxdiff.automata.strategies, jaxdiff.studies.reproduction, jaxdiff.plots.paper, jaxdiff.cli.main\n"
        "from jax._src import xla_bridge\n"
        "assert not xla_bridge.backends_are_initialized(), 'a backend was started'\n"
        "assert list(dict.items(matplotlib.rcParams)) == before, 'rcParams were changed'\n"
        "assert 'matplotlib.pyplot' not in sys.modules, 'pyplot was imported'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.host
def test_the_front_door_is_light():
    code = "import sys, jaxdiff\nassert not {'jax', 'numpy', 'scipy', 'matplotlib'} & set(sys.modules), sorted(sys.modules)\n"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.host
def test_public_names_resolve():
    import jaxdiff

    for name in jaxdiff.__all__:
        assert getattr(jaxdiff, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        jaxdiff.nothing  # noqa: B018


@pytest.mark.host
def test_the_library_speaks_of_no_machine():
    """No address of a package registry and no absolute path of a developer's machine is in the repository's own files."""
    names = ("constraints.txt", "pyproject.toml", "Makefile", "README.md", "CHANGELOG.md", ".ci/run")
    for path in [*FILES, *(ROOT / name for name in names if (ROOT / name).exists())]:
        text = path.read_text()
        assert "/root/" not in text, path
        assert "pypi.org" not in text, path
        assert "--index-url" not in text, path


@pytest.mark.host
@pytest.mark.parametrize("value", ["5", None, 2.5, [3]])
def test_what_is_no_integer_is_refused_by_name(value):
    from jaxdiff.automata import strategies, world
    from jaxdiff.core.errors import InputError
    from jaxdiff.difficulty import response
    from jaxdiff.studies import complexity_distribution as study

    for argument, call in {
        "steps": lambda: strategies.fresh([[0]], world.paper_world(110), value),
        "width": lambda: world.SAECA(width=value),
        "policies": lambda: study.Settings(policies=value),
        "repeats": lambda: response.first_hit_monte_carlo(None, [1.0], [1.0], 0.0, value),
    }.items():
        with pytest.raises(InputError, match=f"{argument} is"):
            call()
    for call in (lambda: response.first_hit(["a"], [1.0], 0.0), lambda: response.first_hit([1.0], [1.0], "x")):
        with pytest.raises(InputError, match="allowed"):
            call()
