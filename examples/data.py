"""The handwritten digits that ship with scikit-learn: 1,797 real images of 8x8 pixels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

TEST_SHARE = 0.2


class Digits(NamedTuple):
    """Training and test images (float32, ``[n, 8, 8, 1]``, 0 to 1) and labels (int64, ``[n]``)."""

    train_images: npt.NDArray[np.float32]
    train_labels: npt.NDArray[np.int64]
    test_images: npt.NDArray[np.float32]
    test_labels: npt.NDArray[np.int64]


def digits(seed: int = 0) -> Digits:
    """Reads the images from the installed package and splits them, each digit in proportion.

    Args:
        seed: Decides which images are held back for the test.
    """
    pixels, labels = load_digits(return_X_y=True)
    images = (pixels / 16.0).astype("float32").reshape(-1, 8, 8, 1)
    train_x, test_x, train_y, test_y = train_test_split(
        images, labels.astype("int64"), test_size=TEST_SHARE, random_state=seed, stratify=labels
    )
    return Digits(train_x, train_y, test_x, test_y)
