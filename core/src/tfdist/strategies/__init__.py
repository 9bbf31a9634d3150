"""Strategies, and the parts they are put together from."""
