"""What fits warn of. The library finds it; each warning has a word, and a text that says what to do."""
from __future__ import annotations

import warnings

import sklearn.exceptions

from ._library import WARNINGS


class RoOFSWarning(UserWarning):
    """A fit has succeeded, but needs attention. The base of all warnings of this package."""


class ConvergenceWarning(RoOFSWarning, sklearn.exceptions.ConvergenceWarning):
    """The fit used all its rounds before it settled (`not-settled`)."""


class DataWarning(RoOFSWarning, RuntimeWarning):
    """The responses are unusual (`equal-responses`, `discrete-response`), or the features that must stay (`forced`)."""


class TrustWarning(RoOFSWarning, RuntimeWarning):
    """It is doubtful which samples are clean (`few-trusted`, `undecided`)."""


CATEGORIES: dict[str, type[RoOFSWarning]] = {
    "not-settled": ConvergenceWarning, "equal-responses": DataWarning, "discrete-response": DataWarning,
    "few-trusted": TrustWarning, "undecided": TrustWarning, "forced": DataWarning}


def emit(words: list[str], stacklevel: int) -> None:
    """Warns once per word. `stacklevel` 1 is the caller of this function."""
    for word in words:
        warnings.warn(WARNINGS[word], CATEGORIES.get(word, RoOFSWarning), stacklevel=stacklevel + 1)
