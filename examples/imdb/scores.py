#!/usr/bin/env python3
"""Chooses reviews, corrupts scores, and evaluates predictions for the example.

    scores.py choose COUNT OF SEED            COUNT different numbers below OF
    scores.py corrupt FILE SHARE SEED         adds U(-50, 50) to a share of the numbers in FILE
    scores.py error PREDICTED TRUE            mean absolute error of predictions clipped to 1..10
    scores.py words MODEL IDF                 the words with the largest effect on scores
"""
import json
import math
import random
import sys


def read(path):
    with open(path) as lines:
        return [float(line) for line in lines]


def main(what, *args):
    if what == "choose":
        print(*random.Random(int(args[2])).sample(range(int(args[1])), int(args[0])), sep="\n")
    elif what == "corrupt":
        rng, scores = random.Random(int(args[2])), read(args[0])
        for k in rng.sample(range(len(scores)), round(float(args[1]) * len(scores))):
            scores[k] += rng.uniform(-50, 50)
        print(*scores, sep="\n")
    elif what == "error":
        errors = [abs(min(max(p, 1), 10) - t) for p, t in zip(read(args[0]), read(args[1]))]
        print(f"{sum(errors) / len(errors):.3f}")
    elif what == "words":
        # A coefficient multiplies a weighed count. Frequent words have small weights and large coefficients. The effect
        # of a word is its coefficient times idf times the square root of its share of reviews, exp(-idf).
        with open(args[0]) as file:
            model, idf = json.load(file), read(args[1])
        words = sorted((f["coef"] * idf[f["index"]] * math.exp(-idf[f["index"]] / 2), f["name"])
                       for f in model["features"])
        print("lower the score:", *(name for _, name in words[:25]))
        print("raise the score:", *(name for _, name in reversed(words[-25:])))


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in ("choose", "corrupt", "error", "words"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
