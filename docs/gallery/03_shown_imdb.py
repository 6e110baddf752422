"""
Words of movie reviews
======================

5,000 reviews of the Large Movie Review Dataset, 5,000 words, 5% of the scores wrong. The program reads the two LIBSVM
files, weighs the words, fits and predicts 25,000 other reviews.

The data is not part of the repository. This page shows a recorded run of ``examples/imdb/run.sh``; it took half a
minute on one core.

.. code-block:: console

    $ SHARES=0.05 REVIEWS=5000 WORDS=5000 MU=500 examples/imdb/run.sh DATA
    test.npz: 25,000 samples, 5,000 features, 2,898,422 nonzero values
    corrupted 0.05: mean absolute error 1.825
    lower the score: bad worst no ? nothing awful poor supposed unfortunately annoying unless
        have even waste don't worse boring terrible enough might better pointless stupid minutes wasted
    raise the score: great best perfect you it favorite wonderful excellent also our fantastic
        love well life very masterpiece true still amazing most enjoyed today definitely enjoy lives

A constant has error 3.2. The words are sorted by their effect: the coefficient times the spread of the word.

The same in Python, with the matrix that ``roofs convert`` wrote:
"""

import numpy as np
import scipy.sparse as sp
from roofs import RoOFSRegressor

words = sp.load_npz("train.npz").tocsc()
scores = np.loadtxt("y-bad.txt")
model = RoOFSRegressor(500).fit(words, scores)

spread = np.sqrt(words.multiply(words).mean(axis=0) - np.square(words.mean(axis=0))).A1
effect = model.coef_ * spread
names = [line.strip() for line in open("imdb.vocab")]
print("raise the score:", *(names[j] for j in np.argsort(-effect)[:25]))
print("lower the score:", *(names[j] for j in np.argsort(effect)[:25]))
