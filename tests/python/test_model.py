"""Training, asking, keeping: what the command line does, and to the same bits."""

import json
import pickle
import resource
import subprocess

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

import edict
from edict import Dataset, Guard, Model


def test_the_same_bits_as_the_command_line(tool, tmp_path):
    def run(*arguments):
        subprocess.run([tool, *map(str, arguments)], check=True, capture_output=True)

    run("generate", "synthetic", "--out", tmp_path / "d.csv", "--series", 60)
    sets = ["train.epochs=2", "model.hidden=8", "train.batch=16", "model.step=0.5"]
    config = tmp_path / "c.toml"
    config.write_text("[train]\nlearning_rate = 0.002\n")
    options = [word for one in sets for word in ("--set", one)]
    run("train", tmp_path / "d.csv", "--out", tmp_path / "m", "--config", config, *options)
    data = Dataset.read_csv(tmp_path / "d.csv")
    model = Model.train(data, config=config, epochs=2, hidden=8, batch=16, step=0.5, threads=1)
    assert model.to_bytes() == (tmp_path / "m").read_bytes()

    # Without a file the settings are those that fit the data, here as there.
    run("train", tmp_path / "d.csv", "--out", tmp_path / "f", "--members", 2, *options)
    fitted = Model.train(data, members=2, epochs=2, hidden=8, batch=16, step=0.5)
    assert fitted.to_bytes() == (tmp_path / "f").read_bytes()
    assert fitted.encode(data[:3]).shape == (3, 16)

    run("evaluate", tmp_path / "m", tmp_path / "d.csv", "--json", tmp_path / "e.json")
    theirs = json.loads((tmp_path / "e.json").read_text())
    ours = model.evaluate(data)
    assert ours["interpolation"] == theirs["interpolation"]
    assert ours["extrapolation"] == theirs["extrapolation"]

    run("classify", tmp_path / "m", tmp_path / "d.csv", "--out", tmp_path / "c")
    assert model.classify(data).to_bytes() == (tmp_path / "c").read_bytes()


def test_results_do_not_depend_on_threads(data, model):
    assert Model.train(data, **{**SMALL, "threads": 2}).fingerprint == model.fingerprint
    one, two = (model.predict(data, at=[1.0, 5.0], threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.mean, two.mean)


def test_keeping_a_model(model, data, tmp_path):
    model.save(tmp_path / "m")
    for again in (
        Model.load(tmp_path / "m"),
        Model.from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
    ):
        np.testing.assert_array_equal(
            again.predict(data, at=[3.0]).mean, model.predict(data, at=[3.0]).mean
        )
    with pytest.raises(edict.Error, match="not a usable model file"):
        Model.from_bytes(model.to_bytes()[:1000])


def test_a_full_disk_is_the_fault_of_the_machine(model, tmp_path):
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, usual[1]))
    try:
        with pytest.raises(edict.MachineError, match="cannot be written") as told:
            model.save(tmp_path / "m")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert isinstance(told.value, OSError)
    assert list(tmp_path.iterdir()) == []


def test_a_mistyped_setting_names_the_nearest(data):
    with pytest.raises(TypeError, match="unknown setting 'learning_rat'; did you mean 'learning_rate'"):
        Model.train(data, learning_rat=0.1)
    with pytest.raises(edict.Error, match="^train.epochs = 0 is not allowed; it must be a whole"):
        Model.train(data, epochs=0)
    with pytest.raises(edict.Error, match="^model.kind = gru is not allowed; it must be one of"):
        Model.train(data, kind="gru")


def test_every_setting_is_a_keyword():
    from edict.settings import keywords

    for setting in edict.settings():
        assert keywords()[setting.keyword] is setting
        assert setting.meaning and setting.allowed
    assert keywords()["seed"].key == "train.seed"
    assert keywords("classify")["seed"].key == "classify.seed"
    assert keywords()["epochs"].key == "train.epochs"


def test_asking_ahead_is_asking_at_each_last_time(model, data):
    ahead = model.predict(data, ahead=[0.5, 2.0])
    for i in (0, 17):
        one = model.predict(data[i], at=data.last_times[i] + np.array([0.5, 2.0]))
        # A last digit of the time may differ: the library adds decimals as people write them.
        np.testing.assert_allclose(ahead.mean[i], one.mean[0], rtol=1e-5, atol=1e-6)
    early = model.predict(data, ahead=[1.0], until=3.0)
    np.testing.assert_array_equal(early.mean, model.predict(data.before(3.0), ahead=[1.0]).mean)
    with pytest.raises(edict.Error, match="at=…, or ahead=…"):
        model.predict(data)


def test_date_times_are_asked_for_and_come_back():
    data = Dataset.from_frame(edict.waves(series=60, dates=True), label="label")
    model = Model.train(data, **SMALL)
    when = pd.Timestamp("2024-03-31 06:00", tz="Europe/Berlin")
    forecast = model.predict(data[:2], at=[when, when + pd.Timedelta(hours=3)])
    frame = forecast.to_frame()
    assert frame["time"].dtype == "datetime64[ns, Europe/Berlin]"
    assert frame["time"].iloc[0] == when
    own = data.time_axis.to_floats(when, slice(0, 1))
    np.testing.assert_array_equal(
        forecast.mean[0, 0], model.predict(data[:1], at=own).mean[0, 0]
    )


def test_times_of_another_kind_are_refused(model, data, tmp_path):
    frame = edict.waves(series=60, dates=True)
    dated = Dataset.from_frame(frame, label="label")
    of_dates = Model.train(dated, **SMALL)
    of_dates.save(tmp_path / "m")  # the file remembers
    for other in (data, Dataset.from_frame(frame, label="label", unit="d")):
        with pytest.raises(edict.Error, match="times are date-times in h from each series' first"):
            Model.load(tmp_path / "m").predict(other, at=[1.0])
    with pytest.raises(edict.Error, match="times are plain numbers, those of the data date-times"):
        model.encode(dated)
    with pytest.raises(edict.Error, match="the times of the data are numbers"):
        model.predict(data, at=pd.Timestamp("2024-01-01"))


def test_columns_are_found_by_name(model, data, frame):
    other = Dataset.from_frame(frame.assign(extra=1.0)[["id", "flow", "extra", "time", "level"]])
    with pytest.warns(UserWarning, match="ignored, as the model does not know them: 'extra'"):
        mean = model.predict(other, at=[4.0]).mean
    np.testing.assert_array_equal(mean, model.predict(data, at=[4.0]).mean)


def test_impute_fills_the_gaps_and_nothing_else(model, data):
    frame, filled = data.to_frame(), model.impute(data, deviations=True)
    seen = frame["flow"].notna()
    assert not filled[["level", "flow"]].isna().any().any()
    assert (filled["id"] == frame["id"]).all() and (filled["time"] == frame["time"]).all()
    assert (filled["flow"][seen] == frame["flow"][seen]).all()
    assert (filled["flow_sd"] == 0).eq(seen).all()
    gap = int(np.flatnonzero(~seen)[5])
    # A stream that has seen everything up to that moment says the same.
    stream = edict.Stream(model)
    for _, row in frame[(frame["id"] == frame["id"][gap]) & (frame.index <= gap)].iterrows():
        stream.observe(row["time"], {k: row[k] for k in ("level", "flow") if row[k] == row[k]})
    assert filled["flow"][gap] == stream.predict(stream.time).mean[0, 0, 1]


def test_a_model_of_both_sides_fills_gaps_from_what_came_later_too(
    model, tool, tmp_path
):
    data = Dataset.from_frame(edict.waves(series=120), label="label")
    both = Model.train(data, smooth=True, holdout=0.4, **SMALL)
    both.save(tmp_path / "m")
    data.write_csv(tmp_path / "d.csv")
    later, past = both.impute(data), both.impute(data, past_only=True)
    gaps = data.to_frame()["flow"].isna()
    assert (later["flow"][~gaps] == past["flow"][~gaps]).all()
    assert (later["flow"][gaps] != past["flow"][gaps]).mean() > 0.5
    # The tool says the same.
    files = [str(tmp_path / name) for name in ("m", "d.csv", "filled.csv")]
    subprocess.run([tool, "impute", *files[:2], "--out", files[2]], check=True, capture_output=True)
    np.testing.assert_allclose(pd.read_csv(files[2])["flow"], later["flow"], rtol=1e-6)
    told = both.evaluate(data, "all", smooth=True)
    assert told["interpolation"] != both.evaluate(data, "all")["interpolation"]
    assert told["extrapolation"] == both.evaluate(data, "all")["extrapolation"]
    # One that knows the past alone fills from it, and refuses to be judged otherwise.
    pd.testing.assert_frame_equal(model.impute(data), model.impute(data, past_only=True))
    with pytest.raises(edict.Error, match="both sides"):
        model.evaluate(data, "all", smooth=True)


def test_a_guard_changes_what_is_absorbed(model, data):
    plain = model.predict(data, at=[12.0])
    assert plain.clipped == 0
    guarded = model.predict(data, at=[12.0], guard=Guard("edgr", eta=0.5))
    assert guarded.clipped > 0 and (guarded.mean != plain.mean).any()
    with pytest.raises(edict.Error, match="eta"):
        model.predict(data, at=[12.0], guard=Guard("edgr", eta=-1))


def test_classes(model, data):
    classifier = model.classify(data, seeds=[4], epochs=5)
    assert classifier.classes == ["fast", "slow"]
    end = classifier.class_probabilities(data)
    np.testing.assert_allclose(end.sum(axis=1), 1, atol=1e-12)
    assert classifier.class_probabilities(data, at=[1, 2, 5]).shape == (60, 3, 2)
    with pytest.raises(edict.Error, match="no classifier"):
        model.class_probabilities(data)


def test_html_shows_features_and_how_many_series_it_has_seen(model):
    page = model._repr_html_()
    assert "60 series seen" in page and "level" in page and "times: plain numbers" in page


def test_parts_are_recorded(model, data):
    parts = model.parts(data)
    assert set(parts) == {"train", "validation", "test"}
    assert model.info["seen"]["test"] == (parts == "test").sum()
    assert (model.parts(Dataset.from_arrays([[0.0]], [[[1.0]]])) == "unseen").all()


def test_a_run_goes_on_from_its_checkpoint(data, tmp_path):
    # A cosine would have to know its end from the beginning.
    first = {**SMALL, "epochs": 2, "schedule": "constant", "patience": 0}
    longer = {**first, "epochs": 4}
    Model.train(data, out=tmp_path / "m", **first)
    resumed = Model.train(data, out=tmp_path / "m", resume=True, **longer)
    assert resumed.fingerprint == Model.train(data, **longer).fingerprint
    assert len(resumed.epochs) == 4


def test_a_file_is_read_as_the_training_data_were(tmp_path):
    frame = edict.waves(series=60, dates=True).rename(columns={"time": "when", "id": "who"})
    frame["mode"] = np.where(frame["level"] > 0, "up", "down")
    options = dict(id="who", time="when", label="label", unit="d", origin=pd.Timestamp("2024-03-30", tz="UTC"))
    data = Dataset.from_frame(frame, **options)
    model = Model.train(data, **SMALL)
    new = frame[frame["who"] < "wave05"].assign(mode="up", note="hello")  # no "down" here
    new["when"] = new["when"].astype(str)
    new.to_csv(tmp_path / "new.csv", index=False)

    given = Dataset.read_csv(tmp_path / "new.csv", like=model)
    assert given.features == data.features == ["level", "flow", "mode=down", "mode=up"]
    np.testing.assert_allclose(given.times, data[given.ids].times, rtol=0, atol=1e-9)
    assert given.time_axis.rules() == data.time_axis.rules()
    from_file = model.predict(tmp_path / "new.csv", ahead=[0.1])
    np.testing.assert_array_equal(from_file.mean, model.predict(given, ahead=[0.1]).mean)
    assert Dataset.read_csv(tmp_path / "new.csv").time_axis.unit == "h"  # what it would have been
    # The model keeps it in its file, and a dataset when it travels.
    model.save(tmp_path / "m")
    again = Model.load(tmp_path / "m").predict(str(tmp_path / "new.csv"), ahead=[0.1])
    np.testing.assert_array_equal(again.mean, from_file.mean)
    assert pickle.loads(pickle.dumps(data)).reading == data.reading == data[:3].reading


def test_warm_start_and_budget_are_those_of_the_command_line(tool, data, tmp_path):
    data.write_csv(tmp_path / "d.csv")
    data = Dataset.read_csv(tmp_path / "d.csv")
    first = Model.train(data, **SMALL)
    first.save(tmp_path / "first")
    warm = Model.train(data, from_model=first, epochs=2, learning_rate=5e-4)
    command = ["train", "d.csv", "--from", "first", "--out", "second"]
    command += ["--set", "train.epochs=2", "--set", "train.learning_rate=5e-4"]
    subprocess.run([tool, *command], cwd=tmp_path, check=True, capture_output=True)
    assert warm.to_bytes() == (tmp_path / "second").read_bytes()
    assert warm.epochs[0]["epoch"] == 0  # what it started from may be the best
    with pytest.raises(edict.Error, match="^model.hidden=9: from is made already"):
        Model.train(data, from_model=first, hidden=9)
    with pytest.raises(edict.Error, match="holds a classifier"):
        Model.train(data, from_model=first.classify(data, epochs=1, seeds=[0]))

    short = {k: v for k, v in SMALL.items() if k != "epochs"}
    timed = Model.train(data, budget="2s", epochs=100_000, patience=0, **short)
    assert 1 <= len(timed.epochs) < 100_000
    same = Model.train(data, epochs=2, patience=0, **short)
    assert timed.epochs[:2] == same.epochs  # the beginning of one and the same run
    with pytest.raises(edict.Error, match="give more time"):
        Model.train(data, budget=1e-6, **short)
    for wrong in ("soon", "-3s", 0, "2d"):
        with pytest.raises(edict.Error, match="90s, 10m or 2h"):
            Model.train(data, budget=wrong)


def test_one_long_series_is_cut_into_pieces_as_the_command_line_does(tool, tmp_path):
    rng = np.random.default_rng(0)
    time = np.arange(300) * 0.5
    frame = pd.DataFrame({"time": time, "x": np.sin(time) + 0.1 * rng.normal(size=300)})
    frame.to_csv(tmp_path / "d.csv", index=False)
    data = Dataset.read_csv(tmp_path / "d.csv", id=None)
    settings = dict(hidden=4, epochs=2)
    with pytest.warns(UserWarning, match="1 series is too few to split by series; cut into pieces of 15 events"):
        model = Model.train(data, **settings)
    command = ["train", "d.csv", "--id", "none", "--out", "m"]
    command += ["--set", "model.hidden=4", "--set", "train.epochs=2"]
    subprocess.run([tool, *command], cwd=tmp_path, check=True, capture_output=True)
    assert model.to_bytes() == (tmp_path / "m").read_bytes()
    assert model.evaluate(data)["series"] > 1  # pieces
    assert model.predict(data, ahead=[1.0]).mean.shape == (1, 1, 1)  # the whole


def test_surprise_lists_what_nobody_expected(data):
    model = Model.train(data, epochs=30, hidden=16, batch=16, learning_rate=5e-3, step=0.5)
    frame = data.to_frame()
    odd = int(frame.index[frame["id"] == "wave30"][6])
    frame.loc[odd, "level"] = 9.0
    spoilt = Dataset.from_frame(frame, label="label")
    found = model.surprise(spoilt, top=5)
    assert len(found) == 5 and found["tail_probability"].is_monotonic_increasing
    # It is followed by a value that is as far from what is expected after it.
    assert (found["id"].iloc[:2] == "wave30").all()
    worst = found[found["value"] == 9.0].iloc[0]
    assert (worst["id"], worst["feature"]) == ("wave30", "level")
    expected = model.predict(spoilt["wave30"], at=[worst["time"]])
    assert worst["mean"] == expected.mean[0, 0, 0]
    assert worst["z"] == pytest.approx((9.0 - worst["mean"]) / worst["predictive_sd"], rel=1e-12)


def test_settings_are_chosen_for_the_data_and_explained(data):
    choices = {c.key: c for c in edict.fit_settings(data, hidden=8)}
    assert choices["model.hidden"].given and choices["train.learning_rate"].why
    model = Model.train(data, hidden=8, epochs=1)
    for key in ("data.time_unit", "train.batch"):
        if key in choices:
            table, name = key.split(".")
            assert model.config[table][name] == pytest.approx(float(choices[key].value))


def test_a_finished_model_is_not_replaced_unasked(data, tmp_path):
    short = {**SMALL, "epochs": 1}
    Model.train(data, out=tmp_path / "m", **short)
    kept = (tmp_path / "m").read_bytes()
    with pytest.raises(edict.Error, match="m: exists already; give resume=True .*, force=True"):
        Model.train(data, out=tmp_path / "m", **{**short, "seed": 5})
    assert (tmp_path / "m").read_bytes() == kept
    Model.train(data, out=str(tmp_path / "m"), force=True, **{**short, "seed": 5})
    assert (tmp_path / "m").read_bytes() != kept


def test_a_file_that_is_not_there_is_a_missing_file(model, tmp_path):
    path = tmp_path / "nothing.csv"
    for call in (Model.load, Dataset.read_csv, lambda p: model.predict(p, ahead=1.0)):
        with pytest.raises(FileNotFoundError, match="nothing.csv") as told:
            call(path)
        assert isinstance(told.value, edict.Error) and told.value.filename == str(path)
    (tmp_path / "d.csv").write_text("not a model")
    with pytest.raises(edict.Error) as told:
        Model.load(tmp_path / "d.csv")
    assert not isinstance(told.value, FileNotFoundError)


def test_what_is_given_in_another_type_is_refused_in_a_line(model, data, frame):
    for call, text in (
        (lambda: Model.train(frame), "train takes a Dataset, not a DataFrame; make one with Dataset.from_frame"),
        (lambda: model.predict([1, 2], ahead=1.0), "data is of type list; give a Dataset, a DataFrame or the path"),
        (lambda: model.predict(data, ahead=1.0, threads=1.5), "threads=1.5: give a whole number"),
        (lambda: model.predict(data, ahead=1.0, threads="2"), "threads='2': give a whole number"),
        (lambda: Model.train(data, members=2.0), "members=2.0: give a whole number"),
        (lambda: model.evaluate(data, 3), "part=3: give train, validation, test, unseen or all"),
        (lambda: model.parts(3), "data is of type int; give a Dataset"),
        (lambda: edict.fit_settings(frame), "type DataFrame; give a Dataset"),
        (lambda: Model.from_bytes("text"), "content is of type str; give bytes"),
        (lambda: model.surprise(data, top="3"), "top='3': give a whole number"),
        (lambda: model.predict(data, ahead=1.0, guard=3), "guard=3: give an edict.Guard, or the name"),
        (lambda: Guard("edgr", eta="2"), "eta='2': give a number"),
        (lambda: Model.train(data, from_model=3), "from_model is of type int; give a Model or its file"),
        (lambda: model.predict(frame["level"], ahead=1.0), "a Series is no table"),
        (lambda: model.predict(data, ahead=1.0).plot(data=frame), "data is of type DataFrame; give the Dataset"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=text):
            call()
    for call, text in (
        (lambda: model.predict(data, ahead=1.0, threads=2**33), "threads=8589934592: give a whole number from 0 to"),
        (lambda: model.predict(data, ahead=1.0, threads=-1), "threads=-1: give a whole number"),
        (lambda: model.predict(data, ahead=1.0, until="noon"), "until.*neither a number nor a date-time"),
        (lambda: data.with_labels([["a"], ["b"]]), "labels"),
    ):  # fmt: skip
        with pytest.raises(edict.Error, match=text):
            call()


def test_both_sides_are_learnt_from_few_series():
    """Of few validation series every observation is judged as it is absorbed."""
    data = Dataset.from_frame(edict.waves(series=12, events=12, seed=3), label="label")
    model = Model.train(data, smooth=True, **SMALL)
    filled, past = model.impute(data), model.impute(data, past_only=True)
    assert filled.notna().all(axis=None) and not filled["flow"].equals(past["flow"])


def test_what_training_notes_is_said(data, frame):
    with pytest.warns(UserWarning, match="feature 'flow' never changes in the training split"):
        Model.train(Dataset.from_frame(frame.assign(flow=3.0), label="label"), **SMALL)
    few = data.with_labels(np.where(np.arange(60) < 5, None, data.labels))
    with pytest.warns(UserWarning, match="5 series without a label are left out"):
        Model.train(data, **SMALL).classify(few, epochs=1)


def test_a_model_says_what_it_is(data, frame):
    one = Dataset.from_frame(frame[["id", "time", "level"]])
    assert repr(Model.train(one, **SMALL)) == "Model(edict, 1 feature, 60 series seen)"
    both = Model.train(data, members=2, **SMALL).classify(data, epochs=1)
    assert repr(both) == "Model(edict, 2 features, 2 members, 2 classes, 60 series seen)"
    with pytest.raises(TypeError, match="progress='yes': give True, False, None or a function"):
        both.encode(data, progress="yes")


def test_calibration_is_a_copy_with_its_scores(data):
    other = Dataset.from_frame(edict.waves(series=80, seed=9).replace({"id": {f"wave{i:02}": f"new{i}" for i in range(80)}}), label="label")
    model = Model.train(data, **SMALL)
    before = model.to_bytes()
    calibrated, scores = model.calibrate(other, "unseen")
    assert calibrated.to_bytes() != before == model.to_bytes()
    assert sum(calibrated.info["seen"].values()) == 140 and scores["fitted"] > 0
    assert scores["before"]["interpolation"] != scores["after"]["interpolation"]
    assert calibrated.predict(data[:2], ahead=[1.0]).mean.shape == (2, 1, 2)
    with pytest.raises(edict.Error, match="split=all: give validation or unseen"):
        model.calibrate(other, "all")
    with pytest.raises(TypeError, match="split=3: give validation or unseen"):
        model.calibrate(other, 3)


def test_cross_validation_judges_each_fold(data, tmp_path):
    small = {name: value for name, value in SMALL.items()}
    found = edict.cross_validate(data, 3, out=tmp_path / "folds", **small)
    assert len(found["folds"]) == 3 and found == edict.cross_validate(data, 3, **small)
    assert len(list((tmp_path / "folds").iterdir())) >= 3
    for call, error in (
        (lambda: edict.cross_validate(data, 1), "folds=1: give a whole number from 2 to 1000"),
        (lambda: edict.cross_validate(data, 2, resume=True), "resume=True continues trainings from their files"),
        (lambda: edict.cross_validate(data[:2], 5, **small), "give fewer folds"),
    ):
        with pytest.raises(edict.Error, match=error):
            call()
    with pytest.raises(TypeError, match="data is of type Model; give a Dataset"):
        edict.cross_validate(Model.train(data, **SMALL), 2)
