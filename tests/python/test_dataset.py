"""Tables of every kind become the same dataset."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edict
from edict import Dataset


def test_the_frame_is_the_file(frame, data, tmp_path):
    frame.to_csv(tmp_path / "waves.csv", index=False)
    assert Dataset.read_csv(tmp_path / "waves.csv").fingerprint == data.fingerprint
    data.write_csv(tmp_path / "again.csv")
    assert Dataset.read_csv(tmp_path / "again.csv").fingerprint == data.fingerprint


def test_every_way_in_gives_the_same(frame, data):
    bare = Dataset.from_frame(frame.drop(columns="label"))
    long = frame.melt(["id", "time"], ["level", "flow"], "feature").sample(frac=1, random_state=0)
    # The order of series and features is that of first appearance, which the shuffling changed.
    long = Dataset.from_long(long)[bare.ids]
    assert long.to_frame()[["id", "time", "level", "flow"]].equals(bare.to_frame())
    groups = [g for _, g in frame.groupby("id", sort=False)]
    arrays = Dataset.from_arrays(
        [g["time"] for g in groups],
        [g[["level", "flow"]] for g in groups],
        ids=[g["id"].iloc[0] for g in groups],
        features=["level", "flow"],
        labels=[g["label"].iloc[0] for g in groups],
    )
    assert arrays.fingerprint == data.fingerprint
    cube = Dataset.from_numpy3d(
        np.stack([g[["level", "flow"]].to_numpy() for g in groups]),
        np.stack([g["time"] for g in groups]),
        ids=data.ids,
        features=["level", "flow"],
    )
    assert cube.fingerprint == bare.fingerprint


def test_order_of_rows_means_nothing_but_for_the_order_of_series(frame, data):
    shuffled = Dataset.from_frame(frame.sample(frac=1, random_state=3), label="label")
    assert shuffled.fingerprint != data.fingerprint
    assert shuffled[data.ids].fingerprint == data.fingerprint


def test_indexing_like_an_array(data):
    mask = np.arange(60) % 3 == 0
    assert data[mask].ids == data[::3].ids == data[np.flatnonzero(mask)].ids
    assert data[-1].ids == [data.ids[-1]] and len(data[[]]) == 0
    assert data[np.flatnonzero(mask), ...].ids == data[mask].ids  # as newer scikit-learn asks
    assert data[["wave07", "wave02"]].ids == ["wave07", "wave02"]
    assert data[:5].classes == data.classes  # names stay, whoever is left
    assert [one.ids[0] for one in data] == data.ids
    with pytest.raises(IndexError):
        data[60]
    with pytest.raises(IndexError):
        data[np.ones(59, dtype=bool)]
    with pytest.raises(edict.Error, match="no series 'wave99'"):
        data["wave99"]


def test_pickle_keeps_everything():
    frame = edict.waves(series=20, dates=True)
    frame["ward"] = np.where(frame["id"] < "wave10", "east", "west")
    frame["age"] = frame["id"].str[-2:].astype(int)
    data = Dataset.from_frame(frame, label="label", group="ward", static="age")
    data = data[:3]  # classes and groups that no series has are kept
    again = pickle.loads(pickle.dumps(data))
    assert again.fingerprint == data.fingerprint
    assert again.to_frame().equals(data.to_frame())


def test_date_times_with_a_zone_across_the_change_of_clocks_come_back_exactly():
    frame = edict.waves(series=20, dates=True)
    assert str(frame["time"].dtype) == "datetime64[ns, Europe/Berlin]"
    data = Dataset.from_frame(frame, label="label", unit="h")
    first = frame.groupby("id")["time"].transform("min")
    hours = (frame["time"] - first).dt.total_seconds() / 3600
    np.testing.assert_allclose(data.times, hours, rtol=0, atol=1e-12)
    back = data.to_frame()
    assert back["time"].dtype == frame["time"].dtype
    assert (back["time"].to_numpy() == frame["time"].to_numpy()).all()
    fixed = Dataset.from_frame(frame, label="label", unit="d", origin="2024-03-30 00:00")
    midnight = pd.Timestamp("2024-03-30", tz="Europe/Berlin")
    days = (frame["time"] - midnight).dt.total_seconds() / 86400
    np.testing.assert_allclose(fixed.times, days, rtol=0, atol=1e-12)


def test_texts_that_are_dates_and_durations():
    frame = pd.DataFrame({"id": 1, "x": [1.0, 2.0], "time": ["2024-01-01 00:00", "2024-01-02 12:00"]})
    assert Dataset.from_frame(frame, unit="d").times.tolist() == [0.0, 1.5]
    frame["time"] = pd.to_timedelta([0, 90], unit="min")
    assert Dataset.from_frame(frame).times.tolist() == [0.0, 1.5]
    frame["time"] = ["soon", "later"]
    with pytest.raises(edict.Error, match="neither a number nor a date-time"):
        Dataset.from_frame(frame)


def test_statics_labels_and_groups():
    frame = pd.DataFrame({
        "id": ["a", "a", "b", "c"], "time": [0, 1, 0, 0], "x": [1.0, 2, 3, 4],
        "sex": ["f", "f", "m", None], "age": [60, np.nan, 50, np.nan], "label": [1, 1, 0, None],
    })
    data = Dataset.from_frame(frame, static=["sex", "age"], label="label", group="sex")
    assert data.statics == ["sex=f", "sex=m", "age"]
    np.testing.assert_equal(
        data.arrays["statics"], [[1, 0, 60], [0, 1, 50], [np.nan, np.nan, np.nan]]
    )
    assert data.labels.tolist() == [1, 0, None]
    assert data.groups.tolist() == ["f", "m", None]
    frame.loc[1, "label"] = 0
    with pytest.raises(edict.Error, match="series a: its label changes"):
        Dataset.from_frame(frame, features="x", label="label")


def test_what_is_wrong_is_said_by_name(frame):
    with pytest.raises(edict.Error, match="no column 'tme' for time; did you mean 'time'"):
        Dataset.from_frame(frame, time="tme")
    twice = pd.DataFrame({"id": ["p", "p"], "time": [1, 1], "x": [2.0, 5.0]})
    with pytest.raises(edict.Error, match="series p, time 1: 'x' is 2 and 5"):
        Dataset.from_frame(twice)
    assert Dataset.from_frame(twice, duplicates="mean").arrays["value"].tolist() == [3.5]
    with pytest.warns(UserWarning, match="hold no numbers: label"):
        Dataset.from_frame(frame)
    with pytest.raises(edict.Error, match="is infinite|not finite"):
        Dataset.from_frame(pd.DataFrame({"id": [1], "time": [0], "x": [np.inf]}))


def test_columns_that_pandas_keeps_otherwise():
    frame = pd.DataFrame({
        "id": pd.Categorical(["a", "b"]), "time": np.array([0, 1], dtype=np.int16),
        "i": pd.array([1, None], dtype="Int64"), "b": [True, False],
        "f": np.array([1.5, 2.5], dtype=np.float32), "t": ["1.25", "x"],
    })
    with pytest.warns(UserWarning, match="no numbers: t"):
        data = Dataset.from_frame(frame)
    assert data.features == ["i", "b", "f"]
    assert data.arrays["value"].tolist() == [1.0, 1.0, 1.5, 0.0, 2.5]
    with pytest.raises(edict.Error, match="column 't'"):
        Dataset.from_frame(frame, features=["t"])


def test_texts_are_categories_as_in_a_file(tmp_path):
    frame = pd.DataFrame({
        "id": ["a", "a", "b", "b"], "time": [0.0, 1.0, 0.0, 2.0], "x": [1.0, 2.0, 3.0, 4.0],
        "mode": ["manual", "assist", None, "manual"], "ward": ["north", "north", "south", "south"],
        "stage": pd.Categorical([10, 9, 9, 10]),
    })
    with pytest.warns(UserWarning, match="hold no numbers: ward"):  # may be a label
        data = Dataset.from_frame(frame)
    assert data.features == ["x", "mode=assist", "mode=manual", "stage=9", "stage=10"]
    back = data.to_frame()
    assert back["mode=manual"].tolist()[:2] == [1.0, 0.0] and np.isnan(back["mode=manual"][2])
    assert back["stage=10"].tolist() == [1, 0, 0, 1]
    assert data.reading["features"] == ["x", "mode", "stage"]
    # The command line's reader makes the same of a file.
    frame.drop(columns=["ward", "stage"]).to_csv(tmp_path / "f.csv", index=False)
    same = Dataset.from_frame(frame, features=["x", "mode"])
    assert Dataset.read_csv(tmp_path / "f.csv").fingerprint == same.fingerprint


def test_columns_of_a_file_are_named_as_those_of_a_frame(tmp_path):
    frame = pd.DataFrame({
        "patient": ["a", "a", "b", "b"], "when": [0.0, 1.0, 0.0, 0.0], "pulse": [60, 62, 71, 73],
        "ward": [1, 1, 2, 2], "sex": ["f", "f", "m", "m"]})  # fmt: skip
    frame.to_csv(tmp_path / "f.csv", index=False)
    columns = dict(id="patient", time="when", features="pulse", static=["sex"], duplicates="mean")
    read = Dataset.read_csv(tmp_path / "f.csv", **columns)
    assert read.fingerprint == Dataset.from_frame(frame, **columns).fingerprint
    wards = Dataset.read_csv(tmp_path / "f.csv", categories="ward", **{**columns, "static": "ward"})
    assert wards.statics == ["ward=1", "ward=2"]
    with pytest.raises(edict.Error, match="duplicates='all' is unknown; give error, first, last, mean"):
        Dataset.read_csv(tmp_path / "f.csv", **{**columns, "duplicates": "all"})
    with pytest.raises(edict.Error, match="patiant"):
        Dataset.read_csv(tmp_path / "f.csv", id="patiant")
    many = pd.DataFrame({"id": 1, "time": range(51), "t": [f"word{i}" for i in range(51)]})
    with pytest.raises(edict.Error, match="51 different texts"):
        Dataset.from_frame(many, features=["t"])


def test_html_tells_the_same_as_repr(data):
    page = data._repr_html_()
    assert "60 series" in page and "<table>" in page and "level" in page
    strange = Dataset.from_arrays([[0]], [[[1.0]]], features=["<b>"])
    assert "<b>&lt;b&gt;" not in strange._repr_html_() and "&lt;b&gt;" in strange._repr_html_()


rows = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(-5, 5),
        st.one_of(st.none(), st.floats(-1e6, 1e6)), st.one_of(st.none(), st.floats(-1e6, 1e6)),
    ),
    max_size=25, unique_by=lambda row: (row[0], row[1]),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(rows)
def test_any_table_comes_back_as_it_was(given_rows):
    frame = pd.DataFrame(given_rows, columns=["id", "time", "a", "b"]).astype(
        {"time": float, "a": float, "b": float}
    )
    frame["id"] = frame["id"].astype(str)
    # A column may be empty, and -999999 a number.
    data = Dataset.from_frame(frame, features=["a", "b"], missing="none")
    # Rows without a value add no event; the rest comes back by series and time.
    ids = {name: i for i, name in enumerate(dict.fromkeys(frame["id"]))}
    expected = frame.dropna(subset=["a", "b"], how="all")
    expected = expected.assign(order=expected["id"].map(ids)).sort_values(["order", "time"])
    back = data.to_frame()
    assert data.ids == list(ids)
    for name in ("time", "a", "b"):
        np.testing.assert_array_equal(back[name], expected[name])
    assert pickle.loads(pickle.dumps(data)).fingerprint == data.fingerprint


def test_classes_that_are_numbers_are_drawn_in_a_notebook():
    data = Dataset.from_arrays([[0], [0]], [[[1.0]], [[2.0]]], labels=[1, 2])
    assert "classes: 1: 1, 2: 1" in data._repr_html_()
