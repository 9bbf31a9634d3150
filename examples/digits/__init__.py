"""The demo: handwritten digits, a small convolutional network, a strategy chosen by its name."""
