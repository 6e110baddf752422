"""What a fit says about samples and features: which samples are not trusted and why, and effects of features."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MIN_EQUAL = 5   # fewer equal responses may be a coincidence of rounded numbers


class UntrustedSample(NamedTuple):
    """A sample that is not trusted.

    Attributes
    ----------
    index : int
        Its number, counted from 0.
    id : str or None
        Its ID, if the fit had a table with IDs.
    residual : float or None
        The response less the prediction; None in a model that was loaded from a file.
    scales : float or None
        The residual in units of the noise.
    reason : str
        Why the sample is not trusted, in words.
    """

    index: int
    id: str | None
    residual: float | None
    scales: float | None
    reason: str


def equal_values(y: np.ndarray, trusted: np.ndarray) -> dict[int, tuple[float, int]]:
    """Of samples that are not trusted: the value of the response and how many of them have it, if these are many and
    most samples with this value are among them."""
    found: dict[int, tuple[float, int]] = {}
    values, place, count = np.unique(y, return_inverse=True, return_counts=True)
    outliers = np.bincount(place[~trusted], minlength=len(values))
    for i in np.flatnonzero(~trusted):
        k = place[i]
        if outliers[k] >= MIN_EQUAL and 2 * outliers[k] > count[k]:
            found[int(i)] = (float(values[k]), int(outliers[k]))
    return found


def reason_of(scales: float | None, clean: float | None, equal: tuple[float, int] | None) -> str:
    if equal is not None:
        return f"one of {equal[1]} equal values {equal[0]:.15g} that do not fit"
    if scales is not None and abs(scales) >= 1:
        return f"response {abs(scales):.1f} noise scales {'above' if scales > 0 else 'below'} the prediction"
    if clean is not None:
        return f"the probability that it is clean is {100 * clean:.1f}%"
    return "its residual is beyond the cut"


class Answers:
    """The attributes of an estimator that explain a fit."""

    @property
    def outliers_(self) -> np.ndarray:
        """True for samples that are not trusted."""
        self._need_fit("outliers_")
        return ~self.inlier_mask_

    @property
    def untrusted_(self) -> list[UntrustedSample]:
        """The samples that are not trusted, with residual and reason. The largest residuals come first."""
        self._need_fit("untrusted_")
        ids = self.__dict__.get("_stored", {}).get("outliers")
        residuals, clean = self.residuals_, self.clean_probability_
        equal, scale = self.__dict__.get("_equal", {}), self._residual_scale()
        found = []
        for k, i in enumerate(np.flatnonzero(~self.inlier_mask_).tolist()):
            residual = None if residuals is None else float(residuals[i])
            scales = None if residual is None or not scale else residual / scale
            reason = reason_of(scales, None if clean is None else float(clean[i]), equal.get(i))
            found.append(UntrustedSample(i, ids[k] if ids else None, residual, scales, reason))
        return sorted(found, key=lambda sample: (-abs(sample.residual or 0), sample.index))

    def _residual_scale(self) -> float | None:
        """The scale of the noise. Methods that do not estimate it: from the median residual of the trusted samples."""
        if self.noise_scale_ is not None or self.residuals_ is None or not self.inlier_mask_.any():
            return self.noise_scale_
        return 1.4826 * float(np.median(np.abs(self.residuals_[self.inlier_mask_])))

    @property
    def effect_(self) -> Any:
        """One effect per feature seen: the coefficient times the standard deviation of the feature."""
        self._need_fit("effect_")
        return None if self._scale is None else self._per_feature(self.kept_coefs_ * self._scale, 0.0)

    @property
    def selected_effect_(self) -> np.ndarray | None:
        """The effect of each selected feature."""
        self._need_fit("selected_effect_")
        if self._scale is None:
            return None
        effect_of = dict(zip(self.kept_indices_.tolist(), self.kept_coefs_ * self._scale))
        return np.array([effect_of.get(j, 0.0) for j in self.selected_indices_.tolist()])
