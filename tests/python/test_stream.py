"""Streams give the bits of predict, one at a time and in batches."""

import pickle

import numpy as np
import pytest

import edict
from edict import Stream, Streams


def feed(stream, one):
    for _, row in one.to_frame().iterrows():
        seen = {k: row[k] for k in ("level", "flow") if row[k] == row[k]}
        stream.observe(row["time"], seen)


def test_a_stream_says_what_predict_says(model, data):
    for i in range(3):
        stream = Stream(model)
        feed(stream, data[i])
        assert stream.time == data.last_times[i]
        asked = stream.time + np.array([0.0, 0.7, 4.0])
        streamed, whole = stream.predict(asked), model.predict(data[i], at=asked)
        # At the time of the last observation predict tells what was expected before it.
        np.testing.assert_array_equal(streamed.mean[0, 1:], whole.mean[0, 1:])
        np.testing.assert_array_equal(streamed.scale[0, 1:], whole.scale[0, 1:])


def test_batches_give_the_same_bits(model, data):
    singles = [Stream(model) for _ in range(5)]
    many = Streams(model, 5)
    rng = np.random.default_rng(0)
    for step in range(1, 8):
        rows = rng.normal(size=(5, 2))
        rows[rng.random((5, 2)) < 0.3] = np.nan
        # A row without any value is no event, as for a single stream.
        many.observe(step + np.arange(5) * 0.01, rows)
        for i, stream in enumerate(singles):
            seen = {k: v for k, v in zip(model.features, rows[i]) if v == v}
            stream.observe(step + i * 0.01, seen)
    for i, stream in enumerate(singles):
        np.testing.assert_array_equal(many.predict(20.0).mean[i], stream.predict(20.0).mean[0])


def test_a_stream_comes_back(model, data):
    stream = Stream(model)
    feed(stream, data[0])
    for again in (pickle.loads(pickle.dumps(stream)), Stream(model)):
        again.state = stream.state
        np.testing.assert_array_equal(again.predict(30.0).mean, stream.predict(30.0).mean)
    many = Streams(model, ["a", "b"])
    many.restore("b", stream.state)
    np.testing.assert_array_equal(many.predict(30.0, ["b"]).mean, stream.predict(30.0).mean)
    again = pickle.loads(pickle.dumps(many))
    np.testing.assert_array_equal(again.predict(30.0).mean, many.predict(30.0).mean)
    with pytest.raises(edict.Error, match="damaged"):
        stream.state = stream.state[:-1] + b"\0"


def test_after_an_error_everything_is_as_before(model):
    stream = Stream(model)
    stream.observe(1.0, {"level": 0.5})
    before = stream.state
    for time, values, text in (
        (2.0, {"levle": 1.0}, "no feature 'levle'; the model has level, flow"),
        (0.5, {"level": 1.0}, "a stream only goes forward"),
        (2.0, {"level": float("nan")}, "not finite"),
    ):
        with pytest.raises(edict.Error, match=text):
            stream.observe(time, values)
    assert stream.state == before
    many = Streams(model, 2, start=0)
    with pytest.raises(edict.Error, match="twice in one batch"):
        many.observe(1.0, [[1, 2], [3, 4]], streams=[0, 0])
    with pytest.raises(edict.Error, match="no stream 5"):
        many.observe(1.0, [[1, 2]], streams=[5])
    assert many.times.tolist() == [0, 0]


@pytest.mark.parametrize("start", ["origin", "first"])
def test_a_stream_starts_where_the_clock_of_the_series_does(frame, start):
    later = frame.assign(time=frame["time"] + 1000)
    moved = edict.Dataset.from_frame(later, label="label")
    model = edict.Model.train(moved, epochs=1, hidden=8, batch=16, threads=1, start=start)
    many = Streams(model, 1)
    assert many.times.tolist() == [-np.inf]
    stream = Stream(model)
    stream.predict([500.0, 1000.0])  # questions before the first event leave no trace
    feed(stream, moved[0])
    at = [moved.last_times[0] + 2.0]
    np.testing.assert_array_equal(stream.predict(at).mean, model.predict(moved[0], at=at).mean)
