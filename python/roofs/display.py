"""Pictures of a fit, by scikit-learn's Display convention. Only drawing needs matplotlib."""
from __future__ import annotations

from typing import Any

import numpy as np

from .regressor import RoOFSRegressor

KINDS = ("residuals", "path", "trust", "groups")
MAX_LABELS = 8       # paths with a name in the legend
MAX_SAMPLES = 4000   # in the trust map
MAX_GROUPS = 30      # the strongest evidence first
GROUP_LEVEL = 0.95   # of the intervals of groups


class RoOFSDisplay:
    """A picture of a fitted `RoOFSRegressor`.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    kind : {"residuals", "path", "trust", "groups"}
        The kind of picture.
    data : dict of ndarray
        The data of the picture.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and the figure of the last `plot`.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import numpy as np
    >>> from roofs import RoOFSDisplay, RoOFSRegressor
    >>> X = np.random.default_rng(0).standard_normal((100, 300))
    >>> y = X[:, 5] - X[:, 200]
    >>> y[:20] += 9
    >>> model = RoOFSRegressor(2).fit(X, y)
    >>> display = RoOFSDisplay.from_estimator(model, kind="residuals")
    >>> display.ax_.get_ylabel()
    'residual'
    """

    def __init__(self, *, kind: str, data: dict[str, Any]) -> None:
        self.kind = kind
        self.data = data

    @classmethod
    def from_estimator(cls, estimator: RoOFSRegressor, X: Any = None, y: Any = None, *, kind: str = "residuals",
                       ax: Any = None, **keywords: Any) -> RoOFSDisplay:
        """Draw a fitted estimator.

        Parameters
        ----------
        estimator : RoOFSRegressor
            A fitted estimator.
        X, y : array-like, optional
            Other samples for the picture of residuals. By default it shows the samples of the fit.
        kind : {"residuals", "path", "trust", "groups"}
            "residuals": the residual of every sample, and the cut between trusted and other samples. "path": the
            coefficients after each batch. "trust": the trusted samples after each batch. "groups": the effect of each
            credible group, with its interval at 95%.
        ax : matplotlib Axes, optional
            Axes to draw on. By default a new figure.
        **keywords
            Keywords of the matplotlib call that draws.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
        data_of = {"residuals": residual_data, "path": path_data, "trust": trust_data, "groups": group_data}[kind]
        return cls(kind=kind, data=data_of(estimator, X, y)).plot(ax=ax, **keywords)

    def plot(self, *, ax: Any = None, **keywords: Any) -> RoOFSDisplay:
        """Draw on `ax`, or in a new figure."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("RoOFSDisplay needs matplotlib; run: pip install matplotlib") from error
        if ax is None:
            _, ax = plt.subplots()
        draw = {"residuals": draw_residuals, "path": draw_path, "trust": draw_trust, "groups": draw_groups}[self.kind]
        draw(self.data, ax, keywords)
        self.ax_, self.figure_ = ax, ax.figure
        return self


# ---- residuals -----------------------------------------------------------------------------

def residual_data(model: Any, X: Any, y: Any) -> dict[str, Any]:
    if X is None:
        residual, trust = model.residuals_, model.inlier_mask_
        if residual is None:
            raise ValueError("a model that was loaded from a file has no residuals; pass X and y")
    else:
        residual = np.asarray(y, dtype=float) - model.predict(X)
        trust = np.abs(residual) <= model.cut_
    return {"residual": residual, "trust": trust, "cut": model.cut_}


def draw_residuals(data: dict[str, Any], ax: Any, keywords: dict[str, Any]) -> None:
    place = np.arange(len(data["residual"]))
    for trusted, colour, marker, label in ((True, "C0", ".", "trusted"), (False, "C3", "x", "not trusted")):
        which = data["trust"] == trusted
        ax.scatter(place[which], data["residual"][which],
                   **{"c": colour, "marker": marker, "s": 12, "label": f"{label} ({which.sum():,})", **keywords})
    if data["cut"] > 0:
        ax.set_yscale("symlog", linthresh=data["cut"], linscale=2)   # large residuals must not flatten small ones
        for level in (-data["cut"], data["cut"]):
            ax.axhline(level, color="0.4", linestyle="--", linewidth=1)
    ax.set(xlabel="sample", ylabel="residual", title=f"cut at ±{data['cut']:.3g}")
    ax.legend(loc="best")


# ---- the path of the coefficients ---------------------------------------------------------------

def path_data(model: Any, X: Any, y: Any) -> dict[str, Any]:
    need_path(model)
    order = np.argsort(-np.abs(model.selected_coefs_), kind="stable")
    return {"seen": model.path_.features_seen(), "names": model.selected_features_[order],
            "coefs": model.path_.coefs(model.selected_indices_[order])}


def draw_path(data: dict[str, Any], ax: Any, keywords: dict[str, Any]) -> None:
    for k, name in enumerate(data["names"]):
        style = {"label": name} if k < MAX_LABELS else {"color": "0.8", "zorder": 1}
        ax.plot(data["seen"], data["coefs"][:, k], **{"linewidth": 1.2, **style, **keywords})
    ax.set(xlabel="features seen", ylabel="coefficient", title="coefficients of the kept features")
    if len(data["names"]):
        ax.legend(loc="best", fontsize="small")


# ---- the trust map --------------------------------------------------------------------------

def trust_data(model: Any, X: Any, y: Any) -> dict[str, Any]:
    need_path(model)
    trust = model.path_.trust(len(model.inlier_mask_))
    trust = np.vstack([trust, model.inlier_mask_])   # after the last rounds
    order = np.lexsort((trust.mean(axis=0), trust[-1]))
    step = -(-len(order) // MAX_SAMPLES)
    return {"trust": trust[:, order[::step]], "samples": len(order)}


def draw_trust(data: dict[str, Any], ax: Any, keywords: dict[str, Any]) -> None:
    rows = len(data["trust"])
    ax.imshow(data["trust"], **{"aspect": "auto", "interpolation": "nearest", "cmap": "RdYlBu", "vmin": 0, "vmax": 1,
                                "extent": (0, data["samples"], rows, 0), **keywords})
    ax.set(xlabel="samples, least trusted first", ylabel="batches, the last at the bottom",
           title="trusted: blue, not trusted: red")


# ---- groups ------------------------------------------------------------------------------------

def group_data(model: Any, X: Any, y: Any) -> dict[str, Any]:
    if model.groups_ is None:
        raise ValueError("this estimator has no groups_: they need a finished fit of the method roofs-bayes, without "
                         "groups=\"off\", by roofs 0.3 or later")
    shown = model.groups_[:MAX_GROUPS]
    return {"names": [str(group) for group in shown], "effect": np.array([group.effect for group in shown]),
            "interval": np.array([group.interval(GROUP_LEVEL) for group in shown]).reshape(-1, 2),
            "count": len(model.groups_)}


def draw_groups(data: dict[str, Any], ax: Any, keywords: dict[str, Any]) -> None:
    place = np.arange(len(data["names"]))
    reach = np.abs(data["interval"] - data["effect"][:, None]).T
    ax.errorbar(data["effect"], place, xerr=reach, **{"fmt": "o", "capsize": 3, **keywords})
    ax.axvline(0, color="0.4", linestyle="--", linewidth=1)
    ax.set_yticks(place, data["names"])
    ax.invert_yaxis()   # the strongest evidence on top
    among = "" if len(place) == data["count"] else f"{len(place)} of "
    ax.set(xlabel="change of the response per standard deviation",
           title=f"{among}{data['count']} credible groups, intervals at {GROUP_LEVEL:.0%}")


def need_path(model: Any) -> None:
    if not len(model.path_):
        raise ValueError("this estimator has no path_: it was loaded from a file, or has no features; fit it first")
