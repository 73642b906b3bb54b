"""Not run: mypy reads how a program with types uses the package."""

import numpy as np
import numpy.typing as npt

import edict

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
