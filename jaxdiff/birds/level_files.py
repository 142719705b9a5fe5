"""Levels as files of the public Science-Birds format, in its own coordinates.

The format is `Level > Camera, Score, Birds > Bird, Slingshot, GameObjects > Block, Pig, TNT, Platform`, with x, y, rotation.
Public files are not always well formed: many declare UTF-16 and are UTF-8, and some generators leave `<Camera ...>` and `<Slingshot ...>`
open. Both are read. A document type declaration is refused, so there are no entities. Nothing is fetched.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from xml.etree import ElementTree as xml

import numpy as np

from jaxdiff.birds import kinds
from jaxdiff.birds.level import CAMERA, MOST_BIRDS, Level, Thing, assembled, category, check
from jaxdiff.core.errors import InputError, require
from jaxdiff.core.files import whole

_LARGEST = 2**24  # bytes; public levels have some thousands
_ALONE = ("Camera", "Score", "Slingshot")


def read(path: str | Path) -> Level:
    """A level from a file, with as many slots as it has things, on the host.

    Args:
        path: the file.

    Raises:
        InputError: not to be read, not XML, a root other than Level, an unknown type or material, no pig, no bird, a place
            outside the world.
    """
    path = Path(path)
    try:
        require(
            path.stat().st_size <= _LARGEST, "path", f"{path.name} of {path.stat().st_size} bytes", f"a level of at most {_LARGEST} bytes"
        )
        data = path.read_bytes()
    except OSError as error:
        raise InputError("path", str(path), f"a file that can be read ({error.strerror})") from error
    return parse(data, path.name)


def parse(data: bytes, name: str = "level") -> Level:
    """A level from the contents of a file; see `read`."""
    root = _root(_text(data, name), name)
    birds = [_of(bird.get("type", ""), kinds.BIRDS, "type of Bird") for bird in root.iterfind(".//Birds/Bird")]
    require(1 <= len(birds) <= MOST_BIRDS, "birds", len(birds), f"1 to {MOST_BIRDS} Bird elements in {name}")
    # Stable: within a category the file's order is kept.
    things = sorted((_thing(e) for e in root.iterfind(".//GameObjects/*")), key=category)
    camera, score, sling = (root.find(f".//{tag}") for tag in ("Camera", "Score", "Slingshot"))
    if sling is None:
        raise InputError("level", f"{name} without a Slingshot", "one Slingshot element")
    view = tuple(_number(camera, key, usual) for key, usual in zip(("x", "y", "minWidth", "maxWidth"), CAMERA, strict=True))
    place = _number(sling, "x"), _number(sling, "y")
    return check(assembled(things, birds, place, view, _number(root, "width", 2), _number(score, "highScore", 0)))


def write(level: Level, path: str | Path) -> Path:
    """Write one level, UTF-8, so that `read` gives back the same numbers; empty slots are left out.

    Raises:
        InputError: a batch of levels, a level that cannot be played, a folder that cannot be written.
    """
    path = Path(path)
    with whole(path) as beside:
        beside.write_text(document(level), encoding="utf-8")
    return path


def document(level: Level) -> str:
    """The text of a level's file."""
    require(np.ndim(level.kind) == 1, "level", f"a batch of shape {np.shape(level.kind)[:-1]}", "one level, see `level.take`")
    check(level)
    x, y, low, high = (_shown(v) for v in np.asarray(level.camera))
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<Level width="{_shown(level.width)}">',
        f'  <Camera x="{x}" y="{y}" minWidth="{low}" maxWidth="{high}" />',
        f'  <Score highScore="{_shown(level.score)}" />',
        "  <Birds>",
        *(f'    <Bird type="{kinds.BIRDS[bird]}" />' for bird in np.asarray(level.birds).tolist() if bird >= 0),
        "  </Birds>",
        f'  <Slingshot x="{_shown(level.sling[0])}" y="{_shown(level.sling[1])}" />',
        "  <GameObjects>",
    ]
    for i, kind in enumerate(np.asarray(level.kind).tolist()):
        if kind == kinds.EMPTY:
            continue
        category, material = int(kinds.CATEGORY[kind]), int(np.asarray(level.material)[i])
        words = [f'{kinds.CATEGORIES[category]} type="{kinds.NAMES[kind] if category != kinds.TNT else ""}"']
        words.append(f'material="{kinds.MATERIALS[material] if material >= 0 else ""}"')
        words += [f'{key}="{_shown(getattr(level, key)[i])}"' for key in ("x", "y", "rotation")]
        if category == kinds.PLATFORM:
            words += [f'scale{axis}="{_shown(level.scale[i][k])}"' for k, axis in enumerate("XY")]
        lines.append(f"    <{' '.join(words)} />")
    return "\n".join([*lines, "  </GameObjects>", "</Level>", ""])


def _text(data: bytes, name: str) -> str:
    """Contents as text: what the bytes are counts, not what the declaration says."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        coding = "utf-16"
    elif data[:2] in (b"<\0", b"\0<"):
        coding = "utf-16-le" if data[:1] == b"<" else "utf-16-be"
    else:
        coding = "utf-8-sig"
    try:
        return data.decode(coding)
    except UnicodeDecodeError as error:
        raise InputError("level", f"{name}, which is no text", "XML in UTF-8 or UTF-16") from error


def _root(text: str, name: str) -> xml.Element:
    text = re.sub(r"^\s*<\?xml.*?\?>", "", text, count=1, flags=re.DOTALL)
    require("<!DOCTYPE" not in text.upper() and "<!ENTITY" not in text.upper(), "level", f"{name} with a document type", "XML without one")
    for tag in _ALONE:
        if f"</{tag}>" not in text:
            text = re.sub(rf"<{tag}\b([^<>]*?)\s*/?>", rf"<{tag}\1 />", text)
    try:
        root = xml.fromstring(text.strip())
    except xml.ParseError as error:
        raise InputError("level", f"{name}, which is not XML ({error})", "a Science-Birds level") from error
    require(root.tag == "Level", "level", f"{name} with the root {root.tag}", "XML whose root is Level")
    return root


def _thing(element: xml.Element) -> Thing:
    """An element of GameObjects."""
    require(element.tag in kinds.CATEGORIES, "GameObjects", f"holding a {element.tag}", f"elements {', '.join(kinds.CATEGORIES)}")
    number = kinds.CATEGORIES.index(element.tag)
    allowed = tuple(kinds.NAMES[k] for k in kinds.numbers_of(number))
    # Of platforms and TNT there is one kind; files call it as they like.
    name = allowed[0] if len(allowed) == 1 else allowed[_of(element.get("type", ""), allowed, f"type of {element.tag}")]
    material = kinds.MATERIALS[_of(element.get("material", ""), kinds.MATERIALS, f"material of {name}")] if number == kinds.BLOCK else ""
    scales = [_number(element, key, 1) if number == kinds.PLATFORM else 1.0 for key in ("scaleX", "scaleY")]
    for scale in scales:
        require(0 < scale <= 100, "scale", scale, "above 0 and at most 100")
    return Thing(name, material, _number(element, "x"), _number(element, "y"), _number(element, "rotation", 0), *scales)


def _of(word: str, allowed: tuple[str, ...], argument: str) -> int:
    require(word in allowed, argument, word, f"one of {', '.join(allowed)}")
    return allowed.index(word)


def _number(element: xml.Element | None, key: str, standard: float | None = None) -> float:
    word = None if element is None else element.get(key)
    tag = "Level" if element is None else element.tag
    if word is None or not word.strip():
        require(standard is not None, key, f"missing in {tag}", "a number")
        return float(standard or 0)
    try:
        number = float(word)
    except ValueError as error:
        raise InputError(f"{key} of {tag}", word, "a number") from error
    require(bool(np.isfinite(np.float32(number))) if abs(number) < 1e30 else False, f"{key} of {tag}", word, "a finite number")
    return number


def _shown(value: float) -> str:
    """The shortest decimal that is read back as the same float32."""
    return np.format_float_positional(np.float32(value), unique=True, trim="-")
