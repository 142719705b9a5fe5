"""jaxdiff: how hard is an environment, for whom, and why?

Worlds and populations of policies go in, returns come out, and measures of difficulty are computed from the returns. Submodules are
imported when first used, so that `import jaxdiff` neither starts a JAX backend nor takes noticeable time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxdiff import agents, alchemy, automata, birds, core, difficulty, plots, populations, report, society, studies
    from jaxdiff.core.errors import InputError as InputError
    from jaxdiff.core.registry import make as make
    from jaxdiff.core.registry import register as register
    from jaxdiff.core.registry import registered as registered
    from jaxdiff.core.rollout import rollout as rollout
    from jaxdiff.report.comparison import compare as compare
    from jaxdiff.report.measurement import measure as measure

__version__ = "0.1.0"
_FUNCTIONS = {
    "InputError": "jaxdiff.core.errors",
    "compare": "jaxdiff.report.comparison",
    "make": "jaxdiff.core.registry",
    "measure": "jaxdiff.report.measurement",
    "register": "jaxdiff.core.registry",
    "registered": "jaxdiff.core.registry",
    "rollout": "jaxdiff.core.rollout",
}
_MODULES = ("agents", "alchemy", "automata", "birds", "core", "difficulty", "plots", "populations", "report", "society", "studies")
__all__ = (
    "InputError",
    "__version__",
    "agents",
    "alchemy",
    "automata",
    "birds",
    "compare",
    "core",
    "difficulty",
    "make",
    "measure",
    "plots",
    "populations",
    "register",
    "registered",
    "report",
    "rollout",
    "society",
    "studies",
)


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"jaxdiff.{name}")
    raise AttributeError(f"module 'jaxdiff' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
