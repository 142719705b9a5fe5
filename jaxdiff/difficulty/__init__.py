"""Measures of difficulty: arrays in, arrays out. No world is imported here."""
