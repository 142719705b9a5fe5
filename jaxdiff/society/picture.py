"""A picture of a session as a plain array: cells on a circle, arrows of actions, what lies in the cells and who is there.

Cells are discs, green where a positive reward lies and red where a negative one does; a ring around one is Good (green) or Evil (red);
agents are small squares within.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxdiff.society.world import Params, State

GREEN, RED, GREY, INK = np.array([38, 160, 70]), np.array([205, 55, 45]), np.array([228, 228, 224]), np.array([60, 60, 60])
AGENTS = np.array([[0, 0, 0], [0, 114, 178], [213, 94, 0], [170, 51, 119], [122, 106, 0], [86, 180, 233]])


def draw(state: State, params: Params, pixels: int = 36) -> np.ndarray:
    """The picture.

    Args:
        state: of a session.
        params: its environment.
        pixels: diameter of a cell.

    Returns:
        uint8 [height, width, 3]; a square of about N cells' diameters around.
    """
    count, actions = int(params.cells_n), int(params.actions_n)
    radius = 0.8 * pixels * max(count, 3) / np.pi
    size = int(2 * radius + 3 * pixels)
    angle = 2 * np.pi * np.arange(count) / count - np.pi / 2
    centre = size / 2 + radius * np.stack([np.sin(angle + np.pi / 2), -np.cos(angle + np.pi / 2)], axis=1)
    image = np.full((size, size, 3), 255.0)
    y, x = np.mgrid[:size, :size]
    for cell in range(count):
        for action in range(actions):
            target = int(np.asarray(params.table)[cell, action])
            if target >= 0 and target != cell:
                _arrow(image, centre[cell], centre[target], pixels / 2)
    for cell in range(count):
        distance = np.hypot(x - centre[cell, 0], y - centre[cell, 1])
        value = float(np.asarray(state.cell_reward)[cell])
        strength = 0.25 + 0.75 * abs(value) if value else 0.0
        colour = GREY + strength * ((GREEN if value > 0 else RED) - GREY)
        image[distance <= pixels / 2] = colour
        for owner, ring in ((state.good, GREEN), (state.evil, RED)):
            if int(owner) == cell:
                image[(distance > pixels * 0.5) & (distance <= pixels * 0.57)] = 255  # apart from what lies in the cell
                image[(distance > pixels * 0.57) & (distance <= pixels * 0.68)] = ring
        _agents(image, centre[cell], np.flatnonzero(np.asarray(state.agents) == cell), pixels)
    return image.astype(np.uint8)


def _arrow(image: np.ndarray, start: np.ndarray, end: np.ndarray, gap: float) -> None:
    """A line from the rim of one cell to the rim of another, thicker towards its head."""
    length = np.hypot(*(end - start))
    along = (end - start) / length
    across = np.array([-along[1], along[0]])
    for t in np.arange(gap * 1.3, length - gap * 1.3, 0.5):
        left = length - gap * 1.3 - t
        width = max(0.6, 3.5 - left / 2.5) if left < 8 else 0.6
        for side in np.arange(-width, width + 0.1, 0.5):
            # Arrows there and back lie beside one another.
            column, row = (start + along * t + across * (side + 2.5)).round().astype(int)
            image[row, column] = INK + 60


def _agents(image: np.ndarray, centre: np.ndarray, here: np.ndarray, pixels: int) -> None:
    side = max(2, pixels // 6)
    for place, agent in enumerate(here):
        column = int(centre[0] + (place % 3 - (min(len(here), 3) - 1) / 2) * (side + 2) - side / 2)
        row = int(centre[1] + (place // 3 - (-(-len(here) // 3) - 1) / 2) * (side + 2) - side / 2)
        image[row - 1 : row + side + 1, column - 1 : column + side + 1] = 255
        image[row : row + side, column : column + side] = AGENTS[agent % len(AGENTS)]
