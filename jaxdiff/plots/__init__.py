"""Figures of results: every function returns a new `matplotlib.figure.Figure`; nothing is shown, no global setting is touched."""
