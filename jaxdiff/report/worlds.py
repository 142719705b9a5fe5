"""Worlds by name: registered ones, gymnax's, gymnasium's, and whatever a module makes.

SAECA-v0    gymnax:CartPole-v1    gymnasium:FrozenLake-v1    my_package.my_module:make_env
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import sys
from dataclasses import dataclass
from typing import Any

import jax

import jaxdiff
from jaxdiff.core.adapters.optional import needed
from jaxdiff.core.environment import Environment
from jaxdiff.core.episodes import check_reward
from jaxdiff.core.errors import InputError
from jaxdiff.core.seat import OneSeat

# Mean returns that count as solved where an environment does not say so itself: gymnasium's registration of the same names.
SOLVED = {"gymnax:CartPole-v1": 475.0, "gymnax:MountainCar-v0": -110.0, "gymnax:Acrobot-v1": -100.0, "gymnax:FrozenLake-misc": 0.7}
FORMS = "a registered world, gymnax:NAME, gymnasium:NAME or package.module:function"


@dataclass(frozen=True)
class Known:
    """A world that can be measured.

    Attributes:
        name: what it was called.
        env: an `Environment`, or a `core.adapters.hosted.Hosted`.
        params: its parameters; None where it has none.
        solved: the mean return that counts as solved, if known.
    """

    name: str
    env: Any
    params: Any
    solved: float | None


def find(name: str) -> Known:
    """The world of a name.

    Args:
        name: see the module's docstring.

    Raises:
        InputError: there is none; says what is missing.
    """
    source, _, rest = name.partition(":")
    if not rest:
        known_names = jaxdiff.registered()
        if name not in known_names:
            raise InputError("world", name, f"{FORMS}; registered are {', '.join(known_names)}")
        return known(*jaxdiff.make(name), name=name)
    if source == "gymnax":
        return _gymnax(name, rest)
    if source == "gymnasium":
        return _gymnasium(name, rest)
    return _from_module(name, source, rest)


def known(env: Any, params: Any = None, name: str | None = None, solved: float | None = None) -> Known:
    """Any environment of a protocol that is known, as a world that can be measured.

    Args:
        env: of this library, gymnax or gymnasium.
        params: its parameters; its defaults when None.
        name: what it is called; its own name when None.
        solved: the mean return that counts as solved; what its library says when None.

    Raises:
        InputError: of no known protocol; says what is missing.
    """
    if isinstance(env, Known):
        return Known(name or env.name, env.env, env.params if params is None else params, env.solved if solved is None else solved)
    kind = type(env)
    if any(base.__module__.startswith("gymnax.") for base in kind.__mro__):
        from jaxdiff.core.adapters.gymnax import from_gymnax

        env, params = from_gymnax(env, params)
    elif any(base.__module__.startswith("gymnasium.") for base in kind.__mro__):
        from jaxdiff.core.adapters.hosted import from_gymnasium

        env = from_gymnasium(env)
    if kind.__module__ == "jaxdiff.core.adapters.hosted":  # not imported here: it needs gymnasium
        return Known(name or env.name, env, None, env.solved if solved is None else solved)
    if not isinstance(env, Environment):
        missing = [m for m in ("reset_env", "step_env", "observation_space", "action_space", "default_params") if not hasattr(env, m)]
        lacks = f"a {kind.__name__} without {', '.join(missing)}" if missing else f"a {kind.__name__} that is no jaxdiff.core.Environment"
        raise InputError("env", lacks, "an environment of gymnax or gymnasium, or a jaxdiff.core.environment.Environment")
    params = env.default_params if params is None else params
    env = _one_seat(env, params)
    check_reward(env, params)
    called = name or env.name
    return Known(called, env, params, SOLVED.get(called, SOLVED.get(env.name)) if solved is None else solved)


def _one_seat(env: Environment[Any, Any], params: Any) -> Environment[Any, Any]:
    """The world, or the view of its first agent where rewards have an axis of agents."""
    key = jax.eval_shape(lambda: jax.random.key(0))
    space = env.action_space(params)
    _, state = jax.eval_shape(env.reset_env, key, params)
    out = jax.eval_shape(env.step_env, key, state, jax.ShapeDtypeStruct(space.shape, space.dtype), params)
    return OneSeat(env) if isinstance(out, tuple) and len(out) == 6 and len(out[2].shape) == 1 else env


def _gymnax(name: str, rest: str) -> Known:
    gymnax = needed("gymnax", "gymnax")
    from jaxdiff.core.adapters import gymnax as adapter

    if rest not in gymnax.registered_envs:
        raise InputError("world", name, _near(rest, gymnax.registered_envs, "gymnax"))
    return known(*adapter.from_gymnax(*gymnax.make(rest)), name=name)


def _gymnasium(name: str, rest: str) -> Known:
    gymnasium = needed("gymnasium", "gymnasium")
    from jaxdiff.core.adapters import hosted

    try:
        spec = gymnasium.spec(rest)
        return known(hosted.Hosted(lambda: gymnasium.make(spec), name), name=name)
    except InputError:
        raise
    except gymnasium.error.DependencyNotInstalled as error:
        raise InputError("world", f"{name}, which needs what is not installed ({error})", FORMS) from error
    except gymnasium.error.Error as error:
        near = _near(rest, gymnasium.registry, "gymnasium")
        raise InputError("world", f"{name} ({str(error).splitlines()[0]})", near) from error
    except ImportError as error:
        raise InputError("world", f"{name}, which needs what is not installed ({error})", FORMS) from error


def _near(name: str, names: Any, library: str) -> str:
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.4)
    return f"a name that {library} knows" + (f" (did you mean {close[0]}?)" if close else "")


def _from_module(name: str, module: str, attribute: str) -> Known:
    """What a function of a module makes: an environment, or an environment and its parameters."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does
    try:
        found = importlib.import_module(module)
    except Exception as error:  # whatever the module raises when it is imported
        raise InputError("world", f"{name}, whose module cannot be imported ({type(error).__name__}: {error})", FORMS) from error
    if not callable(getattr(found, attribute, None)):
        raise InputError("world", f"{name}: {module} has no function {attribute}", FORMS)
    function = getattr(found, attribute)
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise InputError("world", f"{name}, which cannot be called without arguments ({error})", FORMS) from error
    except ValueError:  # one that has no signature
        pass
    made = function()
    env, params = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if hasattr(env, "unwrapped"):
        from jaxdiff.core.adapters.hosted import Hosted

        return known(Hosted(function, name, env), name=name)
    return known(env, params, name=name)
