"""Ids, labels and columns keep what they are."""

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

import edict
from edict import Dataset, Error, Model


def two(ids):
    return Dataset.from_arrays([[0], [0]], [[[1.0]], [[2.0]]], ids=ids)


def framed(ids, **columns):
    return Dataset.from_frame(pd.DataFrame({"id": ids, "time": np.arange(len(ids)), "x": 1.0, **columns}))


@pytest.mark.parametrize("ids", [
    [2**63 + 5, 1], np.array([2**63 + 5, 2**63 + 6], np.uint64), pd.array([2**60 + 1, 2**60 + 2], "Int64"),
    np.array([3, 4], np.int8), ["b", 1], [2.5, "a"], np.array([1, 2], ">i8"),
])  # fmt: skip
def test_ids_are_kept_as_they_are(ids):
    given = [i.item() if isinstance(i, np.generic) else i for i in ids]
    for data in (two(ids), framed(ids)):
        assert data.ids == given and [type(i) for i in data.ids] == [type(i) for i in given]
        assert data.to_frame()["id"].tolist() == given
        assert data.select(given[1]).ids == given[1:]


def test_labels_beyond_signed_integers_stay_whole():
    data = two(None).with_labels([2**63, 2])
    assert data.labels.tolist() == [2**63, 2]


def test_ids_that_are_no_names_are_refused():
    with pytest.raises(Error, match=r"ids\[0\] is missing; give each series an id"):
        two([None, 1])
    with pytest.raises(Error, match="truth values and numbers at once; make all of them texts"):
        framed([1, True, 0])
    with pytest.raises(Error, match="a column called 'none' cannot hold ids"):
        Dataset.from_frame({"none": [1, 2], "time": [0, 1], "x": [1.0, 2.0]}, id="none")


def test_a_frame_of_the_other_byte_order():
    frame = pd.DataFrame({"id": [1, 2, 2], "time": [0, 1, 2], "x": [1.0, 2, 3], "age": [30, 40, 40]})
    own = Dataset.from_frame(frame, static="age")
    other = frame.copy()
    for name in frame:
        other[name] = frame[name].to_numpy().astype(frame[name].dtype.newbyteorder(">"))
    assert Dataset.from_frame(other, static="age").fingerprint == own.fingerprint


def test_features_called_as_other_columns_of_a_table_keep_their_names():
    frame = pd.DataFrame({"p": ["a", "a", "b"], "t": [0.0, 1, 0], "id": [5.0, 6, 7], "time": [8.0, 9, 10], "label": [1.0, 2, 3]})
    data = Dataset.from_frame(frame, id="p", time="t")
    with pytest.warns(UserWarning, match="another column is called 'id', so this one is 'id_'"):
        table = data.to_frame()
    assert table["id"].tolist() == [5, 6, 7] and table["time"].tolist() == [8, 9, 10]
    assert table["id_"].tolist() == ["a", "a", "b"] and table["time_"].tolist() == [0, 1, 0]
    again = Dataset.from_frame(table, id="id_", time="time_")
    assert again.fingerprint == data.fingerprint


def test_a_constant_called_as_a_column_of_the_long_form():
    frame = pd.DataFrame({"id": ["a", "b"], "time": [0.0, 1], "x": [1.0, 2], "value": [30.0, 40]})
    with pytest.warns(UserWarning, match="another column is called 'value'"):
        table = Dataset.from_frame(frame, static="value").to_frame("long")
    assert table["value"].tolist() == [1, 2] and table["value_"].tolist() == [30, 40]


def test_deviations_overwrite_no_column(frame):
    frame = frame.rename(columns={"flow": "level_sd"})
    data = Dataset.from_frame(frame, label="label")
    model = Model.train(data, **SMALL)
    for given in (data, frame, data[:60].before(np.inf)):
        with pytest.warns(UserWarning, match="another column is called 'level_sd'"):
            filled = model.impute(given, deviations=True)
        seen = frame["level_sd"].notna().to_numpy()
        assert np.allclose(filled["level_sd"][seen], frame["level_sd"][seen])
        assert (filled["level_sd_"] == 0).all()  # level was always observed
        assert (filled["level_sd_sd"][~seen] > 0).all()


def test_a_table_without_the_ids_of_training_does_not_take_a_feature_for_them(frame):
    frame = frame.rename(columns={"id": "patient", "level": "id"})
    model = Model.train(Dataset.from_frame(frame, id="patient", label="label"), **SMALL)
    with pytest.raises(Error, match="there is no column 'patient' for the id"):
        model.predict(frame.drop(columns="patient"), ahead=[1.0])


def test_tables_in_a_list_go_by_their_columns():
    tables = [pd.DataFrame({"a": [1.0, 2], "b": [3.0, 4]}), pd.DataFrame({"b": [5.0], "a": [6.0]})]
    data = Dataset.from_arrays([[0, 1], [0]], tables)
    assert data.features == ["a", "b"] and data.to_frame()["a"].tolist() == [1, 2, 6]
    with pytest.raises(Error, match=r"values\[1\] has the columns b, and a, b are needed"):
        Dataset.from_arrays([[0, 1], [0]], [tables[0], tables[1][["b"]]])
    with pytest.raises(TypeError, match="times is a DataFrame; give a list with an array a series"):
        Dataset.from_arrays(tables[0], tables[0])


def test_integer_columns_of_the_long_form():
    frame = pd.DataFrame([[1, 0.0, "a", 2.0], [1, 0.0, "b", 3.0]])
    assert Dataset.from_long(frame, id=0, time=1, feature=2, value=3).features == ["a", "b"]


def test_a_number_that_may_be_a_place_or_an_id_is_refused(model, data):
    named = Dataset.from_frame(data[:3].to_frame().replace({"wave00": 2, "wave01": 0, "wave02": 70}), label="label")
    forecast = model.predict(named, ahead=[1.0])
    with pytest.raises(Error, match="2 may be a place or an id of these series; give the id as a text, '2'"):
        forecast.select(2)
    assert forecast.select("2").ids == [2] and forecast.select(np.array([2])).ids == [70]
    assert forecast.select(70).ids == [70] and forecast.select(1).ids == [0]
    assert forecast.plot().axes[0].get_title(loc="left").startswith("2,")
    assert named.select([70, 0]).ids == [70, 0]


def test_what_stands_for_missing_may_be_said_in_several_forms(frame, tmp_path):
    coded = frame.fillna({"flow": -999.0})
    coded.to_csv(tmp_path / "data.csv", index=False)
    plain = Dataset.from_frame(frame, label="label")
    for missing in (-999, np.int64(-999), "flow=-999", [-999.0], {"flow": -999}, {"flow": [-999, -998]}):
        assert Dataset.from_frame(coded, label="label", missing=missing).observations == plain.observations
        read = Dataset.read_csv(tmp_path / "data.csv", missing=missing)
        assert read.observations == plain.observations
    for wrong in (True, object(), [None]):
        with pytest.raises(TypeError, match='give -999, "column=-999", a list of them, or a mapping'):
            Dataset.from_frame(coded, label="label", missing=wrong)
    with pytest.raises(Error, match="there is no column 'flwo' for missing; did you mean 'flow'"):
        Dataset.from_frame(coded, label="label", missing={"flwo": -999})


def test_the_decimal_mark_may_be_a_word_or_itself(tmp_path):
    (tmp_path / "data.csv").write_text("id;time;x\na;0;1,5\na;1;2,5\n")
    for decimal in (",", "comma"):
        assert Dataset.read_csv(tmp_path / "data.csv", decimal=decimal).arrays["value"].tolist() == [1.5, 2.5]
    with pytest.raises(edict.Error, match='decimal=\'komma\': give "point" or ".", "comma" or ","'):
        Dataset.read_csv(tmp_path / "data.csv", decimal="komma")


def test_a_mask_with_an_index_goes_by_it(model, data):
    mixed = data[np.random.default_rng(0).permutation(60)]
    fast = pd.Series(data.labels == "fast", index=data.ids)  # in another order than the series
    expected = [i for i, label in zip(mixed.ids, mixed.labels) if label == "fast"]
    assert mixed[fast].ids == expected
    assert mixed[fast.astype("boolean")].ids == expected
    assert model.predict(mixed, ahead=[1.0]).select(fast).ids == expected
    assert mixed[fast.to_numpy()].ids != expected
    with pytest.raises(Error, match="a mask of series: the index has no series"):
        mixed[fast.drop("wave07")]


def test_static_covariates_in_a_series_go_by_its_index():
    age = pd.Series({"b": 40.0, "a": 30.0})
    data = Dataset.from_arrays([[0], [0]], [[[1.0]], [[2.0]]], ids=["a", "b"], static={"age": age})
    assert data.arrays["statics"].ravel().tolist() == [30, 40]


def test_what_streams_are_given_goes_by_its_index(model):
    streams = edict.Streams(model, ["a", "b"], start=0)
    values = pd.DataFrame({"flow": [0.1, 0.2], "level": [0.3, 0.4]}, index=["b", "a"])
    times = pd.Series({"a": 1.0, "b": 2.0})
    streams.observe(times, values)
    other = edict.Streams(model, ["a", "b"], start=0)
    other.observe([1.0, 2.0], [[0.4, 0.2], [0.3, 0.1]])
    assert streams.times.tolist() == [1, 2]
    at = pd.Series({"b": 5.0, "a": 4.0})
    assert streams.predict(at) == other.predict([4.0, 5.0])
    assert streams.predict(at, ["b", "a"]).times.ravel().tolist() == [5, 4]
    with pytest.raises(Error, match="the index of values names other streams, or in another order, than streams="):
        streams.observe(6.0, values, streams=["a", "b"])
    streams.observe(6.0, values, streams=["b", "a"])
    with pytest.raises(Error, match="there is no stream 'c', which the index names"):
        streams.observe(7.0, values.rename(index={"a": "c"}))


def test_an_index_of_numbers_beside_ids_of_a_file():
    data = Dataset.from_arrays([[0], [0]], [[[1.0]], [[2.0]]], ids=["1", "2"])
    with pytest.raises(Error, match="labels: the index holds the ids in another order"):
        data.with_labels(pd.Series(["b", "a"], index=[2, 1]))
    assert data.with_labels(pd.Series(["a", "b"], index=[1, 2])).labels.tolist() == ["a", "b"]


def test_columns_of_a_model_are_found_in_another_case(model, frame, tmp_path):
    expected = model.predict(frame, ahead=[1.0])
    other = frame.rename(columns={"flow": "Flow", "id": "ID"})
    with pytest.warns(UserWarning, match="'Flow' is taken for the model's 'flow'"):
        assert model.predict(other, ahead=[1.0]) == expected
    with pytest.warns(UserWarning, match="'ID' is taken for the model's 'id'"):
        filled = model.impute(other)
    assert list(filled.columns) == list(other.columns) and filled["Flow"].equals(model.impute(frame)["flow"].rename("Flow"))
    two = frame.rename(columns={"flow": "Flow"}).assign(FLOW=1.0)
    with pytest.warns(UserWarning, match="never observed, as the data do not have them: 'flow'"):
        model.predict(two, ahead=[1.0])


def test_a_model_takes_the_long_form_and_records(model, frame):
    expected = model.predict(frame, ahead=[1.0])
    long = frame.melt(["id", "time"], ["level", "flow"], "feature", "value").dropna()
    assert model.predict(long, ahead=[1.0]).select(expected.ids).mean.tolist() == expected.mean.tolist()
    assert model.predict(frame.to_records(index=False), ahead=[1.0]) == expected


def test_classes_that_are_numbers_stay_numbers_in_a_file(model, data, tmp_path):
    labelled = data.with_labels(np.where(data.labels == "fast", 1.5, 2.0))
    model.classify(labelled, epochs=1).save(tmp_path / "m.model")
    assert Model.load(tmp_path / "m.model").classes == [1.5, 2.0]


def test_a_warning_points_at_its_caller(frame):
    with pytest.warns(UserWarning, match="'mg' taken off") as caught:
        Dataset.from_frame(frame.assign(flow="5 mg"), label="label")
    assert caught[0].filename == __file__


def test_static_covariates_of_streams_go_by_name(frame):
    frame = frame.assign(age=frame["id"].str[-1].astype(float))
    model = Model.train(Dataset.from_frame(frame, label="label", static="age"), **SMALL)
    table = pd.DataFrame({"age": [9.0, 1.0]}, index=["b", "a"])
    own, other = edict.Streams(model, ["a", "b"], static=table), edict.Streams(model, ["a", "b"], static=[[1.0], [9.0]])
    assert own.predict(1.0) == other.predict(1.0)
    with pytest.raises(Error, match="static: the index does not name each stream once"):
        edict.Streams(model, ["a", "b", "c"], static=table)
    with pytest.raises(Error, match="the model has no static covariate 'sex'; it has age"):
        edict.Stream(model, static={"sex": 1})


def test_a_training_that_is_resumed_has_files(data):
    with pytest.raises(Error, match="resume=True continues a training from its files; give out="):
        Model.train(data, resume=True, **SMALL)
