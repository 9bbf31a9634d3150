"""Training without ``fit``: one program a topic. See docs/getting-started-custom-loops.md."""
