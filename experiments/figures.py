#!/usr/bin/env python3
"""Draws the numbers of docs/reproduction as pictures: docs/images/reproduction-NAME.png.

    figures.py [FOLDER_OF_CSV [FOLDER_OF_PICTURES]]

Names and colours of the methods are those of rows.json, as on the page of `roofs reproduce`.
"""
import csv
import io
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from PIL import Image  # noqa: E402

HERE = Path(__file__).resolve().parent
PALETTE = {"ink": "#23282f", "muted": "#626c79", "blue": "#3a72b8", "orange": "#cd6724", "plum": "#96568b",
           "green": "#4b8b3b", "teal": "#2a8c8c", "gold": "#b08a1c", "red": "#b8434a", "rose": "#d07f96",
           "brown": "#87664a"}
TITLES = {"clean_f1": "F1 of the trusted samples", "feature_f1": "F1 of the selected features",
          "l2_error": "error of the coefficients", "seconds": "seconds", "mae": "mean absolute error"}


def curves(path):
    """{panel: {row: [(at, first, random)]}} and the measure."""
    found, measure = {}, ""
    with open(path, encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            measure = line["measure"]
            point = [float(line[k]) if line[k] else float("nan") for k in ("at", "first_mean", "random_mean")]
            found.setdefault(line["panel"], {}).setdefault(line["row"], []).append(point)
    return found, measure


def has_method(rows, contenders):
    """Panels where only reference answers have numbers are left out."""
    fits = {row["name"] for row in contenders if row["kind"] == "fit"}
    return any(first == first for name, points in rows.items() if name in fits for _, first, _ in points)


def draw_axis(axis, rows, column, measure, contenders):
    for row in contenders:
        points = [(p[0], p[column]) for p in rows.get(row["name"], []) if p[column] == p[column]]
        if not points or "colour" not in row:
            continue
        ours = row["kind"] == "fit" and row["method"].startswith("roofs")
        axis.plot(*zip(*points), marker="o", markersize=2.5, color=PALETTE[row["colour"]], label=row["title"],
                  linewidth=2.4 if ours else 1, linestyle="--" if row.get("dash") else "-", zorder=3 if ours else 2)
    if measure == "seconds":
        axis.set(xscale="log", yscale="log")
    elif measure == "l2_error":
        axis.set_ylim(0, 2)
    axis.grid(color="#e9ebee", linewidth=0.7)
    axis.tick_params(labelsize=8, colors=PALETTE["muted"])


def draw(path, target, contenders):
    found, measure = curves(path)
    found = {panel: rows for panel, rows in found.items() if has_method(rows, contenders)}
    figure, axes = plt.subplots(2, len(found), figsize=(2.6 * len(found) + 1.5, 5.2), sharey=True, squeeze=False,
                                layout="constrained")
    for column, (panel, rows) in enumerate(found.items()):
        for k, order in enumerate(("features that matter first", "random order")):
            draw_axis(axes[k][column], rows, k + 1, measure, contenders)
            axes[k][column].set_title(f"{panel}\n{order}" if k == 0 else order, fontsize=9)
    figure.supylabel(TITLES[measure], fontsize=9)
    handles = {label: handle for axis in axes.flat for handle, label in zip(*axis.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=95)
    plt.close(figure)
    Image.open(buffer).convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE).save(target, optimize=True)


def main():
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs" / "reproduction"
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE.parent / "docs" / "images"
    contenders = json.loads((HERE / "rows.json").read_text())
    for name in ("table1", "table2", "fig1", "fig2", "fig3"):
        draw(source / f"{name}.csv", target / f"reproduction-{name}.png", contenders)


if __name__ == "__main__":
    main()
