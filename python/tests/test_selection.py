"""Selected columns, found by name where the features have names."""
import numpy as np
import pytest
from conftest import problem
from sklearn.exceptions import NotFittedError

from roofs import RoOFSRegressor, RoOFSWarning

pd = pytest.importorskip("pandas")
NAMES = [f"f{k}" for k in range(260)]
TRUE = ["f7", "f131", "f207"]


def named_fits(tmp_path):
    """Fits of one problem whose features have names that scikit-learn does not hold. A fit that is not finished holds
    more features."""
    X, y, _ = problem()
    frame = pd.DataFrame(X, columns=NAMES)
    stream = RoOFSRegressor(3).fit_stream([frame.iloc[:, :100], frame.iloc[:, 100:]], y)
    begun = RoOFSRegressor(3).begin(y).partial_fit_features(frame)
    stream.save(tmp_path / "model.json")
    finished = RoOFSRegressor(3).begin(y).partial_fit_features(frame).finish()
    loaded = RoOFSRegressor.load(tmp_path / "model.json")
    return frame, {"stream": stream, "begin": begun, "finish": finished, "load": loaded}


def test_transform_finds_columns_of_any_order_by_name(tmp_path):
    frame, fits = named_fits(tmp_path)
    turned = frame[frame.columns[::-1]].assign(note="text")
    for way, model in fits.items():
        expected = frame[model.selected_features_].to_numpy()
        assert set(TRUE) <= set(model.selected_features_) and len(expected.T) < len(NAMES), way
        assert (model.transform(frame) == expected).all(), way
        assert (model.transform(turned) == expected).all(), way
        assert (model.predict(turned) == model.predict(frame)).all(), way


def test_names_out_are_those_of_the_selected_features(tmp_path):
    _, fits = named_fits(tmp_path)
    for way, model in fits.items():
        expected = model.selected_features_.tolist()
        assert expected == TRUE or way == "begin"
        assert model.get_feature_names_out().tolist() == expected, way
        assert model.get_feature_names_out(NAMES).tolist() == expected, way
        assert np.array(NAMES)[model.get_support()].tolist() == expected, way
        with pytest.raises(ValueError, match="length equal to the number of features"):
            model.get_feature_names_out(NAMES[:5])
        with pytest.raises(ValueError, match="not equal to the names"):
            model.get_feature_names_out(NAMES[::-1])


def test_set_output_names_the_columns(tmp_path):
    frame, fits = named_fits(tmp_path)
    for model in fits.values():
        out = model.set_output(transform="pandas").transform(frame[frame.columns[::-1]])
        pd.testing.assert_frame_equal(out, frame[model.selected_features_])


def test_missing_and_repeated_columns_are_refused(tmp_path):
    frame, fits = named_fits(tmp_path)
    for model in fits.values():
        with pytest.raises(ValueError, match="1 of the selected features are not .* 'f131'"):
            model.transform(frame.drop(columns="f131"))
        with pytest.raises(ValueError, match="several columns with the name 'f7'"):
            model.transform(pd.concat([frame, frame[["f7"]]], axis=1))
        with pytest.raises(ValueError, match="several columns with the name 'f7'"):
            model.predict(pd.concat([frame, frame[["f7"]]], axis=1))


def test_columns_by_position_are_warned_of(tmp_path):
    frame, fits = named_fits(tmp_path)
    for way, model in fits.items():
        for call in (model.transform, model.predict):
            with pytest.warns(UserWarning, match="does not have valid feature names"):
                by_position = call(frame.to_numpy())
            assert (by_position == call(frame)).all(), way


def test_arrow_columns_that_are_not_used_may_be_anything():
    pa = pytest.importorskip("pyarrow")
    X, y, _ = problem()
    table = pa.table({**dict(zip(NAMES, X.T)), "note": ["text"] * len(y), "hole": [None] + [1.0] * (len(y) - 1)})
    model = RoOFSRegressor(3).fit_stream([table.select(NAMES)], y)
    assert (model.transform(table) == X[:, [7, 131, 207]]).all()
    with pytest.warns(RoOFSWarning, match='column "note" is left out: all its values are the same'):
        RoOFSRegressor(3).fit(table.select([*NAMES, "note"]), y)


def test_model_without_a_fit_selects_nothing():
    for call in ("transform", "get_feature_names_out", "get_support"):
        with pytest.raises(NotFittedError):
            getattr(RoOFSRegressor(3), call)(*([np.ones((4, 2))] if call == "transform" else []))
