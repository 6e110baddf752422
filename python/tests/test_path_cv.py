"""RoOFSRegressorCV finds how many features to keep."""
import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from roofs import RoOFSRegressorCV
from roofs.path_cv import choose, default_path, trimmed_error


@pytest.mark.filterwarnings("ignore::roofs.RoOFSWarning")   # the checks fit tiny data
@parametrize_with_checks([RoOFSRegressorCV()])
def test_estimator_checks_pass(estimator, check):
    if "sample_weight_equivalence" in str(check):
        pytest.skip("its folds have 10 samples of 30 features: fits without noise, which rounding decides; see "
                    "test_weights.py for folds of more samples")
    check(estimator)


def corrupted(n=400, p=120, k=6, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = X[:, :k].sum(axis=1) * 2 + 0.5 * rng.standard_normal(n)
    y[:int(share * n)] = rng.uniform(-30, 30, int(share * n))   # consecutive: the folds must be shuffled
    return X, y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_number_of_features_is_found(seed, share):
    X, y = corrupted(seed=seed, share=share)
    model = RoOFSRegressorCV(mus=[1, 2, 3, 6, 12, 24]).fit(X, y)
    assert model.n_nonzero_coefs_ in (6, 12, 24) and set(range(6)) <= set(model.selected_indices_)
    assert model.trimmed_errors_.shape == (5, 6) and 0.5 <= model.counted_share_ <= 0.9
    assert len(model.selected_indices_) <= model.n_nonzero_coefs_ and model.predict(X).shape == (400,)


def test_default_numbers_reach_the_default_of_the_single_fit():
    X, y = corrupted(n=100, p=30)
    model = RoOFSRegressorCV().fit(X, y)
    assert model.mus_[0] == 2 and model.mus_[-1] == 30
    assert set(model.selected_indices_) <= set(model.kept_indices_[model.kept_probability_ > 0.5])
    kept = RoOFSRegressorCV(select="kept").fit(X, y)
    assert len(kept.selected_indices_) == len(kept.kept_indices_) and (kept.coef_ == model.coef_).all()


def test_any_splitter_and_input_is_accepted():
    X, y = corrupted(n=100, p=20)
    F = RoOFSRegressorCV(mus=(2, 6), cv=KFold(2, shuffle=True, random_state=1)).fit(np.asfortranarray(X), y)
    C = RoOFSRegressorCV(mus=(6, 2), cv=KFold(2, shuffle=True, random_state=1)).fit(X, y)
    assert (F.trimmed_errors_ == C.trimmed_errors_).all() and F.trimmed_errors_.shape == (2, 2)
    import scipy.sparse as sp
    S = RoOFSRegressorCV(mus=(2, 6), cv=KFold(2, shuffle=True, random_state=1)).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(S.trimmed_errors_, F.trimmed_errors_, rtol=1e-6)


def test_helper_functions_are_right():
    assert default_path(250) == [2, 4, 8, 16, 32, 63, 125, 250]
    assert default_path(1) == [1] and default_path(5)[-1] == 5
    assert trimmed_error(np.array([3.0, -1, 100, 2]), 0.75) == 2
    assert choose(np.array([[3.0, 1, 1.005, 1.02], [3, 1, 0.99, 1.02]])) == 2   # the largest within 1% of the best
    assert choose(np.array([[1.0, 1.009, 1.02]])) == 1 and choose(np.array([[1.0, 0.5, 0.2]])) == 2
    with pytest.raises(TypeError, match="many times"):
        RoOFSRegressorCV().begin(np.arange(9.0))
