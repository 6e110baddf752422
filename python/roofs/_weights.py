"""Weights of samples."""
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ._tensors import in_main_memory


def checked_weight(sample_weight: Any, n: int) -> np.ndarray | None:
    """The weights as an array of n numbers; None if there are none. A single number is the weight of every sample."""
    if sample_weight is None:
        return None
    return _check_sample_weight(in_main_memory(sample_weight), np.empty((n, 1)), dtype=np.float64)
