"""Credible groups: which features may have an effect, where the data do not show which of them has it."""
from __future__ import annotations

from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Any

import numpy as np

SHOWN = 6   # members in the text of a group


def checked_level(name: str, level: Any) -> float:
    """The level of an interval, above 0 and below 1."""
    is_number = isinstance(level, (int, float, np.number)) and not isinstance(level, (bool, np.bool_))
    if not is_number or not 0 < level < 1:
        raise ValueError(f"{name} must be a number above 0 and below 1, such as 0.9, not {level!r}")
    return float(level)


@dataclass(frozen=True, repr=False, eq=False)
class CredibleGroup:
    """Features that look so alike that the data do not show which of them has an effect.

    A fitted :class:`RoOFSRegressor` has a list of them, `groups_`. The arrays are read-only.

    Parameters
    ----------
    members : ndarray of int
        The features, by their index in the stream. The most probable is first.
    names : ndarray of str
        Their names.
    probabilities : ndarray of float
        The probability of each member that the effect is its own, given that there is an effect. Their sum is at least
        0.99.
    exists : float
        The probability that there is an effect.
    fdr : float
        The smallest rate of false discoveries at which the group counts as a discovery.
    correlation : float
        The smallest correlation between two members, in absolute value; 1 for a group of one.
    effect : float
        The change of the response per standard deviation of a member, mean over the members.
    error : float
        The standard error of the effect.
    coef : float or None
        The coefficient in the units of the data. `None` if the group has more than one member.
    coef_error : float or None
        The standard error of the coefficient. `None` if the group has more than one member.
    complete : bool
        False if the pool of dropped features was too small: a further feature may belong to the group. See `pool` and
        `groups="exact"`.

    Examples
    --------
    >>> import numpy as np
    >>> from roofs import CredibleGroup
    >>> group = CredibleGroup(members=[3, 7], names=["x3", "x7"], probabilities=[0.8, 0.195], exists=0.99, fdr=0.001,
    ...                       correlation=0.98, effect=2.0, error=0.1, coef=None, coef_error=None, complete=True)
    >>> group
    <one of: x3, x7 (99%)>
    >>> low, high = group.interval(0.95)
    >>> round(low, 2), round(high, 2)
    (1.8, 2.2)
    """

    members: np.ndarray
    names: np.ndarray
    probabilities: np.ndarray
    exists: float
    fdr: float
    correlation: float
    effect: float
    error: float
    coef: float | None
    coef_error: float | None
    complete: bool

    def __post_init__(self) -> None:
        for name, dtype in (("members", np.int64), ("names", object), ("probabilities", float)):
            values = np.array(getattr(self, name), dtype=dtype)
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @property
    def probability(self) -> float:
        """The probability that one of the members has an effect."""
        return float(self.exists * min(1.0, self.probabilities.sum()))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that holds the effect with this probability, given that there is an effect."""
        return self._around(self.effect, self.error, level)

    def coef_interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval of the coefficient, in the units of the data. Only for a group of one."""
        if self.coef is None or self.coef_error is None:
            raise ValueError(f"a group of {len(self)} members has no coefficient of its own; use interval() for the "
                             f"effect of the group")
        return self._around(self.coef, self.coef_error, level)

    @staticmethod
    def _around(center: float, error: float, level: float) -> tuple[float, float]:
        half = NormalDist().inv_cdf((1 + checked_level("level", level)) / 2) * error
        return center - half, center + half

    def __len__(self) -> int:
        return len(self.members)

    def __contains__(self, feature: Any) -> bool:
        """Whether a feature, by index or by name, is a member."""
        return bool(np.any(self.names == feature if isinstance(feature, str) else self.members == feature))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CredibleGroup):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A pickle does not store that arrays are read-only."""
        self.__dict__.update(state)
        self.__post_init__()

    def __str__(self) -> str:
        shown = ", ".join(self.names[:SHOWN]) + (", ..." if len(self) > SHOWN else "")
        share = f"{self.probability:.0%}" if self.probability < 0.995 else "over 99%"
        text = shown if len(self) == 1 else f"one of: {shown}" if len(self) <= SHOWN else f"one of {len(self)}: {shown}"
        return f"{text} ({share})" if self.complete else f"{text} ({share}, incomplete)"

    def __repr__(self) -> str:
        return f"<{self}>"


def members_of(groups: list[CredibleGroup]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Index, name and probability of every member, ascending by index. No feature is in two groups."""
    if not groups:
        return np.empty(0, np.int64), np.empty(0, object), np.empty(0)
    index = np.concatenate([group.members for group in groups])
    names = np.concatenate([group.names for group in groups])
    probability = np.concatenate([group.exists * group.probabilities for group in groups])
    order = np.argsort(index)
    return index[order], names[order], probability[order]
