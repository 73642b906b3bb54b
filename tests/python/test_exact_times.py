"""Times come back as they were given, or are refused; none wraps, none is rounded unsaid."""

import pickle
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

import edict
from edict import Dataset, Error, Model, Stream, Streams


@pytest.fixture(scope="module")
def dated():
    return Dataset.from_frame(edict.waves(series=40, seed=2, dates=True), label="label")


@pytest.fixture(scope="module")
def model(dated):
    return Model.train(dated, **SMALL)


def test_moments_finer_than_those_of_the_data(model, dated):
    at = pd.DatetimeIndex(["2024-04-05 20:00:00.5", "2025-04-05 20:00:00.500000001"], tz="Europe/Berlin")
    forecast = model.predict(dated[:2], at=at)
    assert forecast.moments().equals(at.append(at))
    assert forecast.select(1).moments().equals(at)
    assert forecast.to_frame()["time"].drop_duplicates().tolist() == list(at)


def test_durations_after_the_last_observation(model, dated):
    ahead = [timedelta(microseconds=1), pd.Timedelta("90min"), np.timedelta64(3, "D")]
    forecast = model.predict(dated[:2], ahead=ahead)
    last = dated[:2].to_frame().groupby("id")["time"].max()
    expected = [moment + pd.Timedelta(span) for moment in last for span in ahead]
    assert list(forecast.moments()) == expected


def test_numbers_after_it_are_not_rounded_to_the_steps_of_the_data(model, dated):
    now, then = model.predict(dated[:1], ahead=[0.0, 0.0001]).moments()
    assert then - now == pd.Timedelta("360ms")


def test_times_beyond_every_date_are_refused(model, dated):
    with pytest.raises(Error, match="a time lies beyond the years 1678 to 2262"):
        model.predict(dated[:1], ahead=[1e9]).to_frame()
    with pytest.raises(Error, match="more than 292 years from their origin"):
        model.predict(dated[:1], ahead=[pd.Timedelta(days=100_000)])
    early, late = pd.Timestamp("1680-01-01"), pd.Timestamp("2260-01-01")
    with pytest.raises(Error, match="more than 292 years from their origin"):
        Dataset.from_frame({"id": [1, 1], "time": [early, late], "x": [1.0, 2.0]})


def test_nanoseconds_are_kept_as_far_as_a_float_holds_them():
    when = pd.Timestamp("2024-03-01") + pd.to_timedelta([0, 1, 10**15 + 7], unit="ns")
    data = Dataset.from_frame({"id": [1] * 3, "time": when, "x": [1.0, 2, 3]})
    assert list(data.to_frame()["time"]) == list(when)
    far = pd.Timestamp("2024-03-01") + pd.to_timedelta([0, 1000, 10**17 + 7], unit="ns")
    with pytest.warns(UserWarning, match="nanoseconds cannot be kept over more than 26 days"):
        data = Dataset.from_frame({"id": [1] * 3, "time": far, "x": [1.0, 2, 3]})
    assert list(data.to_frame()["time"]) == list(far.round("us"))


def test_whole_numbers_that_a_float_would_round_are_refused():
    for time in ([1709294400000000001, 1709294400000000002], [2**63 + 1, 2**63 + 3]):
        with pytest.raises(Error, match="column 'time': .* has more digits than a float holds"):
            Dataset.from_frame({"id": [1, 1], "time": time, "x": [1.0, 2.0]})
    seconds = [1709294400 * 10**9, 1709294401 * 10**9]  # held by a float to the last digit
    assert Dataset.from_frame({"id": [1, 1], "time": seconds, "x": [1.0, 2.0]}).times.tolist() == seconds


def test_durations_are_no_numbers_without_a_unit(frame):
    dated = frame.assign(time=pd.to_timedelta(frame["time"], unit="h"))
    plain, lasting = (Model.train(Dataset.from_frame(one, label="label"), **SMALL) for one in (frame, dated))
    with pytest.raises(Error, match="the model's times are plain numbers, those of the data durations in h; give them alike"):
        plain.predict(dated, ahead=[1.0])
    numbers = lasting.predict(frame, ahead=[1.0])  # in the model's unit
    assert np.allclose(numbers.mean, lasting.predict(dated, ahead=[1.0]).mean, rtol=1e-3, atol=1e-5)


def test_an_origin_is_followed_or_refused():
    with pytest.raises(Error, match="origin is for date-times; these times are numbers"):
        Dataset.from_frame({"id": [1], "time": [3.0], "x": [1.0]}, origin=2.0)
    with pytest.raises(Error, match="origin is for date-times; these times are durations"):
        Dataset.from_frame({"id": [1], "time": [pd.Timedelta("3h")], "x": [1.0]}, origin="first")
    when = pd.to_datetime(["2024-03-01 12:00"])
    data = Dataset.from_frame({"id": [1], "time": when, "x": [1.0]}, origin="2024-03-01")
    assert data.times.tolist() == [12.0]


def test_a_state_remembers_its_first_moment(model):
    first = pd.Timestamp("2024-04-01 08:00", tz="Europe/Berlin")
    one, many = Stream(model), Streams(model, ["a", "b"])
    one.observe(first, {"level": 0.3})
    many.observe([first, first + pd.Timedelta("1h")], [[0.3, np.nan], [0.5, 0.1]])
    later = first + pd.Timedelta("5h")
    again = Stream(model)
    again.state = one.state
    others = Streams(model, ["b", "a"])
    for name in "ab":
        others.restore(name, many.state(name))
    for own, theirs in (
        (one.predict(later), again.predict(later)),
        (one.predict(later), pickle.loads(pickle.dumps(one)).predict(later)),
        (many.predict(later, ["a", "b"]), others.predict(later, ["a", "b"])),
        (many.predict(later, "b"), pickle.loads(pickle.dumps(many)).predict(later, "b")),
    ):
        assert np.array_equal(own.mean, theirs.mean) and own.moments().equals(theirs.moments())
        assert theirs.moments()[0] == later
    with pytest.raises(Error, match="the state is damaged"):
        again.state = one.state[:20]
    assert again.predict(later) == one.predict(later)  # as before


def test_a_state_without_a_moment_is_the_librarys(frame):
    plain = Model.train(Dataset.from_frame(frame, label="label"), **SMALL)
    stream = Stream(plain)
    stream.observe(0.5, {"level": 0.3})
    again = Stream(plain)
    again.state = stream.state
    assert again.state == stream.state and b"edict clock" not in stream.state


def test_streams_with_numbers_as_names(frame):
    plain = Model.train(Dataset.from_frame(frame, label="label"), **SMALL)
    streams = Streams(plain, [1.0, 2.5], start=0)
    streams.observe(0.5, [[0.1, 0.2], [0.3, 0.4]], streams=[2.5, 1])
    assert streams.predict(1.0, [1]).ids == [1.0] and streams.predict(1.0, 2.5).ids == [2.5]
    with pytest.raises(Error, match="there is no stream 0; there are 1.0, 2.5"):
        streams.predict(1.0, [0])
    with pytest.raises(Error, match=r"streams\[1\] is missing; give each stream a name"):
        Streams(plain, [1.0, np.nan])
    assert Streams(plain, [1, "a"], start=0).predict(1.0, [1, "a"]).ids == [1, "a"]


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("origin", [100, "first"])
def test_numbers_count_from_where_the_models_do(origin, tmp_path):
    frame = edict.waves(series=60, seed=1)
    frame["time"] += 100
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "data.csv", index=False)
    read = Dataset.read_csv(tmp_path / "data.csv", label="label", origin=origin)
    model = Model.train(read, **SMALL)
    same = Dataset.from_frame(frame, like=model)
    assert same.select(read.ids).times.tolist() == read.times.tolist()
    of_file = model.predict(tmp_path / "data.csv", ahead=[1.0])
    assert np.array_equal(model.predict(frame, ahead=[1.0]).select(of_file.ids).mean, of_file.mean)
