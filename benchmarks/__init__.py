"""Measurements side by side. Each reports; none asserts."""
