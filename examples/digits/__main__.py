"""``python -m examples.digits``."""

from examples.digits.cli import main

main()
