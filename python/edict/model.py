"""A trained model and what it can be asked."""

from __future__ import annotations

import ctypes
import html
import json
import os
from copy import deepcopy
from ctypes import byref, c_void_p, sizeof
from functools import cached_property
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import compat
from . import moments as _moments
from ._convert import text_of, typed, whole
from ._native import (
    Error, Handle, Interrupted, MissingFile, ModelSize, Progress, address,
    assignments, buffer_of, bytes_of, check, content_of, json_of, lib, made, path_bytes, raise_for, run_long,
    text_bytes, warn,
)  # fmt: skip
from .dataset import Dataset, free_name
from .forecast import Forecast, empty_arrays
from .guard import Guard, GuardPointer
from .settings import to_assignments
from .training import named, threads_of, training_of
from .times import UNITS, TimeAxis, asked_spans, asked_times, between, to_microseconds

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .typed_settings import ClassifySettings, TrainSettings

Floats = npt.NDArray[np.float64]
ShowProgress = Union[bool, Callable[[Progress], None], None]
GuardLike = Union[Guard, str, None]
# A path or a table is read as the training data were.
DataLike = Union[Dataset, str, "os.PathLike[str]", Any]
_COMMON, _OWN, _AHEAD = 0, 1, 2  # whose times are asked for, as in edict.h
_PAST, _BOTH, _KNOWN = 0, 1, 2  # on which sides of a moment something is known, as in edict.h
_PARTS = np.array(["train", "validation", "test", "unseen"], dtype=object)


class Model:
    """A model of irregular series: distributions at every moment, states, classes.

    It never changes, can be pickled, and may be asked by several threads at once.

    >>> import edict
    >>> data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
    >>> model = edict.Model.train(data, epochs=2, hidden=8, batch=16, threads=1)
    >>> model
    Model(edict, 2 features, 60 series seen)
    >>> model.predict(data, at=[5.0, 10.0]).mean.shape
    (60, 2, 2)
    >>> model.encode(data).shape
    (60, 8)
    >>> classifier = model.classify(data)
    >>> classifier.class_probabilities(data).shape
    (60, 2)
    """

    def __init__(self, handle: Handle, classes: Optional[list[Any]] = None) -> None:
        self._handle = handle
        self._classes = classes  # what their names were in the data that it learnt them from

    # ---- making one ------------------------------------------------------------------------------

    @classmethod
    def train(
        cls,
        data: Dataset,
        *,
        config: "str | os.PathLike[str] | None" = None,
        members: int = 1,
        from_model: "Union[Model, str, os.PathLike[str], None]" = None,
        budget: Any = None,
        out: "str | os.PathLike[str] | None" = None,
        resume: bool = False,
        force: bool = False,
        threads: int = 0,
        progress: ShowProgress = None,
        **settings: Unpack[TrainSettings],
    ) -> "Model":
        """Trains a model on the data; every setting of edict is a keyword (see :func:`edict.settings`).

        What is not given is chosen to fit the data (:func:`edict.fit_settings` tells what and why),
        or, with a TOML file ``config``, is as the file says. With more than one of ``members`` it is
        an ensemble of models that differ by their seeds, whose disagreement counts as epistemic uncertainty. With ``out``
        the best model so far, its checkpoint and its metrics are files; ``resume`` goes on from the
        checkpoint, and ``force`` replaces a model that is there. The same data, seed and settings give the same bits for every number of threads, and
        as the command line does.

        ``from_model`` is a trained model, or its file, to start from instead of anew, with its settings, scales and
        split; only settings of the tables train and loss may differ. ``budget`` is the time that training
        may take, in seconds, as a duration or as "90s", "10m" or "2h": it ends then, with the best epoch so far.

        After Ctrl-C the KeyboardInterrupt has a ``model``: the best of the epochs that were complete,
        or None. ``progress``: True or False, a function that is called with a
        :class:`edict.Progress` ten times a second, or None for a bar where someone looks.

        >>> import edict
        >>> edict.Model.train(edict.Dataset.from_frame(edict.waves(), label="label"), epohcs=3)
        Traceback (most recent call last):
            ...
        TypeError: unknown setting 'epohcs'; did you mean 'epochs'?
        """
        if not isinstance(data, Dataset):
            raise TypeError(
                f"train takes a Dataset, not a {type(data).__name__}; make one with Dataset.from_frame, "
                "from_arrays, from_numpy3d or read_csv"
            )
        if resume and out is None:
            raise Error("resume=True continues a training from its files; give out=, the name of its model")
        if out is not None and os.path.exists(out) and not (resume or force):
            raise Error(
                f"{os.fspath(out)}: exists already; give resume=True to continue its training, force=True "
                "to train anew and replace it, or another name"
            )
        if isinstance(from_model, (str, os.PathLike)):
            from_model = cls.load(from_model)
        if from_model is not None:
            if not isinstance(from_model, Model):
                raise TypeError(f"from_model is of type {type(from_model).__name__}; give a Model or its file")
            from_model._note(data)
        start = None if from_model is None else from_model._handle
        training = training_of(settings, config, members, start, budget, out, resume, threads)

        def call(control: Handle) -> Model:
            pointer = c_void_p()
            code = lib.edict_train(
                data._handle, byref(training), sizeof(training), control, byref(pointer)
            )
            model = None
            if pointer.value:
                model = cls(Handle("model", pointer.value), data.classes)
            if code == 3:
                raise Interrupted(model)
            if code or model is None:
                with named(config):
                    raise_for(code)
                raise AssertionError
            return model

        model: Model = cls._long(call, progress, "training")
        if model._info["piece"] and not data._reading["piece"] and from_model is None:
            few = "1 series is" if len(data) == 1 else f"{len(data)} series are"
            warn(
                f"{few} too few to split by series; cut into pieces of {model._info['piece']} events, "
                "the last of each series for the test split"
            )
        _say_notes(model)
        return model

    def calibrate(
        self, data: DataLike, split: str = "validation", *, threads: int = 0
    ) -> "tuple[Model, dict[str, Any]]":
        """A copy whose intervals are calibrated, and its scores: "before" and "after", on how many "series",
        and by how many it was "fitted".

        On series that the weights were not trained on: ``split`` is "validation", those of its training among
        the data, or "unseen", new ones, which then count as seen.
        """
        table = self._given(data)
        threads = threads_of(threads)

        def call(_: Handle) -> "tuple[Model, dict[str, Any]]":
            report, model = c_void_p(), c_void_p()
            part = text_bytes(split, "split")
            check(lib.edict_calibrate(self._handle, table._handle, part, threads, byref(report), byref(model)))
            assert report.value is not None and model.value is not None
            scores: dict[str, Any] = json.loads(content_of(Handle("bytes", report.value)))
            return Model(Handle("model", model.value), self._classes), scores

        if not isinstance(split, str):
            raise TypeError(f"split={split!r}: give validation or unseen")
        calibrated: "tuple[Model, dict[str, Any]]" = self._long(call, False, "calibrating")
        return calibrated

    def classify(
        self,
        data: DataLike,
        *,
        seeds: Union[int, Sequence[int]] = (),
        threads: int = 0,
        progress: ShowProgress = None,
        **settings: Unpack[ClassifySettings],
    ) -> "Model":
        """A model that also tells the labels of the data apart, on top of this one.

        Settings are those of the table ``classify``: ``layers=2``, ``epochs=50``, ``fine_tune=5``, …;
        and, written in full, ``readout_members=5``, ….
        """
        count, given = assignments(to_assignments(settings, "classify"))
        table = self._given(data)
        own = np.array(
            [whole(seed, "seeds", 0, 2**63 - 1) for seed in np.atleast_1d(seeds).tolist()], np.int64
        )
        threads = threads_of(threads)
        model: Model = self._long(
            lambda control: Model(
                made(
                    "model", lib.edict_classify, self._handle, table._handle, count, given, own.size,
                    address(own), threads, control,
                ),
                table.classes,
            ),
            progress,
            "classifying",
        )  # fmt: skip
        _say_notes(model)
        return model

    @classmethod
    def load(cls, path: "str | os.PathLike[str]") -> "Model":
        """A model's file, from here or from the command-line tool."""
        try:
            return cls(made("model", lib.edict_model_load, path_bytes(path)))
        except Error as e:
            raise MissingFile.instead_of(e, path) from None

    def save(self, path: "str | os.PathLike[str]") -> None:
        """A file as the command-line tool reads it."""
        check(lib.edict_model_save(self._handle, path_bytes(path)))

    @classmethod
    def from_bytes(cls, content: bytes) -> "Model":
        """What :meth:`to_bytes` made."""
        buffer = buffer_of(content, "content")
        return cls(made("model", lib.edict_model_from_bytes, ctypes.addressof(buffer), len(buffer)))

    def to_bytes(self) -> bytes:
        """What :meth:`save` writes."""
        return bytes_of(lib.edict_model_to_bytes, self._handle)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.to_bytes(), self._classes)

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def info(self) -> dict[str, Any]:
        """kind, features, statics, classes, config, t_cut, horizon, mean, scale, correlations, seen, epochs;
        a copy."""
        return deepcopy(self._info)

    @cached_property
    def _info(self) -> dict[str, Any]:
        result: dict[str, Any] = json_of(lib.edict_model_info, self._handle)
        return result

    @cached_property
    def _sizes(self) -> ModelSize:
        sizes = ModelSize()
        check(lib.edict_model_sizes(self._handle, ctypes.addressof(sizes), ctypes.sizeof(sizes)))
        return sizes

    @property
    def _time_rules(self) -> Optional[dict[str, Any]]:
        rules = self._info["time_axis"]
        return None if rules["kind"] == "number" else rules

    @property
    def features(self) -> list[str]:
        """The names of what it predicts."""
        return list(self._info["features"])

    @property
    def statics(self) -> list[str]:
        """The names of what it knows of a whole series."""
        return list(self._info["statics"])

    @property
    def classes(self) -> list[Any]:
        """The classes it tells apart, as they were given; those of a file are numbers where all are
        written as whole numbers. Empty without a classifier."""
        names = list(self._info["classes"])
        if self._classes is not None and [text_of(v) for v in self._classes] == names:
            return list(self._classes)
        return typed(names)

    @property
    def config(self) -> dict[str, dict[str, Any]]:
        """Every setting, table by table, as training resolved it."""
        return deepcopy(self._info["config"])

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """Losses of each epoch, where it was trained in this process."""
        return deepcopy(self._info["epochs"])

    @property
    def correlations(self) -> Optional[Floats]:
        """Which features err together, [features × features]; None before ``edict calibrate``."""
        rows = self._info["correlations"]
        return None if rows is None else np.array(rows)

    @property
    def hidden(self) -> int:
        """The size of the state, of all members together."""
        return int(self._sizes.hidden)

    @property
    def has_distribution(self) -> bool:
        """Whether it predicts distributions, and not classes alone."""
        return bool(self._sizes.distribution)

    @property
    def fingerprint(self) -> int:
        """One number for settings, names, scales and parameters; a calibration does not change it."""
        return int(self._sizes.fingerprint)

    def __repr__(self) -> str:
        seen, count, members = sum(self._info["seen"].values()), len(self.features), self._info["members"]
        parts = [self._info["kind"], f"{count} {'feature' if count == 1 else 'features'}"]
        parts += [f"{members} members"] if members > 1 else []
        parts += [f"{len(self.classes)} classes"] if self.classes else []
        return f"Model({', '.join(parts)}, {seen} series seen)"

    def _repr_html_(self) -> str:
        info = self._info
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{mean:.4g}</td><td>{scale:.4g}</td></tr>"
            for name, mean, scale in zip(self.features, info["mean"], info["scale"])
        )
        seen = ", ".join(f"{part}: {count}" for part, count in info["seen"].items())
        classes = f"<br>classes: {html.escape(', '.join(map(str, self.classes)))}" if self.classes else ""
        return (
            f"<div><b>{html.escape(repr(self))}</b><br>times: {html.escape(_said(info['time_axis']))}; series: "
            f"{seen}<table><thead><tr><th>feature</th><th>mean</th><th>scale</th></tr></thead><tbody>{rows}"
            f"</tbody></table>{classes}</div>"
        )

    # ---- questions -------------------------------------------------------------------------------

    def predict(
        self,
        data: DataLike,
        at: Any = None,
        *,
        ahead: Any = None,
        until: Any = np.inf,
        guard: GuardLike = None,
        threads: int = 0,
        progress: ShowProgress = False,
    ) -> Forecast:
        """The distribution of every feature at some times, given what was observed before each.

        ``at``: times for all series, in the data's unit, or date-times where the data have them; of a
        series that begins later the start is given.
        ``ahead``: times after each series' own last observation, in the data's unit or as durations.
        Observations from ``until`` on, a number or a date-time, are not looked at.
        """
        table = self._given(data)
        if not self.has_distribution:
            raise Error(f"{self._info['kind']} predicts no distribution; ask for class_probabilities")
        if (at is None) == (ahead is None):
            raise Error("give the times to ask for: at=…, or ahead=… after each last observation")
        if ahead is not None:
            after = asked_spans(ahead, self._axis_of(table), "ahead")
            seen = table._before(until, "until")
            last = np.nan_to_num(seen.last_times, nan=0.0)
            shown = last[:, None] + after
            given = _moments_after(seen.time_axis, last, ahead)
            return self._distributions(seen, after, _AHEAD, shown, np.inf, guard, threads, progress, given)
        times = self._times(table, at)
        given = _moments_at(table.time_axis, at)
        table, limit = _limited(table, until)
        shown = np.broadcast_to(times, (len(table), times.shape[-1]))
        which = _OWN if times.ndim == 2 else _COMMON
        return self._distributions(table, times, which, shown, limit, guard, threads, progress, given)

    def class_probabilities(
        self,
        data: DataLike,
        at: Any = None,
        *,
        guard: GuardLike = None,
        threads: int = 0,
        progress: ShowProgress = False,
    ) -> Floats:
        """[series × classes] with everything observed, or with ``at`` [series × times × classes]."""
        table = self._given(data)
        if not self.classes:
            raise Error("this model has no classifier; make one with classify")
        times = None if at is None else self._times(table, at)
        if times is not None and times.shape[-1] == 0:
            raise Error("at is empty; give a time, or leave it out for the end of each series")
        if times is not None and times.ndim == 2:
            # The library takes times that all series have: those that begin alike are asked together.
            starts, of_series = np.unique(times, axis=0, return_inverse=True)
            whole_result = np.empty((*times.shape, len(self.classes)))
            for k, own in enumerate(starts):
                places = np.flatnonzero(of_series.ravel() == k)
                whole_result[places] = self._probabilities(table[places], own, guard, threads, progress)
            return whole_result
        return self._probabilities(table, times, guard, threads, progress)

    def _probabilities(
        self, table: Dataset, times: Optional[Floats], guard: GuardLike, threads: int,
        progress: ShowProgress,
    ) -> Floats:  # fmt: skip
        count = 0 if times is None else times.size
        shape = (len(table), count, len(self.classes)) if count else (len(table), len(self.classes))
        result = np.empty(shape)
        pointer = GuardPointer(guard)
        threads = threads_of(threads)
        self._long(
            lambda control: check(
                lib.edict_model_probabilities(
                    self._handle, table._handle, count, address(times), pointer.address, threads,
                    control, address(result),
                )
            ),
            progress,
            "classifying",
        )  # fmt: skip
        return result

    def encode(
        self,
        data: DataLike,
        *,
        guard: GuardLike = None,
        threads: int = 0,
        progress: ShowProgress = False,
    ) -> npt.NDArray[np.float32]:
        """The state h(T) of each series after everything observed, [series × hidden]."""
        table = self._given(data)
        result = np.empty((len(table), self.hidden), dtype=np.float32)
        pointer = GuardPointer(guard)
        threads = threads_of(threads)
        self._long(
            lambda control: check(
                lib.edict_model_encode(
                    self._handle, table._handle, pointer.address, threads, control, address(result)
                )
            ),
            progress,
            "encoding",
        )
        return result

    def evaluate(
        self,
        data: DataLike,
        part: str = "test",
        *,
        smooth: bool = False,
        guard: GuardLike = None,
        threads: int = 0,
        progress: ShowProgress = False,
    ) -> dict[str, Any]:
        """How good the model is: errors and calibration of interpolation and extrapolation, by feature
        and horizon (``breakdown``), and of classes (``classifier``).

        ``part``: "train", "validation", "test", "unseen" or "all", by what the model recorded of its
        training. Data of which it knows no series are judged whole. ``smooth`` judges the interpolation
        from both sides, of a model that was trained with ``train.smooth``.
        """
        table = self._given(data)
        pointer = GuardPointer(guard)
        threads = threads_of(threads)
        if not isinstance(part, str):
            raise TypeError(f"part={part!r}: give train, validation, test, unseen or all")
        result: dict[str, Any] = self._long(
            lambda control: json_of(
                lib.edict_model_evaluate, self._handle, table._handle, text_bytes(part, "part"),
                _BOTH if smooth else _PAST, pointer.address, threads, control,
            ),
            progress,
            "evaluating",
        )  # fmt: skip
        return result

    def impute(
        self, data: DataLike, *, deviations: bool = False, past_only: bool = False,
        guard: GuardLike = None, threads: int = 0, progress: ShowProgress = False,
    ) -> Any:  # fmt: skip
        """The wide table with every gap filled by its mean, as a DataFrame.

        Of a DataFrame it is that table: its rows in their order, its index, columns and types, with the
        gaps of the model's features filled; those of a category by the likeliest. (In the long form,
        which has no gaps, it becomes a wide one.) Of a dataset made
        by :meth:`Dataset.from_frame` it has the rows and the index of that table, else a row an event.

        A gap is filled from what was seen of the series up to its moment, the other values of that
        moment included; and, by a model that was trained with ``train.smooth``, from what came later
        too, unless ``past_only`` is set. ``deviations`` adds columns ``<feature>_sd``: the predictive deviation, 0
        where the value was observed.
        """
        table = self._given(data)
        settings = (_PAST if past_only else _KNOWN, guard, threads, progress)
        if hasattr(data, "iloc") and table._rows is not None:  # the long form has no gaps
            from .filled_table import filled_table

            value, deviation = self._of_rows(table, table._rows.series, table._rows.times, *settings)
            return filled_table(data, table, self.features, value, deviation, deviations)
        rows = table._rows
        if rows is None:
            frame = table._frame("wide", self.features)
            value, deviation = self._filled(table, *settings)
        else:
            frame = table._frame_of(rows, self.features)
            value, deviation = self._of_rows(table, rows.series, rows.times, *settings)
        for j, name in enumerate(self.features):
            frame[name] = value[:, j]
        if deviations:
            for j, name in enumerate(self.features):
                frame[free_name(f"{name}_sd", frame.columns)] = deviation[:, j]
        return frame

    def _filled(
        self, table: Dataset, sides: int, guard: GuardLike, threads: int, progress: ShowProgress
    ) -> tuple[Floats, Floats]:
        """Values and deviations at all events, [events × features of the model]."""
        value = np.empty((table.events, len(self.features)))
        deviation = np.empty_like(value)
        pointer = GuardPointer(guard)
        threads = threads_of(threads)
        self._long(
            lambda control: check(
                lib.edict_model_impute(
                    self._handle, table._handle, 0, None, sides, pointer.address, threads, control,
                    address(value), address(deviation),
                )
            ),
            progress,
            "filling",
        )  # fmt: skip
        return value, deviation

    def _of_rows(
        self, table: Dataset, series: npt.NDArray[np.int64], times: Floats, *settings: Any
    ) -> tuple[Floats, Floats]:
        """The same at these times of series, NaN where a row has no time."""
        dated = np.isfinite(times)
        # A feature that the model does not know makes an event of a row without any value.
        name = "row"
        while name in table.features:
            name += "_"
        at = np.unique(series[dated] + 1j * times[dated])  # sorted by series, then by time
        every = table._rebuilt(more=(name, at.real.astype(np.int64), at.imag))
        value, deviation = self._filled(every, *settings)
        a = every.arrays
        events = np.repeat(np.arange(len(every)), np.diff(a["first_event"])) + 1j * a["times"]
        place = np.searchsorted(events, series[dated] + 1j * times[dated])
        result = tuple(np.full((series.size, len(self.features)), np.nan) for _ in range(2))
        for whole_table, own in zip(result, (value, deviation)):
            whole_table[dated] = own[place]
        return result[0], result[1]

    def surprise(
        self, data: DataLike, *, top: Optional[int] = None, until: Any = np.inf,
        guard: GuardLike = None, threads: int = 0, progress: ShowProgress = False,
    ) -> Any:  # fmt: skip
        """Every observation beside what was expected of it just before, most surprising first.

        A DataFrame with id, time, feature, value, mean, predictive_sd, z (the distance in deviations),
        log_score (minus the log density) and tail_probability (how often something at least as far
        off is to be expected), by which it is sorted. ``top`` limits their number. Observations from ``until`` on are
        judged but not absorbed. The data must have the model's features.
        """
        table = self._given(data)
        frame = table.to_frame("long")[["id", "time", "feature", "value"]]
        top = None if top is None else whole(top, "top", 0, 2**62)
        limit = _one_limit(table, until)
        threads = threads_of(threads)
        arrays = empty_arrays(table.observations)
        z, log_score, tail = (np.empty(table.observations) for _ in range(3))
        pointer = GuardPointer(guard)
        self._long(
            lambda control: check(
                lib.edict_model_surprise(
                    self._handle, table._handle, limit, pointer.address, threads, control,
                    *(address(a) for a in (*arrays, z, log_score, tail)),
                )
            ),
            progress,
            "judging",
        )  # fmt: skip
        mean, aleatoric, epistemic = arrays[:3]
        frame["mean"], frame["predictive_sd"] = mean, np.sqrt(aleatoric + epistemic)
        frame["z"], frame["log_score"], frame["tail_probability"] = z, log_score, tail
        order = np.lexsort((-np.abs(z), tail))
        return frame.iloc[order[:top]].reset_index(drop=True)

    def to_torch(self) -> Any:
        """The network as a plain PyTorch module (:class:`edict.torch.EdictModule`), of an ensemble
        all of them (:class:`edict.torch.EdictEnsemble`). Distributions, with every option of the kind
        ``edict`` but the solver dopri5; other kinds are refused, and a classifier is left out."""
        from .torch import EdictEnsemble, EdictModule

        return EdictEnsemble(self) if self._info["members"] > 1 else EdictModule(self)

    def parts(self, data: DataLike) -> npt.NDArray[np.object_]:
        """Which part each series had in training: train, validation, test or unseen."""
        data = data if isinstance(data, Dataset) else self._given(data)
        result = np.empty(len(data), dtype=np.int32)
        check(lib.edict_model_parts(self._handle, data._handle, address(result)))
        return _PARTS[result]

    # ---- inside ----------------------------------------------------------------------------------

    def _distributions(
        self, data: Dataset, times: Floats, which: int, shown: Floats, until: float,
        guard: GuardLike, threads: int, progress: ShowProgress, given: Any = None,
    ) -> Forecast:  # fmt: skip
        """``which`` tells whose the times are, as in edict.h; ``shown`` are those of the forecast, and
        ``given`` the moments that they are."""
        count = times.shape[-1]
        arrays = empty_arrays(len(data), count, len(self.features))
        pointer = GuardPointer(guard)
        clipped = ctypes.c_int64()
        threads = threads_of(threads)
        self._long(
            lambda control: check(
                lib.edict_model_predict(
                    self._handle, data._handle, count, address(times), which, until,
                    pointer.address, threads, control, *(address(a) for a in arrays),
                    ctypes.addressof(clipped),
                )
            ),
            progress,
            "predicting",
        )  # fmt: skip
        return Forecast(
            data.ids, self.features, shown, *arrays, time_axis=to_microseconds(data.time_axis),
            clipped=clipped.value, correlations=self.correlations, given=given,
        )  # fmt: skip

    def _times(self, data: Dataset, at: Any) -> Floats:
        """[times] of all series, or [series × times] where date-times differ between them."""
        times = asked_times(at, self._axis_of(data), "at")
        if times.ndim == 2 and data.time_axis is not None and data.time_axis.from_first:
            return np.maximum(times, 0.0)  # a moment before a series begins is its start
        return times

    def _axis_of(self, data: Dataset) -> Optional[TimeAxis]:
        """What the data's times mean; of numbers, what they meant in training."""
        unit = self._info["time_axis"]["unit"]
        if data.time_axis is None and unit in UNITS:
            return TimeAxis(unit, np.zeros(len(data), "datetime64[ns]"), durations=True)
        return data.time_axis

    def _given(self, data: DataLike) -> Dataset:
        """The data, or the file or table read as the training data were, with what is to be said."""
        if isinstance(data, (str, bytes, os.PathLike)):
            data = Dataset.read_csv(os.fsdecode(data), like=self)
        elif not isinstance(data, Dataset):
            fields = getattr(getattr(data, "dtype", None), "names", None)  # of an array of records
            if not hasattr(data, "keys") and not hasattr(data, "__arrow_c_stream__") and not fields:
                raise TypeError(
                    f"data is of type {type(data).__name__}; give a Dataset, a DataFrame or the path of a file"
                )
            data = self._read(data)
        self._note(data)
        return data

    def _read(self, frame: Any) -> Dataset:
        """A table as the training data were read, in the long form too."""
        reading = self._info["reading"]
        keys = frame.keys() if hasattr(frame, "keys") else getattr(getattr(frame, "dtype", None), "names", None)
        names = set() if keys is None else {str(name) for name in keys}
        feature, value = reading["variable"] or "feature", reading["value"] or "value"
        if {feature, value} <= names and not names & {*self.features, *reading["features"]}:
            return Dataset.from_long(frame, feature=feature, value=value, like=self)
        return Dataset.from_frame(frame, like=self)

    def _note(self, data: Dataset) -> None:
        """Refuses times of another kind, and tells of columns that are ignored or missing."""
        if not isinstance(data, Dataset):
            raise TypeError(f"data is of type {type(data).__name__}; give a Dataset")
        axis = data.time_axis
        own, given = _said(self._info["time_axis"]), _said(None if axis is None else axis.rules())
        # Numbers may be meant in the model's unit; durations say nothing where it has none.
        in_its_unit = self._time_rules is None and given == "plain numbers"
        if own != given and not in_its_unit:
            raise Error(f"the model's times are {own}, those of the data {given}; give them alike")
        if data.features == self.features and data.statics == self.statics:
            return
        for note in json_of(lib.edict_model_match, self._handle, data._handle):
            warn(note)

    @staticmethod
    def _long(call: Callable[[Handle], Any], progress: ShowProgress, what: str) -> Any:
        show = compat.progress_bar(progress, what)
        try:
            return run_long(call, show)
        finally:
            compat.close(show)


def _restored(content: bytes, classes: Optional[list[Any]]) -> Model:
    model = Model.from_bytes(content)
    model._classes = classes
    return model


def _say_notes(model: Model) -> None:
    """What the library says of the data and of how training went."""
    for note in model._info["notes"]:
        warn(str(note))


def _moments_at(axis: Optional[TimeAxis], at: Any) -> Any:
    """Date-times that were given, in each series; those before it begins are its start."""
    given = _moments.times(at, "at")
    if axis is None or given.kind != "date-times":
        return None
    moments = np.atleast_1d(_moments.in_zone(given, axis.zone, "at"))
    if axis.from_first:
        return np.maximum(moments[None, :], axis.origin[:, None])
    return np.broadcast_to(moments, (axis.origin.size, moments.size))


def _moments_after(axis: Optional[TimeAxis], last: Floats, ahead: Any) -> Any:
    """The last moment of each series, and durations after it."""
    given = _moments.times(ahead, "ahead")
    if axis is None or axis.durations or given.kind != "durations":
        return None
    begin = axis.to_moments(last, slice(None))
    between(begin[:, None], -np.atleast_1d(given.values).astype(np.int64), "ahead")
    return begin[:, None] + np.atleast_1d(given.values)


def _limited(data: Dataset, until: Any) -> tuple[Dataset, float]:
    """The data and the time from which on nothing is looked at, where it is the same for all series;
    else the data that are left."""
    limit = data.limits(until, "until")
    if np.unique(limit).size == 1:
        return data, float(limit.flat[0])
    return data.before(until), np.inf


def _one_limit(data: Dataset, until: Any) -> float:
    left, limit = _limited(data, until)
    if left is not data:
        raise Error("until: series that each begin at their own moment have no time in common; give a number")
    return limit


def _said(rules: Optional[dict[str, Any]]) -> str:
    if not rules or rules["kind"] == "number":
        unit = rules["unit"] if rules else "none"
        return "plain numbers" if unit == "none" else f"durations in {unit}"
    start = "each series' first" if rules["from_first"] else "one moment"
    return f"date-times in {rules['unit']} from {start}"
