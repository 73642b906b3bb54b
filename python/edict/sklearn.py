"""Estimators for scikit-learn, with a :class:`edict.Dataset` as X.

Every setting of edict is a parameter under its full name (``model_hidden``, ``train_epochs``), None
meaning what fits the data; bare names (``hidden``, ``epochs``) may be given to the constructor too.
``n_jobs`` and ``random_state`` are scikit-learn's; the latter is every seed that is not set by its own name.
So ``GridSearchCV(EdictForecaster(), {"model_hidden": [16, 32]})`` works, as do pipelines, folds by
group and calibration.

>>> import edict
>>> from edict.sklearn import EdictClassifier
>>> from sklearn.model_selection import cross_val_score
>>> data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
>>> classifier = EdictClassifier(epochs=2, hidden=8, batch=16, n_jobs=1)
>>> cross_val_score(classifier, data, data.labels, cv=2).shape
(2,)
"""

from __future__ import annotations

import inspect
from numbers import Real
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import compat
from ._convert import objects_of, text_of
from ._native import Error, warn
from .dataset import Dataset
from .forecast import Forecast
from .guard import Guard
from .model import GuardLike, Model
from .settings import keywords, settings

_sklearn = compat.needed("sklearn", "edict.sklearn")
_base = compat.needed("sklearn.base", "edict.sklearn")
_utils = compat.needed("sklearn.utils", "edict.sklearn")
_validation = compat.needed("sklearn.utils.validation", "edict.sklearn")
_joblib = compat.needed("joblib", "edict.sklearn")

# The library holds part of the series back for a test of its own. Users of an estimator do that
# outside of it; shares must leave something to it, which this makes so small that no series falls there.
_NO_TEST = 1e-12
_LATER = ("classify_", "readout_")  # what is set when the classes are learnt


if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .typed_settings import EstimatorSettings

    class _Parameters(EstimatorSettings, total=False):
        """What every estimator has."""

        guard: GuardLike
        validation: float
        config: Optional[str]
        budget: Union[float, str, None]
        n_jobs: Optional[int]
        verbose: bool
        random_state: Any


class _Edict(_base.BaseEstimator):  # type: ignore[misc, name-defined]
    """What the estimators have in common: parameters and the training of a model."""

    _own: tuple[str, ...] = (
        "guard", "validation", "config", "budget", "n_jobs", "verbose", "random_state",
    )  # fmt: skip

    def __init__(
        self, *, guard: GuardLike = None, validation: float = 0.1, config: Optional[str] = None,
        budget: Union[float, str, None] = None, n_jobs: Optional[int] = None, verbose: bool = False,
        random_state: Any = None, **settings: "Unpack[EstimatorSettings]",
    ) -> None:  # fmt: skip
        self.guard = guard
        self.validation = validation
        self.config = config
        self.budget = budget
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self._set_settings(dict(settings))

    def _set_settings(self, given: dict[str, Any]) -> None:
        names = {s.keyword for s in _parameters()}
        known = keywords()
        for name in names:
            setattr(self, name, None)
        for name, value in given.items():
            if name not in known or known[name].keyword not in names:
                import difflib

                candidates = [*names, *self._own, *(k for k in known if known[k].keyword in names)]
                near = difflib.get_close_matches(name, candidates, n=1, cutoff=0.0)[0]
                raise TypeError(f"unknown parameter {name!r}; did you mean {near!r}?")
            setattr(self, known[name].keyword, value)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*cls._own, *(s.keyword for s in _parameters())])

    @property
    def _threads(self) -> int:
        """As scikit-learn counts them: None is one, or what a parallel_backend says; -1 all."""
        return int(_joblib.effective_n_jobs(self.n_jobs))

    def _settings(self) -> dict[str, Any]:
        values = {s.keyword: getattr(self, s.keyword) for s in _parameters()}
        if self.random_state is not None:
            seed = self.random_state
            if not isinstance(seed, (int, np.integer)):
                seed = _utils.check_random_state(seed).randint(2**31 - 1)
            for name in values:  # what is set by its own name stays
                if name.endswith("_seed") and values[name] is None:
                    values[name] = int(seed)
        share = self.validation
        if isinstance(share, bool) or not isinstance(share, Real) or not 0.01 <= share <= 0.98:
            raise Error(f"validation={share!r}: give a share of the series from 0.01 to 0.98")
        values["data_validation"] = share - _NO_TEST
        values["data_train"] = 1.0 - self.validation
        return values

    def _fit_model(self, X: Dataset) -> Model:
        """Trains; after Ctrl-C the estimator keeps the best of the whole epochs."""
        values = self._settings()
        try:
            return Model.train(
                X, config=self.config, budget=self.budget, threads=self._threads,
                progress=self.verbose or False,
                **{k: v for k, v in values.items() if not k.startswith(_LATER)},
            )  # fmt: skip
        except KeyboardInterrupt as e:
            model = getattr(e, "model", None)
            if model is not None:
                self.model_ = model
                self.n_features_in_ = len(model.features)
            raise

    def _fitted(self) -> Model:
        _validation.check_is_fitted(self, "model_")
        model: Model = self.model_
        return model


def _parameters() -> list[Any]:
    """Settings that are parameters; the shares of the split are ``validation``."""
    return [s for s in settings() if s.key not in ("data.train", "data.validation")]


def _checked(X: Any, model: Optional[Model] = None) -> Dataset:
    """The series; a table of them is read as the model's training data were or, for training, with the
    usual names of columns."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        if model is not None:
            X = model._given(X)
        else:
            names = [str(name) for name in X.columns]
            own = {name: name for name in ("label", "group") if name in names}
            X = Dataset.from_frame(X, **own)  # type: ignore[arg-type]
    if not isinstance(X, Dataset):
        raise TypeError(
            f"X is a {type(X).__name__}; give an edict.Dataset, as from Dataset.from_frame or "
            "Dataset.from_numpy3d, or a DataFrame with columns id and time"
        )
    if len(X) == 0:
        raise ValueError("X has no series")
    return X


class EdictForecaster(_Edict):
    """Distributions at later times. ``score`` is minus the mean negative log-likelihood of what it
    could not see: higher is better.

    >>> import edict
    >>> data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
    >>> forecaster = EdictForecaster(epochs=2, hidden=8, batch=16, ahead=[1.0]).fit(data)
    >>> forecaster.predict(data[:5])
    Forecast(5 series, 1 time, 2 features)
    """

    _own = (*_Edict._own, "ahead", "at")

    def __init__(
        self, *, ahead: Optional[Sequence[float]] = None, at: Optional[Sequence[float]] = None,
        **parameters: "Unpack[_Parameters]",
    ) -> None:  # fmt: skip
        self.ahead = ahead
        self.at = at
        super().__init__(**parameters)

    def fit(self, X: Dataset, y: Any = None) -> "EdictForecaster":
        """Trains a model on the series."""
        self.model_ = self._fit_model(_checked(X))
        self.n_features_in_ = len(self.model_.features)
        return self

    def predict(self, X: Dataset, at: Any = None, *, ahead: Any = None) -> Forecast:
        """At these times, or at those of the constructor."""
        model = self._fitted()
        if at is None and ahead is None:
            at, ahead = self.at, self.ahead
        return model.predict(
            _checked(X, model), at, ahead=ahead, guard=self.guard, threads=self._threads
        )

    def predict_interval(
        self, X: Dataset, level: float = 0.9, **times: Any
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The bounds of the central interval that holds a share ``level``."""
        return self.predict(X, **times).interval(level)

    def predict_quantiles(
        self, X: Dataset, quantiles: Sequence[float] = (0.1, 0.5, 0.9), **times: Any
    ) -> npt.NDArray[np.float64]:
        """Quantiles, with one more axis at the end."""
        return self.predict(X, **times).quantile(quantiles)

    def predict_var(self, X: Dataset, **times: Any) -> npt.NDArray[np.float64]:
        """The variance of the prediction."""
        return self.predict(X, **times).variance

    def score(self, X: Dataset, y: Any = None) -> float:
        """Minus the mean negative log-likelihood of what the model could not see."""
        model = self._fitted()
        result = model.evaluate(
            _checked(X, model), "all", guard=self.guard, threads=self._threads
        )
        tasks = [result[task] for task in ("interpolation", "extrapolation") if result[task]]
        if not tasks:
            raise Error("there is nothing to judge in these series")
        return -float(np.mean([task["nll"]["mean"] for task in tasks]))


class _Vectors:
    """The methods of a transformer, outside of the class that scikit-learn would wrap: its wrapper takes a
    row of X for a row of the result, and X may be a table with many rows a series."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """:meth:`fit`, and the vectors of the same series."""
        return self.fit(X, y).transform(X)  # type: ignore[attr-defined]

    def transform(self, X: Any) -> Any:
        """[series × hidden]; after ``set_output(transform="pandas")`` a DataFrame with the ids as its index."""
        model = self._fitted()  # type: ignore[attr-defined]
        data = _checked(X, model)
        states = model.encode(data, guard=self.guard, threads=self._threads)  # type: ignore[attr-defined]
        asked = getattr(self, "_sklearn_output_config", {}).get("transform")
        if (asked or _sklearn.get_config().get("transform_output", "default")) == "default":
            return states
        pd = compat.pandas()
        return pd.DataFrame(states, index=pd.Index(data.ids), columns=self.get_feature_names_out())  # type: ignore[attr-defined]


class EdictEncoder(_Vectors, _base.TransformerMixin, _Edict):  # type: ignore[misc, name-defined]
    """Series as vectors: the model's state after everything observed. For pipelines.

    >>> import edict
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = edict.Dataset.from_frame(edict.waves(series=60), label="label")
    >>> pipe = make_pipeline(EdictEncoder(epochs=2, hidden=8, batch=16), LogisticRegression())
    >>> pipe.fit(data, data.labels).predict(data[:4]).shape
    (4,)
    """

    def fit(self, X: Dataset, y: Any = None) -> "EdictEncoder":
        """Trains a model on the series."""
        self.model_ = self._fit_model(_checked(X))
        self.n_features_in_ = len(self.model_.features)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """h0, h1, …"""
        return np.array([f"h{i}" for i in range(self._fitted().hidden)], dtype=object)


class EdictClassifier(_base.ClassifierMixin, _Edict):  # type: ignore[misc, name-defined]
    """Classes of series. ``y`` are their labels; without it, those of the dataset.

    The distribution is learnt first and the classes on top of it (``classify_fine_tune`` lets the
    whole model follow the classes); kinds without a distribution (``kind="gru-d"``) learn the classes
    at once. A ``guard`` is used when classes are asked for, not in training.
    """

    def fit(self, X: Dataset, y: Any = None) -> "EdictClassifier":
        """Trains a model and the classes. ``y``: one label a series, in the order of X; a Series whose index
        holds the ids goes by those."""
        data = _checked(X)
        if y is not None:
            data = data.with_labels(_column(y))
        missing = data.arrays["labels"] < 0
        if missing.all():
            raise ValueError("no series has a label; give y, or label= where the dataset is made")
        if missing.any():
            warn(
                f"{int(missing.sum())} of {len(data)} series have no label; the classes are learnt from "
                "the others")
        try:
            self.classes_ = np.unique(data[~missing].labels)
        except TypeError as e:
            raise ValueError(f"y holds labels of types that have no order: {e}") from None
        if len(self.classes_) < 2:
            raise ValueError("y has a single class; at least two are needed")
        model = self._fit_model(data)
        if model.has_distribution:
            values = {k: v for k, v in self._settings().items() if k.startswith(_LATER)}
            model = model.classify(data, threads=self._threads, progress=False, **values)
        self.model_ = model
        self.n_features_in_ = len(model.features)
        names = [text_of(v) for v in objects_of(self.classes_)]
        self._order = np.array([model._info["classes"].index(name) for name in names])
        return self

    def predict_proba(self, X: Dataset) -> npt.NDArray[np.float64]:
        """[series × classes], in the order of ``classes_``."""
        model = self._fitted()
        probabilities = model.class_probabilities(
            _checked(X, model), guard=self.guard, threads=self._threads
        )
        return probabilities[:, self._order]

    def predict(self, X: Dataset) -> npt.NDArray[Any]:
        """The likeliest class of each series."""
        best = self.predict_proba(X).argmax(axis=1)
        result: npt.NDArray[Any] = self.classes_[best]
        return result


def _column(y: Any) -> Any:
    """One label a series; a column of one is one as well."""
    if hasattr(y, "iloc") and getattr(y, "ndim", 1) == 2:
        y = y.iloc[:, 0] if y.shape[1] == 1 else y
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        y = y[:, 0]
    return y


def _describe(cls: Any, own: dict[str, inspect.Parameter]) -> None:
    """A signature that names every parameter, for help() and for editors."""
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *own.values()]
    parameters += [
        inspect.Parameter(s.keyword, inspect.Parameter.KEYWORD_ONLY, default=None)
        for s in _parameters()
    ]
    cls.__init__.__signature__ = inspect.Signature(parameters)


def _keyword_only(function: Any) -> dict[str, inspect.Parameter]:
    return {
        name: p
        for name, p in inspect.signature(function).parameters.items()
        if p.kind is inspect.Parameter.KEYWORD_ONLY
    }


_shared = _keyword_only(_Edict.__init__)
_describe(EdictForecaster, {**_keyword_only(EdictForecaster.__init__), **_shared})
_describe(_Edict, _shared)

__all__ = ["EdictClassifier", "EdictEncoder", "EdictForecaster", "Guard"]
