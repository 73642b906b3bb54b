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


def test_several_threads_may_use_a_stream(model):
    import threading

    stream, many = Stream(model), Streams(model, ["a", "b"], start=0)
    failures = []

    def use(worker):
        try:
            for i in range(300):
                try:
                    stream.observe(float(i), {"level": 0.1 * worker, "flow": 0.2})
                    many.observe(float(i), [[0.1, 0.2], [np.nan, 0.3]])
                except edict.Error as e:  # another thread was faster
                    assert "goes forward" in str(e)
                stream.predict([1e3, 1e4 + i])
                many.predict(1e3)
                assert len(stream.state) == len(many.state("a"))
                assert stream.time >= 0 and many.times.shape == (2,)
        except BaseException as e:  # noqa: BLE001
            failures.append(e)

    workers = [threading.Thread(target=use, args=(k,)) for k in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == [] and stream.time == 299.0


def test_tables_are_taken_by_the_names_of_their_columns(model):
    import pandas as pd

    expected, many = Streams(model, ["a", "b"]), Streams(model, ["a", "b"])
    expected.observe(1.0, [[0.1, 0.2], [0.3, np.nan]])
    table = pd.DataFrame({"flow": [0.2, np.nan], "level": [0.1, 0.3]})
    for values, streams in (
        (table, None), (table.iloc[::-1], ["b", "a"]), (table.set_axis(["a", "b"]), None),
        (table.set_axis(["a", "b"]).iloc[::-1], None), (table.astype("Float64"), None),
        (table.to_dict("list"), None),
    ):  # fmt: skip
        many = Streams(model, ["a", "b"])
        many.observe(1.0, values, streams)
        np.testing.assert_array_equal(many.predict(2.0).mean, expected.predict(2.0).mean)
    partly = Streams(model, 1)
    partly.observe(1.0, table[["level"]].head(1))
    one = Stream(model)
    one.observe(1.0, {"level": 0.1})
    np.testing.assert_array_equal(partly.predict(2.0).mean, one.predict(2.0).mean)
    for wrong, text in (
        (table.rename(columns={"flow": "flaw"}), "there is no feature 'flaw'; the model has level, flow"),
        (table.set_axis(["a", "c"]), "there is no stream 'c', which the index names"),
        (table.astype(str).assign(flow="x"), "column 'flow' holds what is no number, row 0: 'x'"),
        (table.head(1), r"shape \(1,\) for 2 streams"),
    ):  # fmt: skip
        with pytest.raises(edict.Error, match=text):
            many.observe(2.0, wrong)


def test_streams_whose_names_are_numbers(model):
    many = Streams(model, [101, 7], start=0)
    many.observe(1.0, [[0.1, 0.2]], streams=[7])
    assert many.times.tolist() == [0.0, 1.0] and many.predict(2.0, 101).ids == [101]
    with pytest.raises(edict.Error, match="there is no stream 1"):
        many.predict(2.0, [1])


def test_what_is_no_observation_is_refused_in_a_line(model):
    stream = Stream(model)
    for values, text in (
        ({"level": "high"}, "'level' is 'high', which is no number"),
        ({"level": None}, "'level' is None, which is no number; leave out what was not observed"),
    ):
        with pytest.raises(edict.Error, match=text):
            stream.observe(1.0, values)
    with pytest.raises(TypeError, match="values are a list; give a mapping"):
        stream.observe(1.0, [1.0, 2.0])
    with pytest.raises(edict.Error, match="neither a number nor a date-time"):
        stream.observe("noon", {"level": 1.0})
    with pytest.raises(edict.Error, match="times of shape"):
        Streams(model, 3).observe([1.0, 2.0], np.zeros((3, 2)))
    with pytest.raises(edict.Error, match="no static covariate 'age'"):
        Stream(model, static={"age": 3})
    with pytest.raises(TypeError, match="streams=2.0: give a number of streams or a list"):
        Streams(model, 2.0)
    for content in ("text", 3, None):
        with pytest.raises(TypeError, match="the state is of type .*; give bytes"):
            stream.state = content
    again = Stream(model)
    again.state = bytearray(stream.state)
    assert Streams(model, (name for name in "ab")).predict(1.0, slice(1, 2)).ids == ["b"]
    stream.observe(np.int64(1), {"level": np.float32(0.5)})
    stream.observe(np.array(2), {"level": 1})
    assert stream.time == 2.0 and repr(stream) == "Stream(2 features, at 2)"
    assert repr(Streams(model, 1)) == "Streams(1 stream, 2 features)"
