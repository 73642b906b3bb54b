"""Not run: mypy reads how a program with types uses the package."""

import numpy as np
import numpy.typing as npt

import edict
from edict.sklearn import EdictClassifier, EdictForecaster

data: edict.Dataset = edict.Dataset.from_numpy3d(np.zeros((3, 4, 2)))
model: edict.Model = edict.Model.train(data[:2], epochs=3, hidden=8)
forecast: edict.Forecast = model.predict(data, ahead=[1.0], guard=edict.Guard("edgr", eta=3))
mean: npt.NDArray[np.float64] = forecast.mean
lower, upper = forecast.interval(0.5)
risk: npt.NDArray[np.float64] = forecast.probability(above={"x1": 4.0})
states: npt.NDArray[np.float32] = model.encode(data)
stream = edict.Stream(model, start=0.0)
stream.observe(1.0, {"x1": 2.0})
kept: bytes = stream.state

# Settings are keyword arguments with types; what mypy must refuse is ignored, and strict mypy refuses
# to ignore what is right.
edict.Model.train(data, epochs=3, learning_rate=5e-3, kind="gru-d", t_cut="auto", smooth=None, model_hidden=8)
edict.Model.train(data, epohcs=3)  # type: ignore[call-arg]
edict.Model.train(data, epochs="three")  # type: ignore[arg-type]
edict.Model.train(data, kind="transformer")  # type: ignore[arg-type]
edict.fit_settings(data, hiden=8)  # type: ignore[call-arg]
model.classify(data, layers=2, fine_tune=5)
model.classify(data, layers=2.5)  # type: ignore[arg-type]
EdictClassifier(epochs=3, guard="edgr", validation=0.2)
EdictClassifier(epochs="three")  # type: ignore[arg-type]
EdictForecaster(ahead=[1.0], hidden=8, n_jobs=2)
EdictForecaster(hiden=8)  # type: ignore[call-arg]
