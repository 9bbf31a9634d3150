"""Runnable examples: ``python -m examples.digits``, ``python -m examples.custom_loops.<name>``."""
