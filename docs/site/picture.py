"""The picture of the front page: one fit with wrong responses, by least squares and by roofs, for light and dark."""
import warnings
from pathlib import Path

import matplotlib
import numpy as np

COLOURS = {"light": {"ink": "#1d2733", "muted": "#5c6b7a", "good": "#0b5c8a", "bad": "#c2410c"},
           "dark": {"ink": "#e6ebf0", "muted": "#9fb0c0", "good": "#6cb8e6", "bad": "#ff9a5c"}}


def fits():
    """True values, two predictions and the samples that are not trusted."""
    from roofs import RoOFSRegressor
    from sklearn.linear_model import RidgeCV
    rng = np.random.default_rng(3)
    x = rng.standard_normal((400, 1000))
    truth = x[:, [5, 250, 700]] @ [3.0, -2.0, 1.5]
    y = truth + 0.4 * rng.standard_normal(400)
    wrong = rng.random(400) < 0.3
    y[wrong] = rng.uniform(8, 20, wrong.sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RoOFSRegressor(3).fit(x, y)
        ridge = RidgeCV(np.logspace(0, 5, 11)).fit(x, y)
    return truth, y, (("Ridge regression", ridge.predict(x)), ("roofs", model.predict(x))), model.outliers_


def draw(path, colour, data):
    from matplotlib.figure import Figure
    truth, y, predictions, outliers = data
    figure = Figure(figsize=(9.2, 3.5))
    for axis, (title, predicted) in zip(figure.subplots(1, 2, sharey=True), predictions):
        own = outliers if title == "roofs" else np.zeros(len(y), bool)
        axis.scatter(predicted[~own], y[~own], s=9, color=colour["good"], linewidths=0, alpha=0.75,
                     label="trusted" if title == "roofs" else "all samples count")
        if own.any():
            axis.scatter(predicted[own], y[own], s=12, marker="x", color=colour["bad"], linewidths=1,
                         label=f"not trusted: {own.sum()} of {len(y)}")
        axis.plot([-10, 10], [-10, 10], color=colour["muted"], linewidth=1)
        axis.set_xlim(-11, 11)
        axis.set_ylim(-12, 22)
        axis.set_title(title, color=colour["ink"], fontsize=12, loc="left")
        axis.set_xlabel("prediction", color=colour["muted"])
        axis.tick_params(colors=colour["muted"])
        legend = axis.legend(frameon=False, fontsize=9, loc="lower right", labelcolor=colour["ink"])
        legend.set_zorder(5)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
        for side in ("bottom", "left"):
            axis.spines[side].set_color(colour["muted"])
    figure.axes[0].set_ylabel("response", color=colour["muted"])
    figure.tight_layout()
    figure.savefig(path, transparent=True, metadata={"Date": None})


def draw_terminal(path):
    """Stands for examples that draw nothing."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch
    figure = Figure(figsize=(4, 2.8))
    axis = figure.add_axes((0, 0, 1, 1))
    axis.add_patch(FancyBboxPatch((0.05, 0.07), 0.9, 0.86, boxstyle="round,pad=0,rounding_size=0.05", color="#22303c"))
    for line, (text, colour) in enumerate((("$ roofs fit ...", "#e6ebf0"), ("samples   1,000, 812 trusted", "#9fd0f0"),
                                           ("features  2,000 seen", "#9fd0f0"))):
        axis.text(0.11, 0.76 - 0.17 * line, text, family="monospace", fontsize=13, color=colour)
    axis.set_axis_off()
    axis.set(xlim=(0, 1), ylim=(0, 1))
    figure.savefig(path, dpi=100, transparent=True)


def draw_all(folder):
    folder = Path(folder)
    paths = {scheme: folder / f"front-{scheme}.svg" for scheme in COLOURS}
    if all(path.exists() for path in (*paths.values(), folder / "terminal.png")):
        return
    data = fits()
    with matplotlib.rc_context({"svg.hashsalt": "roofs"}):
        for scheme, path in paths.items():
            draw(path, COLOURS[scheme], data)
    draw_terminal(folder / "terminal.png")
