"""A Dataset goes through scikit-learn as X."""

import os

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed, parallel_backend
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks, resample
from sklearn.utils.multiclass import type_of_target

import edict
from edict import Guard
from edict.sklearn import EdictClassifier, EdictEncoder, EdictForecaster

SMALL = dict(epochs=2, hidden=8, batch=16, step=0.5, n_jobs=1)


def test_parameters_are_the_settings():
    forecaster = EdictForecaster(hidden=8, guard=Guard("edgr"))
    params = forecaster.get_params()
    assert params["model_hidden"] == 8 and params["train_epochs"] is None
    assert params["guard__eta"] == 1.96
    copy = clone(forecaster).set_params(guard__eta=3.0, train_epochs=7)
    assert copy.guard.eta == 3.0 and forecaster.guard.eta == 1.96
    assert copy.get_params()["train_epochs"] == 7
    with pytest.raises(TypeError, match="unknown parameter 'hiden'; did you mean 'hidden'"):
        EdictForecaster(hiden=8)
    with pytest.raises(ValueError, match="Invalid parameter"):
        forecaster.set_params(hiden=8)
    assert "train_epochs" in str(EdictForecaster.__init__.__signature__)
    assert "train_epochs=3" in repr(EdictForecaster(epochs=3))


@pytest.mark.parametrize("kind", [EdictForecaster, EdictClassifier, EdictEncoder])
def test_the_checks_of_scikit_learn_that_do_not_ask_for_a_matrix(kind):
    for check in (
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
        estimator_checks.check_estimators_unfitted,
        estimator_checks.check_estimator_get_tags_default_keys,
    ):
        check(kind.__name__, kind())


def test_cross_validation_by_group_and_grid_search(data):
    groups = np.arange(60) % 3
    scores = cross_val_score(
        EdictForecaster(**SMALL), data, groups=groups, cv=GroupKFold(3)
    )
    assert scores.shape == (3,) and np.isfinite(scores).all()
    search = GridSearchCV(EdictForecaster(**SMALL), {"model_hidden": [4, 8]}, cv=2)
    search.fit(data)
    assert search.best_params_["model_hidden"] in (4, 8)
    assert search.best_estimator_.model_.hidden == search.best_params_["model_hidden"]


def test_no_series_is_held_back_from_fit(data):
    model = EdictForecaster(**SMALL).fit(data).model_
    assert model.info["seen"]["test"] == 0
    assert model.info["seen"]["train"] + model.info["seen"]["validation"] == 60


def test_classifier_and_its_calibration(data):
    y = np.where(data.labels == "fast", 3, 1)  # numbers of the user's own
    train, test, y_train, y_test = train_test_split(data, y, random_state=0, stratify=y)
    classifier = EdictClassifier(**SMALL).fit(train, y_train)
    assert classifier.classes_.tolist() == [1, 3]
    assert set(classifier.predict(test)) <= {1, 3}
    probabilities = classifier.predict_proba(test)
    fast = classifier.model_.classes.index(3)
    np.testing.assert_array_equal(
        probabilities[:, 1], classifier.model_.class_probabilities(test)[:, fast]
    )
    assert 0 <= classifier.score(test, y_test) <= 1
    calibrated = CalibratedClassifierCV(EdictClassifier(**SMALL), cv=2).fit(train, y_train)
    np.testing.assert_allclose(calibrated.predict_proba(test).sum(axis=1), 1)


def test_a_kind_that_learns_classes_at_once(data):
    classifier = EdictClassifier(kind="gru-d", epochs=2, batch=16).fit(data, data.labels)
    assert classifier.predict(data).shape == (60,)


def test_states_in_a_pipeline(data):
    pipe = make_pipeline(EdictEncoder(**SMALL), LogisticRegression(max_iter=500))
    assert cross_val_score(pipe, data, data.labels, cv=2).shape == (2,)
    pipe.fit(data, data.labels)
    np.testing.assert_array_equal(pipe[0].transform(data), pipe[0].model_.encode(data))


def test_the_same_whatever_the_number_of_jobs(data):
    one, two = (
        cross_val_score(EdictForecaster(**SMALL), data, cv=2, n_jobs=jobs) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
    model = EdictForecaster(**SMALL).fit(data).model_
    threaded = Parallel(n_jobs=2, prefer="threads")(
        delayed(lambda i: model.predict(data[i], at=[5.0]).mean)(i) for i in range(4)
    )
    np.testing.assert_array_equal(np.concatenate(threaded), model.predict(data[:4], at=[5.0]).mean)


def test_forecaster_in_the_words_of_others(data):
    forecaster = EdictForecaster(ahead=[1.0, 2.0], **SMALL)
    with pytest.raises(NotFittedError):
        forecaster.predict(data)
    forecaster.fit(data)
    lower, upper = forecaster.predict_interval(data, 0.5)
    assert lower.shape == (60, 2, 2) and (lower < upper).all()
    assert forecaster.predict_quantiles(data, [0.1, 0.9]).shape == (60, 2, 2, 2)
    assert (forecaster.predict_var(data, at=[3.0]) > 0).all()
    with pytest.raises(TypeError, match="X is a ndarray; give an edict.Dataset"):
        forecaster.fit(np.zeros((3, 4)))


def test_labels_that_are_numbers_are_scored_as_numbers(frame):
    sick = frame.assign(label=(frame["label"] == "fast").astype(int))
    data = edict.Dataset.from_frame(sick, label="label")
    scores = cross_val_score(EdictClassifier(**SMALL), data, data.labels, cv=2, scoring="f1")
    assert np.isfinite(scores).all()
    classifier = EdictClassifier(**SMALL).fit(data)
    assert classifier.classes_.tolist() == [0, 1] and classifier.predict(data).dtype.kind == "i"
    assert type_of_target(data.labels) == "binary"


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_series_without_a_label_are_left_out_with_a_warning(data, missing):
    y = pd.Series((data.labels == "fast").astype(int)).astype(object)
    y[[3, 4]] = missing
    for kind in ("edict", "gru-d"):
        with pytest.warns(UserWarning, match="2 of 60 series have no label"):
            classifier = EdictClassifier(**SMALL, kind=kind).fit(data, y)
        assert classifier.classes_.tolist() == [0, 1]
        assert set(classifier.predict(data)) <= {0, 1}
    with pytest.raises(ValueError, match="no series has a label"):
        EdictClassifier(**SMALL).fit(data, [missing] * 60)
    with pytest.raises(ValueError, match="59 labels for 60 series"):
        EdictClassifier(**SMALL).fit(data, y[:59])


def test_jobs_are_counted_as_scikit_learn_does(data):
    assert EdictForecaster()._threads == 1 and EdictForecaster(n_jobs=3)._threads == 3
    assert EdictForecaster(n_jobs=-1)._threads == os.cpu_count()
    with parallel_backend("threading", n_jobs=2):
        assert EdictForecaster()._threads == 2
    with pytest.raises(ValueError):
        EdictForecaster(n_jobs=0).fit(data)


def test_one_seed_for_all(data):
    def states(**parameters):
        return EdictEncoder(**SMALL, **parameters).fit(data).transform(data)

    np.testing.assert_array_equal(states(random_state=7), states(random_state=np.int64(7)))
    np.testing.assert_array_equal(
        states(random_state=np.random.RandomState(0)), states(random_state=np.random.RandomState(0))
    )
    assert (states(random_state=7) != states(random_state=8)).any()
    config = EdictForecaster(**SMALL, random_state=7, train_seed=3).fit(data).model_.config
    assert config["train"]["seed"] == 3 and config["data"]["seed"] == 7
    assert EdictForecaster(random_state=7).get_params()["random_state"] == 7


def test_bootstraps(data):
    drawn, y = resample(data, data.labels, random_state=0)
    assert len(drawn) == 60 and len(set(drawn.ids)) < 60
    classifier = EdictClassifier(**SMALL).fit(drawn, y)
    assert 0 <= classifier.score(data, data.labels) <= 1
    assert classifier.predict(resample(data, random_state=1)).shape == (60,)


def test_what_is_no_y_and_no_matrix_is_refused_in_a_line(data):
    with pytest.raises(ValueError, match="labels of types that have no order"):
        EdictClassifier(**SMALL).fit(data, [1, "a"] * 30)
    with pytest.raises(ValueError, match="labels: give one a series, not an array of 2 axes"):
        EdictClassifier(**SMALL).fit(data, np.eye(60, 2))
    with pytest.raises(TypeError, match="a Dataset is no array; .*model.encode"):
        BaggingClassifier(EdictClassifier(**SMALL)).fit(data, data.labels)
    with pytest.raises(TypeError, match="a Dataset is no array"):
        np.asarray(data)


def test_a_table_may_stand_for_the_series(frame, data):
    classifier = EdictClassifier(**SMALL).fit(frame)
    same = EdictClassifier(**SMALL).fit(data)
    np.testing.assert_array_equal(
        classifier.predict_proba(frame.drop(columns="label")), same.predict_proba(data)
    )
    bare = frame[["id", "time", "level", "flow"]]
    encoder = EdictEncoder(**SMALL).fit(bare)
    assert encoder.transform(bare).shape == (60, 8)
    assert EdictForecaster(**SMALL, ahead=1.0).fit(bare).predict(bare).shape == (60, 1, 2)
    with pytest.raises(ValueError, match="600 labels for 60 series"):
        EdictClassifier(**SMALL).fit(bare, frame["label"])


def test_vectors_as_a_table(data, frame):
    pipe = make_pipeline(EdictEncoder(**SMALL), StandardScaler()).set_output(transform="pandas")
    for given in (data, frame):  # which has many rows a series
        table = pipe.fit(given).transform(given)
        assert table.index.tolist() == data.ids and table.columns.tolist() == [f"h{i}" for i in range(8)]
        assert EdictEncoder(**SMALL).set_output(transform="pandas").fit_transform(given).shape == (60, 8)
    assert isinstance(EdictEncoder(**SMALL).fit_transform(data), np.ndarray)


def test_labels_in_a_series_go_by_its_index(data):
    labels = pd.Series(data.labels, index=data.ids)
    mixed = labels.sample(frac=1, random_state=0)
    assert data.with_labels(mixed).labels.tolist() == data.labels.tolist()
    assert data[:10].with_labels(mixed).labels.tolist() == data.labels[:10].tolist()  # of more series
    in_order = mixed.reset_index(drop=True)
    assert data.with_labels(in_order).labels.tolist() == mixed.tolist()
    with pytest.raises(edict.Error, match="labels: the index has no series 'wave00'"):
        data.with_labels(labels.drop("wave00"))
    numbered = edict.Dataset.from_numpy3d(np.zeros((3, 2, 1)))
    with pytest.raises(edict.Error, match="labels: the index holds the ids in another order"):
        numbered.with_labels(pd.Series(["a", "b", "a"], index=[2, 0, 1]))
    assert numbered.with_labels(pd.Series(["a", "b", "a"], index=[7, 8, 9])).labels.tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("share", [0, 1.0, "a", True, None, float("nan")])
def test_a_share_for_validation_is_a_share(data, share):
    with pytest.raises(edict.Error, match="validation=.*: give a share of the series from 0.01 to 0.98"):
        EdictForecaster(validation=share).fit(data)
