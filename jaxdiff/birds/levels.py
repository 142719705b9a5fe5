"""Levels: read and written in the public Science-Birds format, stacked into batches, and generated at random."""

from jaxdiff.birds.generator import Generated as Generated
from jaxdiff.birds.generator import generate as generate
from jaxdiff.birds.generator import generated as generated
from jaxdiff.birds.level import Level as Level
from jaxdiff.birds.level import Slots as Slots
from jaxdiff.birds.level import check as check
from jaxdiff.birds.level import padded as padded
from jaxdiff.birds.level import slots as slots
from jaxdiff.birds.level import stack as stack
from jaxdiff.birds.level import take as take
from jaxdiff.birds.level_files import parse as parse
from jaxdiff.birds.level_files import read as read
from jaxdiff.birds.level_files import write as write

__all__ = ("Generated", "Level", "Slots", "check", "generate", "generated", "padded", "parse", "read", "slots", "stack", "take", "write")
