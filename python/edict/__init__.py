"""Evidential distributions in continuous time, for irregular and partly observed series.

    data = edict.Dataset.from_frame(frame, id="patient", time="charttime")
    model = edict.Model.train(data)
    model.predict(data, ahead=[1, 6, 24]).plot(data=data)
"""

from ._native import Error, InternalError, MachineError, Progress
from ._native import version as __version__
from .dataset import Dataset
from .examples import waves
from .forecast import Forecast
from .guard import Guard
from .model import Model
from .settings import Choice, Setting, fit_settings, settings
from .stream import Stream, Streams
from .times import TimeAxis
from .training import cross_validate

__all__ = [
    "Choice", "Dataset", "Error", "Forecast", "Guard", "InternalError", "MachineError", "Model", "Progress", "Setting",
    "Stream", "Streams", "TimeAxis", "__version__", "cross_validate", "fit_settings",
    "settings", "waves",
]  # fmt: skip
