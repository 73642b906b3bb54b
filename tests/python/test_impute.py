"""A filled table is the caller's: its rows, index, columns and types."""

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

import edict
from edict import Dataset, Model


@pytest.fixture(scope="module")
def odd():
    """Rows without values, in no order, under an index of texts, in columns of several types."""
    frame = edict.waves(series=60, dates=True, seed=1).rename(columns={"id": "who", "time": "when"})
    rng = np.random.default_rng(0)
    frame["mode"] = pd.Categorical(np.where(frame["level"] > 0, "up", "down"))
    frame["count"] = pd.array(rng.integers(0, 9, len(frame)), dtype="Int64")
    frame["flow"] = frame["flow"].astype("float32")
    frame["note"] = "as it was"
    frame.loc[rng.random(len(frame)) < 0.3, ["level", "flow", "mode", "count"]] = None
    frame.loc[rng.random(len(frame)) < 0.3, "count"] = pd.NA
    frame.index = [f"row {i}" for i in rng.permutation(len(frame))]
    return frame.sample(frac=1, random_state=1)


FEATURES = ["level", "flow", "mode", "count"]


@pytest.fixture(scope="module")
def own(odd):
    return Dataset.from_frame(odd, id="who", time="when", features=FEATURES, label="label")


@pytest.fixture(scope="module")
def of_odd(own):
    return Model.train(own, **SMALL)


def test_a_table_comes_back_filled(odd, own, of_odd):
    before = odd.copy()
    filled = of_odd.impute(odd)
    pd.testing.assert_frame_equal(odd, before)  # the caller's own stays as it was
    assert filled.index.equals(odd.index) and list(filled.columns) == list(odd.columns)
    assert not filled[FEATURES].isna().any().any()
    assert filled["flow"].dtype == "float32" and filled["level"].dtype == "float64"
    assert filled["mode"].dtype == odd["mode"].dtype and filled["count"].dtype == "Float64"
    assert filled["when"].dtype == odd["when"].dtype
    for name in odd.columns:
        there = odd[name].notna()
        assert (filled[name][there] == odd[name][there]).all(), name
    # What an empty row is filled with is what is expected of its moment.
    empty = odd[odd[FEATURES].isna().all(axis=1)]
    assert len(empty) > 50
    for label, row in empty.head(5).iterrows():
        expected = of_odd.predict(own[row["who"]], at=row["when"])
        assert filled.loc[label, "level"] == pytest.approx(expected.mean[0, 0, 0], rel=1e-5, abs=1e-6)


def test_nothing_to_fill_changes_nothing(of_odd, odd):
    full = of_odd.impute(odd)
    again = full.assign(count=full["count"].round().astype("Int64"))
    pd.testing.assert_frame_equal(of_odd.impute(again), again)


def test_a_dataset_of_a_table_has_its_rows(odd, own, of_odd):
    frame = of_odd.impute(own, deviations=True)
    assert frame.index.equals(odd.index)
    assert (frame["id"] == odd["who"]).all() and (frame["time"] == odd["when"]).all()
    assert not frame[of_odd.features].isna().any().any()
    whole = of_odd.impute(odd)
    np.testing.assert_allclose(frame["level"], whole["level"], rtol=0, atol=0)
    assert (frame["level_sd"] == 0).eq(odd["level"].notna()).all()
    mask = np.arange(60) % 3 == 0
    part = of_odd.impute(own[mask])
    kept = odd["who"].isin(own[mask].ids)
    assert part.index.equals(odd.index[kept])
    np.testing.assert_array_equal(part["level"], frame["level"][kept])
    drawn = of_odd.impute(own[[3, 3]])  # rows of a series that is there twice: events
    assert len(drawn) == 2 * own[3].events


def test_rows_without_a_time_stay_as_they_are(data, model, frame):
    gone = frame.assign(level=frame["level"].where(frame.index != 7), flow=frame["flow"].where(frame.index != 7))
    gone.loc[7, "time"] = np.nan
    filled = model.impute(gone)
    assert len(filled) == len(gone) and filled.loc[7, ["time", "level", "flow"]].isna().all()
    assert filled.drop(index=7)[["level", "flow"]].notna().all().all()
    again = model.impute(Dataset.from_frame(gone, label="label"))
    assert np.isnan(again.loc[7, "level"]) and np.isnan(again.loc[7, "time"])


def test_the_long_form_becomes_a_wide_table(frame, data, model):
    long = frame.melt(["id", "time"], ["level", "flow"], "feature").dropna()
    own = Model.train(Dataset.from_long(long), **{**SMALL, "epochs": 1})
    filled = own.impute(long)
    assert list(filled.columns) == ["id", "time", "level", "flow"] and not filled.isna().any().any()
    assert len(filled) == data.events


def test_integers_without_gaps_stay_integers(frame):
    own = frame.assign(n=np.arange(len(frame)) % 5, flag=frame["level"] > 0)
    data = Dataset.from_frame(own, label="label")
    model = Model.train(data, **{**SMALL, "epochs": 1})
    filled = model.impute(own)
    assert filled["n"].dtype == own["n"].dtype and filled["flag"].dtype == bool
    assert filled["flow"].notna().all()


def test_codes_for_missing_are_filled(tmp_path, frame):
    """As from_frame is told, or as the model's own file had them."""
    own = frame.assign(n=np.arange(len(frame)) % 5, mode=np.where(frame["flow"] > 0, "up", "down"))
    for name, code in (("level", -999.0), ("n", -999), ("mode", "n/k")):
        own.loc[own.index % 7 == 3, name] = code
    coded, empty = own, own.replace([-999, "n/k"], np.nan)
    data = Dataset.from_frame(coded, label="label", missing=[-999, "n/k"])
    model = Model.train(data, **{**SMALL, "epochs": 1})
    filled = model.impute(coded)
    pd.testing.assert_frame_equal(filled, model.impute(empty))
    assert not (filled[["level", "n"]] == -999).any().any() and not (filled["mode"] == "n/k").any()
    assert (filled["n"][own.index % 7 != 3] == own["n"][own.index % 7 != 3]).all()
    assert filled["n"].dtype == "float64"
    own.to_csv(tmp_path / "d.csv", index=False)
    of_file = Dataset.read_csv(tmp_path / "d.csv", missing=["n/k"])  # -999 stands out
    assert of_file.reading["missing"] == ["n/k", "level=-999", "n=-999"]
    model = Model.train(of_file, **{**SMALL, "epochs": 1})
    pd.testing.assert_frame_equal(model.impute(coded), model.impute(empty))
