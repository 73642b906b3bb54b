"""What a forecast says of its distributions, against scipy's."""

import subprocess

import numpy as np
import pytest
import scipy.stats

import edict
from edict import Forecast


@pytest.fixture(scope="module")
def forecast(model, data):
    return model.predict(data[:20], at=np.linspace(0, 12, 7))


def frozen(f):
    return scipy.stats.t(f.dof, f.mean, f.scale)


def test_quantiles_and_probabilities_are_those_of_student_t(forecast):
    t = frozen(forecast)
    # Two implementations of the incomplete beta function: relative 1e-9 and better.
    np.testing.assert_allclose(forecast.quantile(0.1), t.ppf(0.1), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(forecast.cdf(0.3), t.cdf(0.3), rtol=1e-9)
    np.testing.assert_allclose(forecast.probability(above=0.3), t.sf(0.3), rtol=1e-8)
    np.testing.assert_allclose(
        forecast.probability(within=(-0.2, 0.4)), t.cdf(0.4) - t.cdf(-0.2), rtol=1e-7
    )
    assert forecast.quantile([0.1, 0.5, 0.9]).shape == (*forecast.shape, 3)
    np.testing.assert_allclose(forecast.quantile(0.5), forecast.mean, atol=1e-12)


def test_the_variance_is_the_sum_of_its_two_parts(forecast):
    np.testing.assert_allclose(forecast.variance, frozen(forecast).var(), rtol=1e-6)


def test_intervals_hold_what_they_say(forecast):
    lower, upper = forecast.interval(0.8)
    held = forecast.cdf(upper) - forecast.cdf(lower)
    np.testing.assert_allclose(held, 0.8, atol=1e-9)


def test_samples_follow_the_distribution(forecast):
    part = forecast.select([0], "level")
    draws = part.sample(20000, seed=1)[:, 0, 3, 0]
    # Kolmogorov–Smirnov of 20,000 draws: 1.63/√n at the 1 % level is 0.0115.
    one = scipy.stats.t(part.dof[0, 3, 0], part.mean[0, 3, 0], part.scale[0, 3, 0])
    assert scipy.stats.kstest(draws, one.cdf).statistic < 0.0115
    np.testing.assert_array_equal(part.sample(3, seed=5), part.sample(3, seed=5))


def test_samples_of_a_calibrated_model_are_drawn_together(tool, tmp_path):
    calls = [
        "generate synthetic --out d.csv --series 200",
        "train d.csv --out m --set train.epochs=1 --set model.hidden=8 --set data.validation=0.5 --set data.train=0.3 --set train.calibrate=false",
        "calibrate m d.csv --out c",
    ]
    for call in calls:
        subprocess.run([tool, *call.split()], cwd=tmp_path, check=True, capture_output=True)
    raw, model = edict.Model.load(tmp_path / "m"), edict.Model.load(tmp_path / "c")
    assert raw.correlations is None
    r = model.correlations
    assert r is not None and r.shape == (3, 3) and (np.diag(r) == 1).all()
    forecast = model.predict(edict.Dataset.read_csv(tmp_path / "d.csv"), ahead=[0.5]).select([0])
    draws = forecast.sample(20000, seed=2)
    np.testing.assert_array_equal(draws[:5], forecast.sample(20000, seed=2)[:5])
    for j in range(3):
        one = scipy.stats.t(forecast.dof[0, 0, j], forecast.mean[0, 0, j], forecast.scale[0, 0, j])
        assert scipy.stats.kstest(draws[:, 0, 0, j], one.cdf).statistic < 0.0115
    found, _ = scipy.stats.spearmanr(draws[:, 0, 0, :])
    # Spearman's of a Gaussian copula; its deviation here is about 1/√n = 0.007.
    np.testing.assert_allclose(found, 6 / np.pi * np.arcsin(r / 2), atol=0.03)
    np.testing.assert_array_equal(forecast.select(features=["x3", "x1"]).correlations, r[[2, 0]][:, [2, 0]])
    stream = edict.Stream(model)
    np.testing.assert_array_equal(stream.predict(1.0).correlations, r)


def test_limits_by_name(forecast):
    both = forecast.probability(above={"flow": 0.1, "level": 0.2})
    np.testing.assert_array_equal(both[:, :, 0], forecast.probability(above=0.1)[:, :, 1])
    np.testing.assert_array_equal(both[:, :, 1], forecast.probability(above=0.2)[:, :, 0])
    with pytest.raises(edict.Error, match="no feature 'flaw'"):
        forecast.probability(above={"flaw": 1})
    with pytest.raises(edict.Error, match="one of above, below and within"):
        forecast.probability(above=1, below=2)


def test_a_gaussian_has_infinitely_many_degrees_of_freedom():
    one = np.ones((1, 1, 1))
    gauss = Forecast(["a"], ["x"], np.zeros((1, 1)), 0 * one, one, 0 * one, one, np.inf * one)
    np.testing.assert_allclose(gauss.quantile(0.975), scipy.stats.norm.ppf(0.975), rtol=1e-12)
    # The standard error of a deviation from 40,000 draws is 0.0035.
    assert abs(gauss.sample(40000).std() - 1) < 0.015


def test_the_frame_has_deviations_not_variances(forecast):
    frame = forecast.to_frame(level=0.5, quantiles=[0.25])
    assert len(frame) == forecast.mean.size
    np.testing.assert_allclose(frame["predictive_sd"] ** 2, forecast.variance.ravel(), rtol=1e-12)
    np.testing.assert_allclose(frame["q0.25"], frame["lower"], rtol=1e-9, atol=1e-9)


def test_the_picture_has_two_tones_and_what_was_observed(forecast, data):
    import matplotlib

    matplotlib.use("Agg")
    figure = forecast.plot("wave03", data=data)
    panel = figure.axes[0]
    assert len(figure.axes) == 2 and len(panel.collections) == 2
    dark, light = panel.collections[1].get_paths()[0], panel.collections[0].get_paths()[0]
    assert dark.get_extents().height < light.get_extents().height
    seen = data["wave03"].to_frame()["level"].to_numpy()
    np.testing.assert_array_equal(panel.lines[1].get_ydata(), seen)


def test_limits_that_are_exchanged_are_refused(forecast):
    for within in ((1, -1), ({"level": 1}, {"level": -1}), (np.zeros((20, 7, 2)), -0.1)):
        with pytest.raises(edict.Error, match="the lower limit is above the upper one"):
            forecast.probability(within=within)
    both = forecast.probability(within=({"flow": -1, "level": 0}, {"level": 1, "flow": 1}))
    np.testing.assert_array_equal(both[:, :, 1], forecast.probability(within=(0, 1))[:, :, 0])
    np.testing.assert_array_equal(both[:, :, 0], forecast.probability(within=(-1, 1))[:, :, 1])
    assert (forecast.probability(within=(0.5, 0.5)) == 0).all()
    for wrong in (3, (1, 2, 3), ({"level": 1}, 2)):
        with pytest.raises(edict.Error, match="within"):
            forecast.probability(within=wrong)


def test_what_cannot_be_a_limit_is_refused(forecast):
    with pytest.raises(edict.Error, match="above holds what is no number: 'high'"):
        forecast.probability(above="high")
    with pytest.raises(edict.Error, match="within, low is missing; give a number, which may be infinite"):
        forecast.probability(within=(None, 1))
    assert (forecast.probability(within=(-np.inf, np.inf)) == 1).all()
    with pytest.raises(edict.Error, match="give one number"):
        forecast.interval([0.5, 0.9])
    with pytest.raises(edict.Error, match=r"shape \(3,\) does not fit"):
        forecast.cdf([1, 2, 3])
    with pytest.raises(edict.Error, match="level = 95 must lie between 0 and 1; did you mean 0.95"):
        forecast.interval(95)


def test_forecasts_are_compared_by_what_they_say(model, data, forecast):
    again = model.predict(data[:20], at=np.linspace(0, 12, 7))
    assert forecast == again and not forecast != again
    assert forecast != model.predict(data[:20], at=np.linspace(0, 13, 7)) and forecast != forecast.select([0])
    assert forecast != 3 and forecast not in [None]
    dated = edict.Dataset.from_frame(edict.waves(series=3, dates=True), label="label")
    axis = dated.time_axis
    assert axis == edict.Dataset.from_frame(edict.waves(series=3, dates=True), label="label").time_axis
    assert axis != dated[:2].time_axis
    assert repr(forecast.select([0])).startswith("Forecast(1 series, 7 times")
    assert "1 time," in repr(model.predict(data, ahead=1.0))


def test_a_picture_of_one_time_shows_it(model, data):
    import matplotlib

    matplotlib.use("Agg")
    dated = edict.Dataset.from_frame(edict.waves(series=60, dates=True), label="label")
    of_dates = edict.Model.train(dated, epochs=1, hidden=8, batch=16, threads=1)
    for figure in (model.predict(data, ahead=1.0).plot(0), of_dates.predict(dated, ahead=1.0).plot(0, data=dated)):
        for band in figure.axes[0].collections:
            box = band.get_paths()[0].get_extents()
            assert box.width > 0 and box.height > 0


def test_limits_in_a_series_go_by_its_index(forecast):
    import pandas as pd

    by_name = forecast.probability(above={"flow": 0.1, "level": 0.9})
    assert np.array_equal(forecast.probability(above=pd.Series({"flow": 0.1, "level": 0.9})), by_name)
    within = (pd.Series({"level": -1.0, "flow": -2.0}), pd.Series({"flow": 2.0, "level": 1.0}))
    own = forecast.probability(within=within)
    assert np.array_equal(own, forecast.probability(within=({"level": -1, "flow": -2}, {"level": 1, "flow": 2})))
    x = pd.Series({"flow": 0.1, "level": 0.9})
    assert np.array_equal(forecast.cdf(x), forecast.cdf([0.9, 0.1]))
    with pytest.raises(edict.Error, match="x names level; name each of level, flow"):
        forecast.cdf(x[["level"]])
    with pytest.raises(TypeError, match="above is a DataFrame; give a number a feature by name"):
        forecast.probability(above=x.to_frame())


@pytest.mark.parametrize("limit", [{"level": float("nan")}, [float("nan"), 1.0], float("nan")])
def test_a_limit_that_is_missing_is_refused(forecast, limit):
    with pytest.raises(edict.Error, match="above is missing; give a number, which may be infinite"):
        forecast.probability(above=limit)


def test_a_figure_of_durations_counts_in_their_unit():
    import pandas as pd

    frame = edict.waves(series=30, seed=1)
    frame["time"] = pd.to_timedelta(frame["time"], unit="h")
    data = edict.Dataset.from_frame(frame, label="label")
    model = edict.Model.train(data, epochs=1, hidden=4, batch=16, step=0.5, threads=1)
    at = pd.to_timedelta([5, 6, 12], unit="h")
    for forecast in (model.predict(data, at=at), model.predict(data, at=at[:1])):
        panel = forecast.plot("wave03", data=data).axes[-1]
        assert panel.get_xlabel() == "time (h)"
        assert 6 < panel.get_xlim()[1] < 25


def test_what_cannot_be_drawn_is_refused(forecast):
    import matplotlib.pyplot as plt

    with pytest.raises(TypeError, match="axes: give 2 of matplotlib's, one a feature"):
        forecast.plot(axes=plt.subplots()[1])
    with pytest.raises(edict.Error, match="a figure shows one series, and these are 2"):
        forecast.plot([0, 1])
    with pytest.raises(edict.Error, match="nothing to draw"):
        forecast.select(slice(0, 0)).plot()
    for call in (lambda: forecast.quantile([]), lambda: forecast.sample(1, seed=-1), lambda: edict.waves(-1)):
        with pytest.raises(edict.Error, match="give"):
            call()


def test_limits_of_a_wrong_shape_are_refused(forecast):
    with pytest.raises(edict.Error, match=r"above: an array of shape \(5,\) does not fit \[series × times × features\]"):
        forecast.probability(above=np.zeros(5))
