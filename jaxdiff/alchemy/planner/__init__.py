"""The exact planner of a trial: lexicographic expectimax (expected reward, then fewest potions) over beliefs, in integers.

Two levels. Level 1 knows the maps of potions and stones but not the graph: its beliefs are the 6,544 graph sets. Level 2 knows neither:
a belief is one graph set (or none) for each of the 48 potion maps, and a bit set of stone maps; in the frame in which stones are
seen these two are independent for ever. Both keep lower and upper bounds in hash tables and are searched best-first with a threshold
that is handed down; the upper bounds are the oracle's at level 1 and level 1's at level 2. States equal under renaming of colours and
axes are one.

Belief and state tables hold for any episode, so they are kept until they are full. Numba on the host: the search is deep, narrow and
irregular, so that a lock-step device would mostly wait.
"""

from jaxdiff.alchemy.planner.beliefs import record_after as record_after
from jaxdiff.alchemy.planner.bounds import SCALE as SCALE
from jaxdiff.alchemy.planner.exploration import WORLDS_SCALE as WORLDS_SCALE
from jaxdiff.alchemy.planner.exploration import worlds_cost as worlds_cost
from jaxdiff.alchemy.planner.level_two import action_value as action_value
from jaxdiff.alchemy.planner.level_two import value as value
from jaxdiff.alchemy.planner.memory import BELIEFS as BELIEFS
from jaxdiff.alchemy.planner.memory import FILLED_ONE as FILLED_ONE
from jaxdiff.alchemy.planner.memory import FILLED_TWO as FILLED_TWO
from jaxdiff.alchemy.planner.memory import PUBLISHED as PUBLISHED
from jaxdiff.alchemy.planner.memory import SMALL as SMALL
from jaxdiff.alchemy.planner.memory import SMALLER as SMALLER
from jaxdiff.alchemy.planner.memory import SYMMETRIES as SYMMETRIES
from jaxdiff.alchemy.planner.memory import TRANSITIONS as TRANSITIONS
from jaxdiff.alchemy.planner.memory import Sizes as Sizes
from jaxdiff.alchemy.planner.memory import best as best
from jaxdiff.alchemy.planner.memory import memory as memory
from jaxdiff.alchemy.planner.memory import work as work
from jaxdiff.alchemy.planner.rules import rules as rules
from jaxdiff.alchemy.planner.search import LOWEST as LOWEST
