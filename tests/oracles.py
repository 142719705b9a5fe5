"""Slow, readable definitions: the paper's text in plain Python with exact fractions."""

from fractions import Fraction

import numpy as np


def interpret(program, memory):
    """Definition 6 on a list of bits: (V, U)."""
    b, v, u = len(memory) - 1, 0, 0
    for op in program:
        if op == 0:
            b = max(b - 1, 0)
        elif op == 1:
            b = min(b + 1, len(memory) - 1)
        elif op == 2:
            v = (v + memory[b]) % 3
        elif op == 3:
            v = (v + 1) % 3
        elif op == 4:
            u = (u + memory[b]) % 4
        elif op == 5:
            u = (u + 1) % 4
    return v, u


def eca_step(cells, rule):
    """One update of a ring."""
    n = len(cells)
    return [rule >> (4 * cells[i - 1] + 2 * cells[i] + cells[(i + 1) % n]) & 1 for i in range(n)]


def reward(cells, position):
    """The reward of Definition 5."""
    n = len(cells)
    return sum((Fraction(cells[(position + i) % n] + cells[(position - i) % n], 2 ** (i + 1)) for i in range(1, n // 2 + 1)), Fraction(0))


def rollout(program, rule, cells, position, steps, observation="clr", actions=None):
    """Total reward, final cells, final position; with `actions` [(move, upshot)] a given walk instead of a program."""
    cells, memory, total = [int(c) for c in cells], [], Fraction(0)
    n = len(cells)
    for t in range(steps):
        seen = {"c": cells[position], "l": cells[position - 1], "r": cells[(position + 1) % n]}
        memory += [seen[letter] for letter in observation]
        move, upshot = interpret([op for op in program if op >= 0], memory) if actions is None else actions[t]
        cells[position] = [cells[position], 1 - cells[position], 0, 1][upshot]
        position = (position + [0, 1, -1][move]) % n
        cells = eca_step(cells, rule)
        total += reward(cells, position)
    return total, cells, position


def numerator(total, width):
    """A total reward as an integer over 2^(width // 2 + 1)."""
    scaled = total * 2 ** (width // 2 + 1)
    assert scaled.denominator == 1
    return int(scaled)


def random_programs(rng, count, longest=20):
    """Programs of uniform length 1..longest, int8 [count, longest]."""
    programs = rng.integers(0, 6, (count, longest)).astype(np.int8)
    programs[np.arange(longest) >= rng.integers(1, longest + 1, count)[:, None]] = -1
    return programs
