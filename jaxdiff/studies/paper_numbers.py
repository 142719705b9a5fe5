"""What the paper on complexity distributions reports, and how near a reproduction is expected to come.

Fresh numbers: section 5.3; Chained: Table 1; difficulties: Table 2. Tolerances are this project's choice.
"""

from __future__ import annotations

# rule -> R_max, R_mean, R_min, hbar, Cor, Cor-max, random walk
FRESH = {
    184: (0.99, 0.40, 0.01, 6, 0.12, 0.84, 0.49),
    110: (0.73, 0.56, 0.27, 3, 0.03, 0.70, 0.57),
    122: (0.77, 0.58, 0.30, 6, 0.17, 0.85, 0.59),
    164: (0.54, 0.12, 0.01, 11, 0.09, 0.94, 0.12),
}
# size -> rule -> R_max, R_mean, R_min, hbar, Cor, Cor-max
CHAINED = {
    1900: {
        184: (0.97, 0.46, 0.0, 3, 0.08, 0.69),
        110: (0.74, 0.57, 0.28, 7, 0.01, 0.88),
        122: (0.80, 0.57, 0.0, 5, 0.16, 0.81),
        164: (0.50, 0.06, 0.0, 7, 0.11, 0.87),
    },
    9500: {
        184: (0.99, 0.46, 0.0, 5, 0.06, 0.80),
        110: (0.81, 0.58, 0.27, 15, -0.02, 0.98),
        122: (0.82, 0.59, 0.0, 5, 0.11, 0.80),
        164: (0.50, 0.06, 0.0, 7, 0.07, 0.87),
    },
}
GAMMAS = (0.0, 0.01, 0.05, 0.10, 0.25)
# size -> rule -> D_pos and D_neg at GAMMAS
DIFFICULTY = {
    1900: {
        184: ((4.88, 4.72, 4.33, 4.01, 3.55), (4.73, 4.20, 2.94, 2.76, 2.53)),
        110: ((8.90, 8.88, 8.07, 7.74, 3.10), (10.24, 9.01, 8.64, 8.63, 6.97)),
        122: ((8.01, 8.01, 7.91, 7.91, 7.38), (9.47, 9.47, 7.42, 7.41, 6.39)),
        164: ((8.81, 8.38, 8.34, 8.34, 8.34), (1.11, 0.95, 0.75, 0.67, 0.56)),
    },
    9500: {
        184: ((5.44, 5.26, 4.44, 4.13, 3.68), (4.50, 4.32, 3.01, 2.79, 2.50)),
        110: ((12.42, 12.08, 10.15, 10.01, 8.87), (11.76, 11.61, 10.22, 9.07, 8.30)),
        122: ((8.73, 8.66, 8.49, 8.47, 7.55), (10.24, 9.16, 8.17, 8.17, 8.02)),
        164: ((10.54, 10.54, 9.41, 9.41, 9.39), (1.49, 1.18, 0.93, 0.92, 0.69)),
    },
}
# Different policies after the paper's simplifier.
DISTINCT = {1900: 1349, 9500: 5922}
TOLERANCE = {"R_max": 0.06, "R_min": 0.05, "R_mean": 0.04, "Cor": 0.10, "random walk": 0.015, "D": 1.6}
# Rule 184 under Fresh: no literal reading of the paper gives its mean. Rule 122 under Fresh: anything up to the paper's R_min.
FRESH_MEAN_184 = 0.16
FRESH_MIN_122 = 0.30
