"""The seam: the only package of tfdist that imports ``tensorflow.python``.

One module a subject. Each name carries a comment that says what it is for and in which TensorFlow
versions it was tried; ``core/tests/tf_internals`` checks that each is still there and does that.
"""
