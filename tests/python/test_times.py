"""Times and durations of every kind mean the same, wherever they are given."""

import datetime
import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

import edict
from edict import Dataset, Model, Stream, Streams

MOMENTS = pd.to_datetime(["2024-03-01 12:00", "2024-03-01 13:30", "2024-03-02 00:00"])
HOURS = [0.0, 1.5, 12.0]


@pytest.fixture(scope="module")
def dated():
    """Date-times in Berlin, hours from each series' first."""
    return Dataset.from_frame(edict.waves(series=60, dates=True), label="label")


@pytest.fixture(scope="module")
def of_dates(dated):
    return Model.train(dated, **SMALL)


@pytest.fixture(scope="module")
def since_march(dated):
    """The same, from one moment for all."""
    frame = edict.waves(series=60, dates=True)
    data = Dataset.from_frame(frame, label="label", origin="2024-03-30 00:00")
    return data, Model.train(data, **SMALL)


def table(times):
    return pd.DataFrame({"id": 1, "time": times, "x": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s", "m"])
def test_datetime64_of_every_unit_and_byte_order(unit):
    times = MOMENTS.to_numpy().astype(f"datetime64[{unit}]")
    for given in (times, times.astype(times.dtype.newbyteorder(">")), np.repeat(times, 2)[::2]):
        data = Dataset.from_frame({"id": [1, 1, 1], "time": given, "x": [1.0, 2, 3]})
        assert data.times.tolist() == HOURS
        durations = Dataset.from_frame({"id": [1, 1, 1], "time": given - given[0], "x": [1.0, 2, 3]})
        assert durations.times.tolist() == HOURS


@pytest.mark.parametrize("times", [
    [t.to_pydatetime() for t in MOMENTS],
    [pd.Timestamp(t) for t in MOMENTS],
    [np.datetime64(t) for t in MOMENTS],
    MOMENTS.tz_localize("Europe/Berlin"),
    [t.tz_localize("Europe/Berlin").to_pydatetime() for t in MOMENTS],
    pd.PeriodIndex(MOMENTS, freq="min"),
    ["2024-03-01 12:00", "2024-03-01T13:30:00", "2024-03-02"],
    ["2024-03-01 12:00+01:00", "2024-03-01 12:30Z", "2024-03-02 00:00+01:00"],
    ["01.03.2024 12:00", "01.03.2024 13:30", "02.03.2024"],
    pd.Series(["01.03.2024 12:00", "01.03.2024 13:30", "02.03.2024"], dtype="string"),
    pd.Categorical(["01.03.2024 12:00", "01.03.2024 13:30", "02.03.2024"]),
    list(MOMENTS - MOMENTS[0]),
    [t.to_pytimedelta() for t in MOMENTS - MOMENTS[0]],
    ["0", "1.5", "12"],
    pd.array([0, 1.5, 12], dtype="Float64"),
], ids=str)  # fmt: skip
def test_objects_and_texts_of_every_kind(times):
    frame = pd.DataFrame({"id": 1, "x": [1.0, 2.0, 3.0]})
    frame["time"] = times
    assert Dataset.from_frame(frame).times.tolist() == HOURS
    assert Dataset.from_arrays([times], [[1, 2, 3]]).times.tolist() == HOURS
    assert Dataset.from_numpy3d(np.ones((2, 3, 1)), times).times.tolist() == 2 * HOURS


def test_texts_are_read_as_the_file_is(tmp_path):
    frame = table(["01.03.2024", "12.03.2024", "2.04.2024"])
    frame.to_csv(tmp_path / "d.csv", index=False)
    read, ours = Dataset.read_csv(tmp_path / "d.csv", unit="d"), Dataset.from_frame(frame, unit="d")
    assert ours.times.tolist() == read.times.tolist() == [0, 11, 32]
    assert ours.time_axis.origin[0] == np.datetime64("2024-03-01")
    for odd in (["2024-03-01", "soon", "later"], ["2024-03-01", "1.5", "2"]):
        with pytest.raises(edict.Error, match="column 'time', row [01]: .* neither a number nor a date-time"):
            Dataset.from_frame(table(odd))
    with pytest.raises(edict.Error, match="some date-times have a zone and others none"):
        Dataset.from_frame(table(["2024-03-01 12:00+01:00", "2024-03-01 12:30", "2024-03-02"]))


def test_arrays_with_date_times_have_an_axis():
    data = Dataset.from_arrays([MOMENTS, MOMENTS[:1]], [[1, 2, 3], [4]], unit="min")
    assert data.times.tolist() == [0, 90, 720, 0]
    assert repr(data.time_axis) == "TimeAxis(date-times in min from each series' first)"
    assert (data.to_frame()["time"] == [*MOMENTS, MOMENTS[0]]).all()
    fixed = Dataset.from_numpy3d(np.ones((1, 3, 1)), MOMENTS, origin=MOMENTS[1])
    assert fixed.times.tolist() == [-1.5, 0, 10.5]
    zoned = MOMENTS.tz_localize("UTC")
    with pytest.raises(edict.Error, match="some are date-times without a zone, others date-times with"):
        Dataset.from_arrays([MOMENTS, zoned], [[1, 2, 3], [4, 5, 6]])
    with pytest.raises(edict.Error, match="some are date-times without a zone, others numbers"):
        Dataset.from_arrays([MOMENTS, [1.0]], [[1, 2, 3], [4]])


def test_a_missing_time_is_no_time():
    gone = [
        MOMENTS.to_series().where([True, False, True]).to_numpy(),
        (MOMENTS - MOMENTS[0]).to_series().where([True, False, True]).to_numpy(),
        [MOMENTS[0], pd.NaT, MOMENTS[2]],
        ["2024-03-01", None, "2024-03-02"],
        [0.0, np.nan, 1.0],
        np.ma.masked_array([0.0, 1.0, 2.0], [False, True, False]),
        np.ma.masked_array(MOMENTS.to_numpy(), [False, True, False]),
    ]
    for times in gone:
        with pytest.raises(edict.Error, match="series 1: a time is missing"):
            Dataset.from_frame({"id": [1, 1, 1], "time": times, "x": [1.0, 2, 3]})
        # A row without values needs none.
        kept = Dataset.from_frame({"id": [1, 1, 1], "time": times, "x": [1.0, None, 3]})
        assert kept.events == 2


def test_a_missing_time_cannot_be_asked_for(model, data, dated, of_dates):
    for at in ([pd.NaT], pd.NaT, np.datetime64("NaT"), [np.datetime64("2024-04-01"), np.datetime64("NaT")]):
        with pytest.raises(edict.Error, match=r"^at(\[.\])? is missing"):
            of_dates.predict(dated, at=at)
    with pytest.raises(edict.Error, match=r"^at\[1\] is missing"):
        model.predict(data, at=[1.0, np.nan])
    with pytest.raises(edict.Error, match=r"^ahead is missing"):
        of_dates.predict(dated, ahead=np.timedelta64("NaT"))
    with pytest.raises(edict.Error, match=r"^until is missing"):
        of_dates.predict(dated, ahead=1.0, until=pd.NaT)
    with pytest.raises(edict.Error, match=r"^time is missing"):
        Stream(of_dates).observe(pd.NaT, {"level": 1.0})
    with pytest.raises(edict.Error, match="^origin is missing"):
        Dataset.from_frame(edict.waves(series=3, dates=True), label="label", origin=pd.NaT)


def test_what_is_out_of_range_or_has_no_length_is_refused():
    for times in (np.array(["3000-01-01"] * 3, "M8[s]"), np.array(["0001-01-01"] * 3, "M8[D]"),
                  [datetime.datetime(9999, 1, 1)] * 3):  # fmt: skip
        with pytest.raises(edict.Error, match="out of range"):
            Dataset.from_frame({"id": [1, 1, 1], "time": times, "x": [1.0, 2, 3]})
    with pytest.raises(edict.Error, match="months and years differ in length"):
        Dataset.from_frame({"id": [1, 1], "time": np.array([0, 1], "m8[M]"), "x": [1.0, 2]})
    with pytest.raises(edict.Error, match="truth values"):
        Dataset.from_frame({"id": [1, 1], "time": [True, False], "x": [1.0, 2]})
    with pytest.raises(edict.Error, match="not a time of the same kind"):
        Dataset.from_arrays([[MOMENTS[0], 3.5]], [[1, 2]])


@pytest.mark.parametrize("ahead", [
    pd.Timedelta("90min"), np.timedelta64(90, "m"), datetime.timedelta(minutes=90),
    np.array([5400], "m8[s]"), pd.to_timedelta(["90min"]), [pd.Timedelta("90min")],
], ids=str)  # fmt: skip
def test_durations_ahead_are_counted_in_the_datas_unit(dated, of_dates, ahead):
    expected = of_dates.predict(dated, ahead=[1.5])
    found = of_dates.predict(dated, ahead=ahead)
    np.testing.assert_array_equal(found.mean, expected.mean)
    # Moments that are asked for count from each series' start.
    np.testing.assert_array_equal(
        of_dates.predict(dated, at=ahead).mean, of_dates.predict(dated, at=[1.5]).mean
    )


def test_durations_need_a_unit(model, data):
    with pytest.raises(edict.Error, match="ahead holds durations, but the times of the data are numbers"):
        model.predict(data, ahead=pd.Timedelta("1h"))
    frame = edict.waves(series=60)
    frame["time"] = pd.to_timedelta(frame["time"].round(3), unit="h")
    spans = Dataset.from_frame(frame, label="label", unit="min")
    assert spans.times.max() > 60 and len(pickle.loads(pickle.dumps(spans))) == 60
    own = Model.train(spans, **SMALL)
    np.testing.assert_array_equal(
        own.predict(spans, ahead=pd.Timedelta("1h")).mean, own.predict(spans, ahead=60).mean
    )
    # A model remembers the unit, and counts other durations in it.
    expected = own.predict(spans, ahead=60).mean
    np.testing.assert_array_equal(own.predict(frame, ahead=60).mean, expected)
    in_minutes = frame.assign(time=frame["time"] / pd.Timedelta("1min"))
    numbers = Dataset.from_frame(in_minutes, label="label")
    np.testing.assert_array_equal(own.predict(numbers, ahead=pd.Timedelta("1h")).mean, expected)
    stream = Stream(own)
    stream.observe(pd.Timedelta("2h"), {"level": 0.5})
    assert stream.time == 120.0 and stream.predict(pd.Timedelta("3h")).times.tolist() == [[180.0]]
    with pytest.raises(edict.Error, match="times are durations in min, those of the data durations in h"):
        own.predict(Dataset.from_frame(frame, label="label"), ahead=1.0)
    with pytest.raises(edict.Error, match="times are durations in min, those of the data date-times in h"):
        own.predict(Dataset.from_frame(edict.waves(series=3, dates=True), label="label"), ahead=1.0)
    assert spans.to_frame()["time"].dtype == "timedelta64[ns]"
    assert (spans.to_frame()["time"] == frame["time"]).all()
    with pytest.raises(edict.Error, match="ahead holds date-times"):
        own.predict(spans, ahead=pd.Timestamp("2024-01-01"))


def test_until_is_a_moment_too(dated, of_dates, since_march):
    moment = pd.Timestamp("2024-03-31 00:00", tz="Europe/Berlin")
    frame = edict.waves(series=60, dates=True)
    earlier = Dataset.from_frame(frame[frame["time"] < moment], label="label")
    left = dated.before(moment)
    assert left.observations == earlier.observations < dated.observations
    np.testing.assert_array_equal(
        of_dates.predict(dated, ahead=[1.0], until=moment).mean, of_dates.predict(left, ahead=[1.0]).mean
    )
    np.testing.assert_array_equal(
        of_dates.predict(dated, at=[moment], until=moment).mean, of_dates.predict(left, at=[moment]).mean
    )
    data, model = since_march
    np.testing.assert_array_equal(
        model.predict(data, ahead=[1.0], until=moment).mean, model.predict(data, ahead=[1.0], until=24.0).mean
    )
    assert len(model.surprise(data, until=moment)) == data.observations
    with pytest.raises(edict.Error, match="until: give one time for all series"):
        model.predict(data, ahead=1.0, until=[1.0, 2.0])


def test_classes_at_moments(dated, of_dates, since_march):
    moments = pd.to_datetime(["2024-03-31 00:00", "2024-03-31 08:00"]).tz_localize("Europe/Berlin")
    classifier = of_dates.classify(dated, seeds=[0], epochs=2, readout_members=1, readout_epochs=1)
    found = classifier.class_probabilities(dated[:5], at=moments)
    assert found.shape == (5, 2, 2)
    own = dated.time_axis.to_floats(moments[1], slice(3, 4))
    # Single precision, asked for with another time and alone.
    alone = classifier.class_probabilities(dated[3], at=np.maximum(own, 0))[0, 0]
    np.testing.assert_allclose(found[3, 1], alone, atol=1e-6)
    with pytest.raises(edict.Error, match="at is empty"):
        classifier.class_probabilities(dated, at=[])


def test_local_times_where_clocks_change(dated, of_dates):
    for local in ("2024-03-31 02:30", "2024-10-27 02:30"):
        with pytest.raises(edict.Error, match="give it with its zone"):
            of_dates.predict(dated, at=local)
    same = of_dates.predict(dated, at="2024-03-31 03:30"), of_dates.predict(dated, at="2024-03-31 01:30Z")
    np.testing.assert_array_equal(same[0].mean, same[1].mean)


def test_times_to_ask_for_are_a_list(model, data, of_dates, dated):
    with pytest.raises(edict.Error, match="at: give one time or a list"):
        model.predict(data, at=[[1.0, 2.0]])
    with pytest.raises(edict.Error, match="must ascend; sort them"):
        model.predict(data, at=[2.0, 1.0])
    with pytest.raises(edict.Error, match="neither a number nor a date-time"):
        model.predict(data, at="noon")
    with pytest.raises(edict.Error, match="must ascend"):
        of_dates.predict(dated, at=["2024-04-02", "2024-04-01"])


def test_streams_take_moments(since_march, of_dates):
    data, model = since_march
    one = data[0].to_frame()
    numbers, moments = Stream(model), Stream(model)
    for (_, row), time in zip(one.iterrows(), data[0].times):
        seen = {k: row[k] for k in ("level", "flow") if row[k] == row[k]}
        numbers.observe(time, seen)
        moments.observe(row["time"], seen)
    when = one["time"].iloc[-1] + pd.Timedelta("2h")
    told, again = moments.predict(when), pickle.loads(pickle.dumps(moments)).predict(when)
    np.testing.assert_array_equal(told.mean, numbers.predict(numbers.time + 2.0).mean)
    np.testing.assert_array_equal(told.mean, again.mean)
    assert told.to_frame()["time"].iloc[0] == when
    # A series that begins with its own first moment.
    own = Stream(of_dates)
    with pytest.raises(edict.Error, match="no moment to count from"):
        own.predict(when)
    own.observe(when, {"level": 0.5})
    assert own.time == 0.0
    with pytest.raises(edict.Error, match="goes forward"):
        own.observe(when - pd.Timedelta("1h"), {"level": 0.5})
    assert own.predict([when + pd.Timedelta("90min")]).times.tolist() == [[1.5]]
    begun = Stream(of_dates, start=when - pd.Timedelta("1h"))
    begun.observe(when, {"level": 0.5})
    assert begun.time == 1.0
    many = Streams(of_dates, ["a", "b"])
    many.observe([when, when + pd.Timedelta("1h")], [[0.1, np.nan], [0.2, 0.3]])
    assert many.times.tolist() == [0.0, 0.0]
    frame = many.predict(when + pd.Timedelta("2h")).to_frame()
    assert (frame["time"] == when + pd.Timedelta("2h")).all()


def test_streams_of_numbers_refuse_moments(model):
    when = pd.Timestamp("2024-01-01")
    stream, many = Stream(model), Streams(model, 2)
    for call in (lambda: stream.observe(when, {"level": 1.0}), lambda: stream.predict(when),
                 lambda: many.observe(when, [[1, 2], [3, 4]]), lambda: Stream(model, start=when)):  # fmt: skip
        with pytest.raises(edict.Error, match="the model's times are plain numbers"):
            call()


def test_one_text_decides_between_day_and_month_for_all():
    def march(*texts):
        frame = pd.DataFrame({"id": "a", "time": list(texts), "x": range(len(texts))})
        data = Dataset.from_frame(frame, unit="d", origin="2024-03-01")
        return data.times.tolist()

    assert march("04/03/2024", "13/03/2024") == [3, 12]
    assert march("03/04/2024", "03/13/2024 12:00") == [3, 12.5]
    with pytest.raises(edict.Error, match="row 1: '03/14/2024' is neither a number nor a date-time"):
        march("13/03/2024", "03/14/2024")
    with pytest.raises(edict.Error, match="row 0: '03/04/2024' is neither"):
        march("03/04/2024", "04/04/2024")
