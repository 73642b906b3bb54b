"""Columns and arrays of every layout and type, what they are called, and what comes back."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

import edict
from edict import Dataset, Model


def of_columns(**columns):
    return Dataset.from_frame({"id": ["a", "a", "b"], "time": [0.0, 1.0, 0.0], **columns})


def values_of(data):
    return data.arrays["value"].tolist()


PACKED = np.zeros(3, dtype=[("tag", "i1"), ("x", "f8"), ("pad", "i2")])
PACKED["x"] = [1.5, 2.5, 3.5]
TWICE = np.zeros((3, 4), dtype=np.float64)
TWICE[:, 1] = [1.5, 2.5, 3.5]


@pytest.mark.parametrize("x", [
    PACKED["x"],  # neither aligned nor a whole number of doubles apart
    np.frombuffer(b"\0" + np.array([1.5, 2.5, 3.5]).tobytes(), dtype="f8", offset=1),
    TWICE[:, 1], np.asfortranarray(TWICE)[:, 1], np.array([3.5, 2.5, 1.5])[::-1],
    np.array([1.5, 2.5, 3.5], ">f8"), np.array([1.5, 2.5, 3.5], "f4"), np.array([1.5, 2.5, 3.5], "f2"),
    np.array([1.5, 2.5, 3.5], np.longdouble), [1.5, 2.5, 3.5], (1.5, 2.5, 3.5),
    np.array(["1.5", "2.5", "3.5"]), np.array(["1.5", 2.5, 3.5], dtype=object),
    pd.array([1.5, 2.5, 3.5], dtype="Float32"), pd.Series([1.5, 2.5, 3.5], index=[9, 3, 7]),
    pd.arrays.SparseArray([1.5, 2.5, 3.5]), pd.array(["1.5", "2.5", "3.5"], dtype="string"),
], ids=lambda x: type(x).__name__)  # fmt: skip
def test_numbers_of_every_layout(x):
    assert values_of(of_columns(x=x)) == [1.5, 2.5, 3.5]
    assert values_of(Dataset.from_arrays([[0, 1, 2]], [x])) == [1.5, 2.5, 3.5]
    cube = np.asarray(x).astype(object).astype(float) if not isinstance(x, np.ndarray) else x
    assert values_of(Dataset.from_numpy3d(cube.reshape(1, 3, 1))) == [1.5, 2.5, 3.5]


def test_fields_of_a_packed_array_are_columns():
    packed = np.zeros(3, dtype=[("id", "i1"), ("time", "f8"), ("x", ">f8"), ("y", "f4")])
    packed["time"], packed["x"], packed["y"] = [0, 1, 2], [1.5, 2.5, 3.5], 4
    data = Dataset.from_frame(packed)
    assert data.features == ["x", "y"] and values_of(data) == [1.5, 4, 2.5, 4, 3.5, 4]
    cube = np.zeros((2, 3), dtype=[("tag", "i1"), ("x", "f8", (2,))])
    cube["x"] = np.arange(12).reshape(2, 3, 2)
    assert values_of(Dataset.from_numpy3d(cube["x"])) == list(range(12))


def test_a_mask_means_not_observed():
    x = np.ma.masked_array([1.0, 999.0, 3.0], [False, True, False])
    assert values_of(of_columns(x=x, y=[0.0, 0.0, 0.0])) == [1, 0, 0, 3, 0]
    assert values_of(Dataset.from_arrays([[0, 1, 2]], [x])) == [1, 3]
    assert values_of(Dataset.from_numpy3d(x.reshape(1, 3, 1))) == [1, 3]
    whole = np.ma.masked_array([1, 999, 3], [False, True, False])  # of whole numbers too
    assert values_of(Dataset.from_arrays([[0, 1, 2]], [whole])) == [1, 3]
    names = np.ma.masked_array(["u", "v", "w"], [False, True, False])
    assert Dataset.from_numpy3d(np.ones((3, 1, 1)), labels=names).labels.tolist() == ["u", None, "w"]
    with pytest.raises(edict.Error, match="row 1 has no id"):
        Dataset.from_frame({"id": names, "time": [0, 1, 2], "x": [1, 2, 3]})


@pytest.mark.parametrize("x, text", [
    (pd.to_datetime(["2024-01-01"] * 3), "holds date-times, where numbers are needed"),
    (pd.to_timedelta([1, 2, 3], unit="h"), "holds durations, where numbers are needed"),
    (np.array([1j, 2, 3]), "complex"),
    ([1.0, "oops", 3.0], "'oops' is not a number; write one, or name what stands for a missing value by missing"),
    ([[1], [2], [3]], "holds what is no number, row 0"),
    (np.array([pd.Timestamp("2024-01-01"), 2, 3], dtype=object), "holds what is no number, row 0"),
    (["1_000", "2", "3"], "'1_000' is not a number"),
])  # fmt: skip
def test_what_is_no_number_is_refused_by_name(x, text):
    frame = pd.DataFrame({"id": 1, "time": [0.0, 1.0, 2.0]})
    frame["x"] = x
    with pytest.raises(edict.Error, match=f"column 'x'.*({text})"):
        Dataset.from_frame(frame, features=["x"])


def test_columns_that_are_numbers_and_levels_of_the_index():
    frame = pd.DataFrame({0: ["a", "a", "b"], 1: [0.0, 1.0, 0.0], 2: [1.5, 2.5, 3.5]})
    assert Dataset.from_frame(frame, id=0, time=1).features == ["2"]
    assert Dataset.from_frame(frame, id="0", time="1", features=[2]).ids == ["a", "b"]
    named = pd.DataFrame({"id": ["a", "a", "b"], "time": [0.0, 1.0, 0.0], "x": [1.5, 2.5, 3.5]})
    for indexed in (named.set_index("id"), named.set_index(["id", "time"]), named.set_index("time")):
        assert Dataset.from_frame(indexed).fingerprint == Dataset.from_frame(named).fingerprint
    by_time = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.to_datetime(["2024-01-01", "2024-01-02"]))
    assert Dataset.from_frame(by_time, id=None, time="index", unit="d").times.tolist() == [0, 1]


def test_a_missing_column_names_the_nearest():
    frame = pd.DataFrame({"ID": [1], "TIME": [0.0], "x": [1.0]})
    with pytest.raises(edict.Error, match="no column 'id' for the id; did you mean 'ID'"):
        Dataset.from_frame(frame)
    with pytest.raises(edict.Error, match="no column 'id' for the id; there are who, when"):
        Dataset.from_frame(pd.DataFrame({"who": [1], "when": [0.0]}))


def test_texts_of_static_columns_that_are_numbers_are_numbers(tmp_path):
    frame = pd.DataFrame({"id": ["a", "b"], "time": [0, 0], "x": [1.0, 2.0], "age": ["50", "61.5"], "sex": ["f", "m"]})
    data = Dataset.from_frame(frame, static=["age", "sex"])
    assert data.statics == ["age", "sex=f", "sex=m"] and data.arrays["statics"][:, 0].tolist() == [50, 61.5]
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert Dataset.read_csv(tmp_path / "d.csv", static=["age", "sex"]).fingerprint == data.fingerprint
    stages = Dataset.from_frame(frame.assign(age=pd.Categorical([2, 1])), static="age", features="x")
    assert stages.statics == ["age=1", "age=2"]


def test_tables_that_are_none():
    for wrong in (np.zeros((3, 2)), [[1, 2], [3, 4]], 7, None):
        with pytest.raises(TypeError, match="is no table; give a DataFrame"):
            Dataset.from_frame(wrong)
    with pytest.raises(edict.Error, match="two columns 'x'"):
        Dataset.from_frame(pd.DataFrame([[1, 0.0, 2.0, 3.0]], columns=["id", "time", "x", "x"]))
    with pytest.raises(edict.Error, match="column 'x' has 2 rows, and 'id' 3"):
        of_columns(x=[1.0, 2.0])
    with pytest.raises(edict.Error, match="column 'x' is one value"):
        of_columns(x=1.0)
    with pytest.raises(edict.Error, match="duplicates='median' is unknown; give error, first, last, mean"):
        Dataset.from_frame({"id": [1], "time": [0], "x": [1]}, duplicates="median")
    # A mapping is as long as its columns.
    assert Dataset.from_frame({"time": [0, 1, 2, 3], "x": [1, 2, 3, 4]}, id=None).events == 4
    with pytest.raises(edict.Error, match="rows of different lengths"):
        Dataset.from_numpy3d([[[1.0]], [[1.0], [2.0]]])
    with pytest.raises(edict.Error, match="text or a number"):
        Dataset.from_frame({"id": [[1], [2]], "time": [0, 1], "x": [1, 2]})


def test_names_of_series_classes_and_groups_keep_their_types(model):
    frame = edict.waves(series=20)
    place = frame["id"].str[-2:].astype(int)
    frame["id"], frame["sick"], frame["ward"] = 100 + place, place % 2, place % 4 < 2
    data = Dataset.from_frame(frame, features=["level", "flow"], label="sick", group="ward")
    for own in (data, data[:], pickle.loads(pickle.dumps(data)), data[::-1][::-1]):
        assert own.ids == list(range(100, 120)) and type(own.ids[0]) is int
        assert own.classes == [0, 1] and own.labels.dtype.kind == "i"
        assert own.group_names == [False, True] and own.groups.dtype == bool
    assert data["103"].ids == [103] and data[3].ids == [103]
    assert data.select([103, 101]).ids == [103, 101] and data.select("103").ids == [103]
    with pytest.raises(IndexError, match=r"for the id, data.select\(\[103\]\)"):
        data[103]
    with pytest.raises(edict.Error, match="there is no series 99"):
        data.select([99])
    moved = Dataset.from_frame(frame.assign(id=place + 1), features=["level", "flow"])
    with pytest.raises(edict.Error, match="may be a place or an id .*; give data.select"):
        moved[[3, 5]]
    assert moved[np.array([3, 5])].ids == [4, 6] and moved[3].ids == [4]
    told = model.predict(data, ahead=[1.0]).to_frame()
    assert told["id"].dtype == "int64"
    ages = pd.DataFrame({"id": range(100, 120), "age": 50})
    assert told.merge(ages, on="id").shape[0] == len(told) == 40
    assert data.to_frame()["id"].dtype == "int64" and data.to_frame()["label"].dtype == "int64"
    import matplotlib

    matplotlib.use("Agg")
    figure = model.predict(data, ahead=[1.0, 2.0]).plot(7, data=data)  # what was observed is of that series
    np.testing.assert_array_equal(
        figure.axes[0].lines[1].get_ydata(), data[7].to_frame()["level"].dropna().to_numpy()
    )
    texts = data.with_labels(["yes", "no"] * 10)
    assert texts.labels.tolist() == ["yes", "no"] * 10
    packed = Dataset.from_frame({"id": np.array([b"a", b"b"]), "time": np.array([b"0", b"1"]), "x": [1, 2]})
    assert packed.ids == ["a", "b"] and packed["b"].times.tolist() == [1.0]
    # Missing ones are None, whatever the others are.
    some = data.with_labels([1.0, np.nan] * 10)
    assert some.labels.tolist() == [1.0, None] * 10
    moments = pd.date_range("2024-01-01", periods=2)
    assert Dataset.from_numpy3d(np.ones((2, 1, 1)), ids=moments).ids == list(moments)
    with pytest.raises(edict.Error, match="two different ids are written '1'"):
        Dataset.from_frame({"id": pd.Series([1, "1"], dtype=object), "time": [0, 0], "x": [1, 2]})


def test_classes_of_a_file_are_numbers_where_all_are(tmp_path):
    (tmp_path / "d.csv").write_text("id,time,x,label\n7,0,1,0\n8,0,2,1\n8,1,2,1\n")
    data = Dataset.read_csv(tmp_path / "d.csv")
    assert data.ids == ["7", "8"] and data.labels.tolist() == [0, 1] and data.classes == [0, 1]
    (tmp_path / "d.csv").write_text("id,time,x,label\n7,0,1,007\n8,0,2,8\n8,1,2,8\n")
    assert Dataset.read_csv(tmp_path / "d.csv").labels.tolist() == ["007", "8"]


def test_classes_of_a_model_keep_their_types(data, model, tmp_path):
    own = data.with_labels((data.labels == "fast").astype(int))
    classifier = model.classify(own, seeds=[0], epochs=1, readout_members=1, readout_epochs=1)
    classifier.save(tmp_path / "m")
    for one in (classifier, pickle.loads(pickle.dumps(classifier)), Model.load(tmp_path / "m")):
        assert one.classes == [0, 1]
    words = data.with_labels(["01", "1"] * 30)
    assert Model.train(words, **{**SMALL, "epochs": 1, "kind": "gru-d"}).classes == ["01", "1"]


def test_a_series_may_be_drawn_twice(data, model):
    drawn = data[[3, 5, 3, 3]]
    assert drawn.ids == ["wave03", "wave05", "wave03", "wave03"] and len(drawn) == 4
    assert drawn.labels.tolist() == data.labels[[3, 5, 3, 3]].tolist()
    mean = model.predict(drawn, ahead=[1.0]).mean
    np.testing.assert_array_equal(mean, model.predict(data, ahead=[1.0]).mean[[3, 5, 3, 3]])
    assert drawn["wave03"].ids == ["wave03"] and drawn[2:].ids == ["wave03", "wave03"]
    parts = model.parts(data[[i for i in range(60) for _ in range(3)]])
    assert (parts == np.repeat(model.parts(data), 3)).all()  # all copies are on one side
    assert pickle.loads(pickle.dumps(drawn)).ids == drawn.ids


def test_a_selection_by_a_mask(data, model):
    forecast = model.predict(data, ahead=[1.0, 2.0])
    mask = np.arange(60) % 7 == 0
    for key in (mask, list(mask), pd.Series(mask), np.flatnonzero(mask), list(np.flatnonzero(mask)),
                slice(None, None, 7), [data.ids[i] for i in range(0, 60, 7)]):  # fmt: skip
        assert forecast.select(key).ids == data[key].ids == data[mask].ids
    assert forecast.select(features=[False, True]).features == ["flow"]
    assert forecast.select(-1).ids == data[-1].ids == [data.ids[-1]]
    for key in (np.ones(59, bool), [True], 60):
        with pytest.raises(IndexError):
            forecast.select(key)
    with pytest.raises(TypeError, match="not 1.5"):
        forecast.select(1.5)
    with pytest.raises(edict.Error, match="there is no feature 'flaw'; there are level, flow"):
        forecast.select(features="flaw")


def test_a_table_is_read_like_that_of_training():
    frame = edict.waves(series=60, dates=True).rename(columns={"time": "when", "id": "who"})
    frame["mode"] = np.where(frame["level"] > 0, "up", "down")
    frame["sex"] = np.where(frame["who"] < "wave30", "f", "m")
    frame["ward"] = frame["who"].str[-1].astype(int)
    options = dict(id="who", time="when", label="label", group="ward", static="sex", unit="d",
                   origin=pd.Timestamp("2024-03-30", tz="UTC"), duplicates="mean")  # fmt: skip
    data = Dataset.from_frame(frame, **options)
    model = Model.train(data, **SMALL)
    # One series of one mode and one sex, with a column more and no label.
    new = frame[frame["who"] == "wave05"].assign(mode="up", note="hello", x=1.0).drop(columns="label")
    new = pd.concat([new, new.tail(1).assign(level=0.0, flow=0.0)], ignore_index=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        like = Dataset.from_frame(new, like=model)
        told = model.predict(new, ahead=[0.1])
    assert like.features == data.features and like.statics == data.statics == ["sex=f", "sex=m"]
    assert like.time_axis.rules() == data.time_axis.rules() and like.classes == []
    np.testing.assert_allclose(like.times, data["wave05"].times, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(told.mean, model.predict(like, ahead=[0.1]).mean)
    # So is what to_frame made of such data.
    again = Dataset.from_frame(data.to_frame(), like=model)
    assert again.features == data.features and again.statics == data.statics
    np.testing.assert_array_equal(
        model.predict(again, ahead=[0.1]).mean, model.predict(data, ahead=[0.1]).mean
    )
    # What is said comes before what is known.
    assert Dataset.from_frame(new, like=model, features=["level"]).features == ["level"]
    assert Dataset.from_frame(new, like=model, unit="h").time_axis.unit == "h"
    # A text that the model does not know counts as missing, as in a file.
    with pytest.warns(UserWarning, match="cells of 'mode' hold a category that the model does not know and count as missing"):
        other = model.predict(new.assign(mode="sideways"), ahead=[0.1])
    np.testing.assert_array_equal(other.mean, model.predict(new.assign(mode=None), ahead=[0.1]).mean)
    # Moments without a zone cannot be placed among those with one.
    with pytest.raises(edict.Error, match="model's date-times have a zone, these have none"):
        Dataset.from_frame(new.assign(when=new["when"].dt.tz_localize(None)), like=model)
    with pytest.raises(edict.Error, match="holds numbers, and the model's times are date-times"):
        Dataset.from_frame(new.assign(when=1.5), like=model)
    with pytest.raises(edict.Error, match="none of the model's features is a column"):
        Dataset.from_frame(new[["who", "when", "x"]], like=model)


def test_a_long_table_is_read_like_that_of_training(frame):
    long = frame.melt(["id", "time"], ["level", "flow"], "feature").rename(columns={"time": "hours"})
    data = Dataset.from_long(long, time="hours")
    model = Model.train(data, **SMALL)
    expected = model.predict(data, ahead=[1.0]).mean
    np.testing.assert_array_equal(model.predict(long, ahead=[1.0]).mean, expected)
    wide = data.to_frame().rename(columns={"time": "hours"})
    np.testing.assert_array_equal(model.predict(wide, ahead=[1.0]).mean, expected)


def test_empty_columns_and_counts_of_rows_are_left_out_as_of_a_file(tmp_path):
    frame = edict.waves(series=30, seed=4).drop(columns="label")
    frame.insert(0, "Unnamed: 0", np.arange(len(frame)))
    frame["nothing"], frame["none"], frame["gone"] = np.nan, None, -999
    rows = "left out, as it counts the rows: 'Unnamed: 0'"
    with pytest.warns(UserWarning) as caught:
        data = Dataset.from_frame(frame, missing=-999)
    assert data.features == ["level", "flow"]
    said = [str(warning.message) for warning in caught]
    assert said == [rows, "empty and left out: 'nothing', 'none', 'gone'"]
    assert all(warning.filename == __file__ for warning in caught)
    # The same columns, in the same words, as of the file.
    frame.to_csv(tmp_path / "d.csv", index=False)
    of_file = Dataset.read_csv(tmp_path / "d.csv", missing=-999)
    assert of_file.features == data.features
    for part in said:
        assert part in "; ".join(of_file.reading["recognised"])
    # What is asked for is kept, and so is a table of which nothing else is known.
    assert Dataset.from_frame(frame, features=["level", "nothing"]).features == ["level", "nothing"]
    empty = frame[["id", "time", "nothing"]]
    assert Dataset.from_frame(empty).features == Dataset.from_frame(empty, features="nothing").features
    index = frame.rename(columns={"Unnamed: 0": "index"}).drop(columns=["nothing", "none", "gone"])
    with pytest.warns(UserWarning, match="counts the rows: 'index'"):
        assert Dataset.from_frame(index).features == ["level", "flow"]
    index["index"] *= 2
    assert Dataset.from_frame(index).features == ["index", "level", "flow"]


def test_codes_for_missing_are_not_observed():
    frame = pd.DataFrame({
        "id": list("aabb"), "time": [0, 1, 0, 1], "x": [1.0, -999, 3, 4], "n": [5, 7, -999, 6],
        "mode": pd.Categorical(["on", "off", "n/k", "on"]), "text": ["1", "n/k", "3", "-999.0"],
        "site": ["u", "u", "n/k", "n/k"],
    })  # fmt: skip
    for missing in ([-999, "n/k"], ["X=-999", "n=-999", "text=-999", "n/k"]):
        data = Dataset.from_frame(frame, static="site", missing=missing)
        assert data.features == ["x", "n", "mode=off", "mode=on", "text"]
        assert data.statics == ["site=u"]
        table = data.to_frame()
        assert table["x"].isna().tolist() == [False, True, False, False]
        assert table["n"].isna().tolist() == [False, False, True, False]
        assert table["mode=on"].isna().tolist() == [False, False, True, False]
        assert table["text"].isna().tolist() == [False, True, False, True]
        assert data.reading["missing"] == [str(code) for code in missing]
    long = pd.DataFrame({"id": 1, "time": [0, 1, 0], "feature": ["x", "x", "y"], "value": [-999, 2, -999]})
    assert values_of(Dataset.from_long(long, missing="x=-999")) == [-999, 2]
