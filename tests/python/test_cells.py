"""Texts of a frame are read as the cells of a file are."""

import random
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

import edict
from edict import Dataset, Error, Model

SPELLED = {
    "limits": ["<0.1", "0.5", "2.0", "0.5"],
    "units": ["5.2 mmol/L", "4.1 mmol/L", "", "4.9"],
    "percent": ["97 %", "95 %", "NA", "91 %"],
    "commas": ["1,5", "2,5", "1.234,5", "n/a"],
    "groups": ["1,234.5", "2.5", "3.5", None],
    "money": ["$1,200.50", "$7.25", "-", "$8"],
    "truth": ["yes", "no", "yes", "yes"],
    "words": ["80", "unavailable", "82", "84"],
    "plain": ["1.234", "2.5", "3", "1e3"],
    "names": ["up", "down", "up", "up"],
}


def framed(column, **arguments):
    frame = pd.DataFrame({"id": ["a", "a", "a", "b"], "time": [0.0, 1, 2, 0], "other": [1.0, 2, 3, 4], "x": SPELLED[column]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame, Dataset.from_frame(frame, **arguments)


@pytest.mark.parametrize("column", SPELLED)
@pytest.mark.parametrize("dtype", ["object", "string"])
def test_a_column_is_read_as_in_a_file(column, dtype, tmp_path):
    frame, _ = framed(column)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = Dataset.from_frame(frame.astype({"x": dtype}))
    frame.to_csv(tmp_path / "data.csv", index=False, sep=";")
    read = Dataset.read_csv(tmp_path / "data.csv", id="id", time="time")
    assert data.features == read.features
    assert np.array_equal(data.arrays["value"], read.arrays["value"])
    assert data.reading["units"] == read.reading["units"]


def test_what_was_done_is_said():
    frame, _ = framed("limits")
    with pytest.warns(UserWarning, match="'x': '<0.1' and its like read as the limit"):
        Dataset.from_frame(frame)
    with pytest.warns(UserWarning, match="'x': 'mmol/L' taken off"):
        Dataset.from_frame(frame.assign(x=SPELLED["units"]))


def test_what_may_be_two_things_is_refused():
    frame, _ = framed("plain")
    with pytest.raises(Error, match="column 'x': '1,234' may be 1.234 or 1234; give decimal=point or decimal=comma|may be 1234 or 1.234"):
        Dataset.from_frame(frame.assign(x=["1,234", "2,345", "3", "4"]))
    for decimal, value in ((".", 1234.0), ("point", 1234.0), (",", 1.234), ("comma", 1.234)):
        with pytest.warns(UserWarning, match="'x': "):
            data = Dataset.from_frame(frame.assign(x=["1,234", "2,345", "3", "4"]), decimal=decimal, features=["x"])
        assert data.arrays["value"][0] == value
    with pytest.raises(Error, match="column 'x': .* is in another unit than"):
        Dataset.from_frame(frame.assign(x=["5 mmol/L", "90 mg/dL", "5 mmol/L", "6"]))
    with pytest.raises(Error, match="column 'x': '120/80' holds two numbers; divide the column in two"):
        Dataset.from_frame(frame.assign(x=["120/80", "110/70", "NA", "120/80"]), features=["x"])


def test_a_column_of_which_some_are_no_numbers_is_left_out_aloud():
    frame, _ = framed("plain")
    mixed = frame.assign(x=["1.25", "oops", "3", "4"])
    with pytest.warns(UserWarning, match="columns ignored, as they hold no numbers: x"):
        assert Dataset.from_frame(mixed).features == ["other"]
    with pytest.raises(Error, match="column 'x': 'oops' is not a number"):
        Dataset.from_frame(mixed, features=["x"])


def test_the_long_form_reads_each_feature_for_itself():
    frame = pd.DataFrame({
        "id": ["a"] * 4, "time": [0.0, 0, 1, 1], "feature": ["lactate", "pulse", "lactate", "pulse"],
        "value": ["<0.5", "80 bpm", "2.1", "84 bpm"]})  # fmt: skip
    with pytest.warns(UserWarning, match="'lactate': '<0.5' and its like read as the limit"):
        data = Dataset.from_long(frame)
    assert data.to_frame("long")["value"].tolist() == [0.5, 80, 2.1, 84]
    assert data.reading["units"] == [{"column": "pulse", "unit": "bpm"}]


def test_statics_too():
    frame, _ = framed("plain")
    with pytest.warns(UserWarning, match="'age': 'years' taken off"):
        data = Dataset.from_frame(frame.assign(age=["61 years"] * 3 + ["48 years"]), static="age")
    assert data.statics == ["age"] and data.arrays["statics"].ravel().tolist() == [61, 48]


@pytest.mark.filterwarnings("ignore:'flow'")
def test_a_model_knows_its_units(frame):
    spelled = frame.assign(flow=[None if np.isnan(v) else f"{v:.6f} L/s" for v in frame["flow"]])
    data = Dataset.from_frame(spelled, label="label")
    model = Model.train(data, **SMALL)
    plain = model.predict(frame.round({"flow": 6}), ahead=[1.0])
    assert model.predict(spelled, ahead=[1.0]) == plain
    with pytest.raises(Error, match="column 'flow': .* is in another unit than L/s"):
        model.predict(spelled.replace({"flow": {spelled["flow"].dropna().iloc[0]: "3 mL/min"}}), ahead=[1.0])
    filled = model.impute(spelled.astype({"flow": "string"}))
    assert filled["flow"].dtype == "string" and not filled["flow"].isna().any()
    seen = spelled["flow"].notna()
    assert (filled["flow"][seen] == spelled["flow"][seen]).all()


def test_sparse_columns_are_filled(model, frame):
    sparse = frame.astype({"flow": pd.SparseDtype("float64", np.nan)})
    filled = model.impute(sparse)
    assert isinstance(filled["flow"].dtype, pd.SparseDtype) and not filled["flow"].isna().any()
    assert np.array_equal(filled["flow"].to_numpy(), model.impute(frame)["flow"])


def test_a_series_is_in_its_data(data):
    assert "wave00" in data and "nobody" not in data and [1] not in data


def coded(code=-999.0):
    values = np.arange(60.0) % 7
    values[::9] = code
    return pd.DataFrame({"id": "a", "time": np.arange(60.0), "x": values})


def test_numbers_that_stand_for_missing_are_recognised_as_in_a_file(tmp_path):
    coded().to_csv(tmp_path / "data.csv", index=False)
    with pytest.warns(UserWarning, match=r"'x' \(7 cells\)"):
        read = Dataset.read_csv(tmp_path / "data.csv")
    with pytest.warns(UserWarning, match=r"-999 counts as missing: 'x' \(7 cells\); missing=\"none\" keeps it"):
        data = Dataset.from_frame(coded())
    assert data.observations == read.observations == 53
    assert data.reading["missing"] == ["x=-999"]
    long = coded().rename(columns={"x": "value"}).assign(feature="x")
    with pytest.warns(UserWarning, match="-999 counts as missing"):
        assert Dataset.from_long(long).observations == 53
    assert Dataset.from_frame(coded(), missing="none").observations == 60
    assert Dataset.from_frame(coded(6.0)).observations == 60


def test_what_was_recognised_in_a_file_is_said(tmp_path):
    (tmp_path / "data.csv").write_text("patient;zeit;puls\n1;0;80,5\n1;1;81,0\n")
    with pytest.warns(UserWarning, match="data.csv: separated by ';', decimal comma, id is 'patient'"):
        Dataset.read_csv(tmp_path / "data.csv")


def test_messages_name_keyword_arguments(tmp_path):
    def error_of(text, **arguments):
        (tmp_path / "data.csv").write_text(text)
        with pytest.raises(Error) as raised:
            Dataset.read_csv(tmp_path / "data.csv", **arguments)
        return str(raised.value)

    dated = "id,time,x\na,2024-01-01,1\na,2024-01-02,2\n"
    for text, arguments, words in (
        (dated, dict(unit="none"), "unit=none: the times are dates"),
        (dated, dict(categories="nope"), "categories=|category: there is no column 'nope'"),
        ("id,time,x\na,0,1\na,1,oops\nb,1,oops\n", {}, "categories=x where its values are names"),
        ("id,time,x\na,03/04/2024,1\na,04/05/2024,2\n", {}, "give time_format=%d/%m/%Y or"),
        ("id,time,x\na,0,1\na,0,2\n", dict(duplicates="error"), "give duplicates=mean"),
        ("id,time,x,y\na,0,1 mg,1\na,1,2 g,2\n", {}, "leave it out with ignore=x"),
    ):  # fmt: skip
        said = error_of(text, **arguments)
        assert any(word in said for word in words.split("|")) and "--" not in said
    with pytest.raises(Error, match="series 1, time 0: 'x' is 1 and 2; correct them, or give duplicates=mean"):
        Dataset.from_frame(pd.DataFrame({"id": [1, 1], "time": [0, 0], "x": [1, 2]}))


def test_categories_are_found_in_any_case(tmp_path):
    (tmp_path / "data.csv").write_text("id,time,Ward,x\na,0,1,1\na,1,2,2\nb,0,1,3\n")
    with pytest.warns(UserWarning, match="'Ward' has 2 categories"):
        assert Dataset.read_csv(tmp_path / "data.csv", categories="ward").features == ["Ward=1", "Ward=2", "x"]


def test_an_error_of_a_file_of_settings_names_the_file(data, tmp_path):
    (tmp_path / "s.toml").write_text("[train]\nepocs=3\n")
    with pytest.raises(Error, match="s.toml:2: unknown key 'train.epocs'; did you mean 'train.epochs'"):
        Model.train(data, config=tmp_path / "s.toml")


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_words_for_missing_are_filled(frame):
    spelled = frame.assign(flow=["n/a" if np.isnan(v) else f"{v:.6f}" for v in frame["flow"]])
    model = Model.train(Dataset.from_frame(spelled, label="label"), **SMALL)
    filled = model.impute(spelled)
    there = spelled["flow"] != "n/a"
    assert (filled["flow"][there] == spelled["flow"][there]).all()
    assert np.isfinite(filled["flow"].astype(float)).all()


def test_a_table_that_lacks_a_column_is_helped(frame):
    dated = edict.waves(series=4, dates=True).set_index("time").rename_axis(None)
    with pytest.raises(Error, match='there is no column \'time\' for time; the index holds times: give time="index"'):
        Dataset.from_frame(dated)
    with pytest.raises(Error, match="no column 'id' for the id; there are time, level, .*; id=None takes the table as one series"):
        Dataset.from_frame(frame.drop(columns="id"))


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_words_that_say_nothing_are_no_categories_and_no_labels(tmp_path):
    frame = pd.DataFrame({
        "id": ["a", "a", "b", "b", "c", "c"], "time": [0.0, 1] * 3, "x": [1.0, 2, 3, 4, 5, 6],
        "mode": ["up", "NA", "down", "up", "?", "down"], "pain": ["None", "mild", "severe", "None", "mild", "None"],
        "label": ["1", "1", "2", "2", "?", "?"]})  # fmt: skip
    frame.to_csv(tmp_path / "data.csv", index=False)
    data = Dataset.from_frame(frame, label="label")
    read = Dataset.read_csv(tmp_path / "data.csv", label="label")
    assert data.features == read.features == ["x", "mode=down", "mode=up", "pain=None", "pain=mild", "pain=severe"]
    assert data.fingerprint == read.fingerprint
    assert data.labels.tolist() == ["1", "2", None]
    with pytest.warns(UserWarning, match=r"'\?' counts as missing: 'label'"):
        Dataset.from_frame(frame, label="label")


def test_categories_that_a_model_does_not_know_are_missing_as_in_a_file(frame, tmp_path):
    frame = frame.assign(mode=np.where(frame["level"] > 0, "up", "down"))
    model = Model.train(Dataset.from_frame(frame, label="label"), **SMALL)
    other = frame.replace({"mode": {"down": "sideways"}})
    other.to_csv(tmp_path / "data.csv", index=False)
    message = "cells of 'mode' hold a category that the model does not know and count as missing"
    with pytest.warns(UserWarning, match=message):
        of_frame = model.predict(other, ahead=[1.0])
    with pytest.warns(UserWarning, match=message):
        of_file = model.predict(tmp_path / "data.csv", ahead=[1.0])
    assert np.array_equal(of_frame.mean, of_file.mean)


def spelled_column(rng, rows):
    """Cells of one kind, some of them missing in one spelling."""
    kinds = {
        "whole": lambda v: str(int(v)), "fractions": lambda v: f"{v:.2f}", "units": lambda v: f"{v:.1f} mg/dL",
        "limits": lambda v: rng.choice(["", "<", ">"]) + f"{v:.1f}", "percent": lambda v: f"{v:.0f} %",
        "names": lambda v: rng.choice(["up", "down", "left"]), "truth": lambda v: rng.choice(["yes", "no"]),
        "nothing": lambda v: "NA", "commas": lambda v: f"{v:.2f}".replace(".", ","), "groups": lambda v: f"{v * 1000:,.1f}",
        "codes": lambda v: "-999" if rng.random() < 0.1 else f"{v:.1f}", "negative": lambda v: f"{-v:.1f}",
        "words": lambda v: rng.choice([f"{v:.1f}"] * 5 + ["unavailable"]), "exponents": lambda v: f"{v:.2e}",
        "numbered": lambda v: rng.choice("123"), "remarks": lambda v: "".join(rng.choices("abcdefgh", k=8)),
    }  # fmt: skip
    write = kinds[rng.choice(sorted(kinds))]
    missing, share = rng.choice(["", "NA", "-", "n/a", "None", "nan", "?", "NULL"]), rng.choice([0, 0.1, 0.3])
    return [missing if rng.random() < share else write(rng.uniform(0, 50)) for _ in range(rows)]


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("seed", range(3))
def test_any_column_is_read_as_in_a_file(tmp_path, seed):
    def read(call):
        try:
            data = call()
        except Error:
            return "refused"
        return data.features, data.arrays["value"].tolist(), data.arrays["feature"].tolist(), data.reading["units"]

    rng, rows = random.Random(seed), 40
    for _ in range(60):
        frame = pd.DataFrame({"id": [f"p{i // 8}" for i in range(rows)], "time": [float(i % 8) for i in range(rows)]})
        for j in range(rng.randint(1, 3)):
            frame[f"v{j}"] = spelled_column(rng, rows)
        frame["base"] = [rng.uniform(0, 9) for _ in range(rows)]
        frame.to_csv(tmp_path / "data.csv", index=False, sep=";")
        columns = dict(id="id", time="time", label="none", group="none", duplicates="error")
        of_file = read(lambda: Dataset.read_csv(tmp_path / "data.csv", **columns))
        assert repr(read(lambda: Dataset.from_frame(frame))) == repr(of_file), frame.head(12).to_string()
