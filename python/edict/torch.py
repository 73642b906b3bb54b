"""A trained model as a plain PyTorch module: to look inside, to differentiate, to build on.

Written for clarity, one series at a time; for speed ask the model itself. Parameters have the names
and shapes of the model file.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from . import compat
from ._native import Error
from .model import Model

_torch = compat.needed("torch", "to_torch")
nn = _torch.nn


_KNOWN: dict[str, tuple[Any, ...]] = {
    "model.kind": ("edict",), "model.propagator": ("gru-ode", "closed-form"),
    "model.solver": ("euler", "midpoint", "rk4"), "model.absorb": ("raw", "bounded", "score"),
}  # fmt: skip
_AGE_UNIT = 0.25  # of the shortest time scale
_FARTHEST_SCALE = 2.0  # of the logarithm of a scale over the usual one, in a calibration
_LEAST_DOF, _LOG_DOF = 2.1, (-2.0, 6.0)  # of a calibration, and of the logarithm of what exceeds it
_LEAST = -11.5  # of the logarithm of a squared scale that is recalled

Distribution = tuple[Any, Any, Any, Any, Any]  # mean, aleatoric, epistemic, scale and dof


def tensors_of(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors of a model file by name, and its metadata."""
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    meta = json.loads(header.pop("__metadata__")["edict"])
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        raw = np.frombuffer(content[8 + size + first : 8 + size + last], dtype="<f4")
        tensors[name] = _torch.from_numpy(raw.reshape(entry["shape"]).copy())
    return tensors, meta


class State(NamedTuple):
    """What there is of a series at a moment, [1 × …] each: the state h, and of every feature how
    long ago it was observed, its last value, and whether it ever was."""

    h: Any
    age: Any
    last: Any
    seen: Any


class Calibration(nn.Module):  # type: ignore[misc, name-defined]
    """The map of each feature that a calibrated model carries: widths and tails of its own."""

    def __init__(self, maps: Sequence[dict[str, Any]], unit: Any) -> None:
        super().__init__()
        # Models of version 1 were calibrated at all horizons alike.
        missing = {"horizon_slope": 0.0, "horizon_unit": 1.0, "farthest": 0.0}
        missing |= {"dof_slope": 0.0, "windows": 0.0}
        for name in ("log_factor", "slope", "reference", "dof", *missing):
            values = _torch.tensor(
                [own.get(name, missing.get(name)) for own in maps], dtype=_torch.float64
            )
            self.register_buffer(name, values * unit if name == "reference" else values)

    def forward(self, told: Distribution, horizon: Any) -> Distribution:
        """``horizon``: of each row, the time since the last event in the model's unit."""
        mean, aleatoric, epistemic, scale, _ = told
        above = _torch.log(scale / self.reference).clamp(-_FARTHEST_SCALE, _FARTHEST_SCALE)
        ahead = _torch.log1p(_torch.minimum(horizon[:, None], self.farthest) / self.horizon_unit)
        scale = scale * _torch.exp(
            self.log_factor + self.slope * above + self.horizon_slope * ahead
        )
        log_dof = _torch.log(self.dof - _LEAST_DOF) + self.dof_slope * ahead
        dof = _LEAST_DOF + _torch.exp(log_dof.clamp(*_LOG_DOF))
        # The map was fitted to so many windows.
        dof = _torch.where(self.windows > 0, dof / (1 + dof / self.windows), dof)
        dof = dof.clamp_min(_LEAST_DOF)
        # The new variance, divided as the old one was.
        factor = scale**2 * dof / (dof - 2) / (aleatoric + epistemic)
        return mean, aleatoric * factor, epistemic * factor, scale, dof


def calibration_of(model: Model) -> Optional[Calibration]:
    """The calibration of a model, of all its members together; None without one."""
    meta = tensors_of(model.to_bytes())[1]
    if "calibration" not in meta:
        return None
    unit = _torch.tensor(meta["standardisation"]["scale"], dtype=_torch.float64)
    return Calibration(meta["calibration"]["features"], unit)


class EdictModule(nn.Module):  # type: ignore[misc, name-defined]
    """h(t) between observations, its jumps at them, and the distribution that is read from it.

    ``forward(times, values, at)`` takes one series in the units of the data, [events] and
    [events × features] with NaN where nothing was observed, and tells mean, aleatoric, epistemic,
    scale and dof at the asked times, [times × features] each, from what came before them.

    Of an ensemble it is one ``member``, counted from 0; :class:`EdictEnsemble` is all of them, and
    is calibrated where the model is: a member by itself is not.
    """

    def __init__(self, model: Model, member: int = 0) -> None:
        super().__init__()
        config = model.config
        for key, known in _KNOWN.items():
            table, name = key.split(".")
            if config[table][name] not in known:
                told = ", ".join(str(k) for k in known)
                raise Error(f"to_torch knows {key} = {told}, not {config[table][name]}")
        settings = config["model"]
        self.propagator: str = settings["propagator"]
        self.solver: str = settings["solver"]
        self.recalls: bool = settings["recall"]
        self.tames: str = settings["absorb"]
        self.bound: float = settings["absorb_bound"]
        shortest = settings["shortest_timescale"]
        self.age_unit = _AGE_UNIT * (settings["step"] if shortest in (None, "auto") else shortest)
        tensors, meta = tensors_of(model.to_bytes())
        least = [
            max(_LEAST, 2 * math.log(scale)) if scale > 0 else _LEAST
            for scale in meta.get("least_scale", [])
        ] or [_LEAST] * len(model.features)
        self.register_buffer("least", _torch.tensor(least))
        for name in ("unchanging", "sporadic"):  # of which nothing is learnt
            listed = [j in meta.get(name, []) for j in range(len(model.features))]
            self.register_buffer(name, _torch.tensor(listed))
        of_member = f"members.{member + 1}." if member else ""
        if not 0 <= member < model._info["members"]:
            raise Error(f"there is no member {member}; the model has {model._info['members']}")
        own = {
            name[len(of_member) :]: tensor
            for name, tensor in tensors.items()
            if name.startswith(of_member) and (member or not name.startswith("members."))
        }
        known = ("init.", "ode.", "encoder.", "update.", "head.", "recall.")
        left_out = ("classifier", "readout")  # classes are not told here
        strange = [name for name in own if not name.startswith((*known, *left_out))]
        if strange:
            raise Error(f"to_torch does not know this model's {', '.join(sorted(strange))}")
        for name, tensor in own.items():
            if name.startswith(known):
                self.register_parameter(name.replace(".", "_"), nn.Parameter(tensor))
        self.step_length: float = settings["step"]
        self.surprise: str = settings["surprise"]
        self.time_unit: float = config["data"]["time_unit"]
        self.start: str = config["data"]["start"]
        self.origin: float = config["data"]["origin"] if self.start == "origin" else 0.0
        self.features = len(model.features)
        self.statics = len(model.statics)
        for name, values in meta["standardisation"].items():
            self.register_buffer(f"z_{name}", _torch.tensor(values, dtype=_torch.float64))
        self.calibration = calibration_of(model) if model._info["members"] == 1 else None

    def _p(self, name: str) -> Any:
        return getattr(self, name.replace(".", "_"))

    def _rate(self, name: str) -> Any:
        """A parameter that stands for a rate, which is never negative."""
        return nn.functional.softplus(self._p(name), threshold=50)

    def _linear(self, name: str, x: Any) -> Any:
        return nn.functional.linear(x, self._p(f"{name}.weight"), self._p(f"{name}.bias"))

    def initial(self, static: Optional[Sequence[float]] = None) -> State:
        """Before any observation."""
        like = self._p("init.0.weight")
        row = _torch.zeros(1, max(1, self.statics), dtype=like.dtype)
        if static is not None and self.statics:
            z = _torch.as_tensor(static, dtype=_torch.float64) - self.z_statics_mean
            row[0] = _torch.nan_to_num(z / self.z_statics_scale, nan=0.0).to(like.dtype)
        h = _torch.tanh(self._linear("init.1", _torch.relu(self._linear("init.0", row))))
        nothing = _torch.zeros(1, self.features, dtype=like.dtype)
        return State(h, nothing, nothing, nothing)

    # ---- between observations --------------------------------------------------------------------

    def derivative(self, h: Any) -> Any:
        """dh/dt between observations."""
        r = _torch.sigmoid(h @ self._p("ode.w_r").T)
        z = _torch.sigmoid(h @ self._p("ode.w_z").T)
        return (1 - z) * (_torch.tanh((r * h) @ self._p("ode.w_u").T) - h)

    def step(self, h: Any, dt: float) -> Any:
        """The state one step of the solver later."""
        k1 = self.derivative(h)
        if self.solver == "euler":
            return h + dt * k1
        k2 = self.derivative(h + dt / 2 * k1)
        if self.solver == "midpoint":
            return h + dt * k2
        k3 = self.derivative(h + dt / 2 * k2)
        return h + dt / 6 * (k1 + 2 * k2 + 2 * k3 + self.derivative(h + dt * k3))

    def closed_form(self, h: Any, gap: float) -> Any:
        """Pairs that turn and fade, and units that relax."""
        pairs = h.shape[1] // 4
        g = h[:, 2 * pairs :]
        rest = self._p("ode.rest")
        g = g + (rest - g) * (1 - _torch.exp(-self._rate("ode.rate") * gap))
        if not pairs:
            return g
        re, im = h[:, :pairs], h[:, pairs : 2 * pairs]
        size = _torch.exp(-self._rate("ode.decay") * gap)
        angle = 2 * math.pi * self._rate("ode.frequency") * gap
        c, s = size * _torch.cos(angle), size * _torch.sin(angle)
        return _torch.cat([re * c - im * s, re * s + im * c, g], dim=1)

    def advance(self, state: State, gap: float) -> State:
        """After a while without observations, in the model's unit of time: for a GRU-ODE full steps
        and the rest, else one move."""
        if gap <= 0:
            return state
        h = state.h
        if self.propagator == "closed-form":
            h = self.closed_form(h, gap)
        else:
            steps = max(1, math.ceil(gap / self.step_length - 1e-6))
            for _ in range(steps - 1):
                h = self.step(h, self.step_length)
            h = self.step(h, gap - (steps - 1) * self.step_length)
        return state._replace(h=h, age=state.age + gap)

    # ---- what is read from it --------------------------------------------------------------------

    def log_age(self, state: State) -> Any:
        """How long ago each feature was observed, as the network has it."""
        return _torch.log1p(state.age / self.age_unit)

    def head(self, state: State) -> tuple[Any, Any, Any, Any]:
        """The Normal-Inverse-Wishart parameters: mu, log psi, lambda and nu."""
        mu, log_psi, lam, nu = (
            self._linear(f"head.{name}.1", _torch.relu(self._linear(f"head.{name}.0", state.h)))
            for name in ("mu", "psi", "lambda", "nu")
        )
        softplus = nn.functional.softplus
        lam, nu = 1 + softplus(lam), self.features + 2 + softplus(nu)
        if self.recalls:
            age = self.log_age(state)
            opening = self._linear("recall.gate", state.h) - self._rate("recall.fall") * age
            gate = _torch.sigmoid(opening) * state.seen
            mu = mu + gate * (state.last - mu)
            above = log_psi + self._rate("recall.growth") * age - self.least
            log_psi = self.least + softplus(above, threshold=50)
            mu = _torch.where(self.unchanging, state.last, mu)
            log_psi = _torch.where(self.unchanging, self.least, log_psi)
            mu = mu.masked_fill(self.sporadic, 0.0)
            log_psi = log_psi.masked_fill(self.sporadic, 0.0)
        return mu, log_psi, lam, nu

    # ---- at an observation -----------------------------------------------------------------------

    def tamed(self, error: Any) -> Any:
        """What is absorbed of an error, in deviations."""
        b = self.bound
        if self.tames == "bounded":
            return b * _torch.tanh(error / b)
        return (b + 1) * error / (b + error * error) if self.tames == "score" else error

    def absorb(self, state: State, values: Any) -> State:
        """After an event; ``values`` [1 × features] are standardised, NaN where not observed."""
        mu, log_psi, lam, nu = self.head(state)
        observed = ~_torch.isnan(values)
        mask = observed.to(state.h.dtype)
        x = _torch.nan_to_num(values, nan=0.0)
        share = 1 / lam if self.surprise == "epistemic" else 1 + 1 / lam
        sigma = _torch.exp(log_psi / 2) * _torch.sqrt(share / (nu - self.features - 1))
        error = self.tamed((x - mu) / sigma)
        if self.tames != "raw":
            x = mu + sigma * error
        inputs = _torch.stack([x, mu, log_psi, error], dim=2)
        q = _torch.einsum("bdi,diq->bdq", inputs, self._p("encoder.weight"))
        q = _torch.relu(q + self._p("encoder.bias")) * mask[:, :, None]
        from_x = nn.functional.linear(q.flatten(1), self._p("update.w_ih"), self._p("update.b_ih"))
        from_h = nn.functional.linear(state.h, self._p("update.w_hh"), self._p("update.b_hh"))
        (x_r, x_z, x_n), (h_r, h_z, h_n) = from_x.chunk(3, 1), from_h.chunk(3, 1)
        r, z = _torch.sigmoid(x_r + h_r), _torch.sigmoid(x_z + h_z)
        h = (1 - z) * _torch.tanh(x_n + r * h_n) + z * state.h

        return State(
            h, _torch.where(observed, _torch.zeros_like(x), state.age),
            _torch.where(observed, x, state.last), _torch.maximum(state.seen, mask),
        )  # fmt: skip

    # ---- the answer ------------------------------------------------------------------------------

    def distribution(self, state: State) -> Distribution:
        """mean, aleatoric, epistemic, scale and dof of every feature, in the data's units."""
        mu, log_psi, lam, nu = (p.double() for p in self.head(state))
        scale = self.z_scale
        aleatoric = _torch.exp(log_psi) / (nu - self.features - 1)
        dof = nu - self.features + 1
        spread = _torch.sqrt(_torch.exp(log_psi) * (1 + 1 / lam) / dof)
        return (
            mu * scale + self.z_mean, aleatoric * scale**2, aleatoric / lam * scale**2,
            spread * scale, dof.expand_as(mu),
        )  # fmt: skip

    def clock(self, time: float) -> float:
        """A time of the data in the model's unit."""
        return (float(time) - self.origin) / self.time_unit

    def forward(
        self, times: Any, values: Any, at: Any, static: Optional[Sequence[float]] = None
    ) -> Distribution:
        """The distributions of one series at some times, given its values up to each."""
        when = [self.clock(t) for t in times]
        like = self._p("init.0.weight")
        rows = _torch.as_tensor(values, dtype=_torch.float64)
        rows = ((rows - self.z_mean) / self.z_scale).to(like.dtype)
        state, now = self.initial(static), 0.0
        if when and self.start != "zero":
            now = when[0] if self.start == "first" else min(0.0, when[0])
        answers = []
        event = 0
        for asked in map(self.clock, at):
            while event < len(when) and when[event] < asked:
                state = self.advance(state, when[event] - now)
                state = self.absorb(state, rows[event : event + 1])
                now = when[event]
                event += 1
            answers.append(self.distribution(self.advance(state, max(asked, now) - now)))
        parts: list[Any] = [_torch.cat(own) for own in zip(*answers)]
        told: Distribution = (parts[0], parts[1], parts[2], parts[3], parts[4])
        if self.calibration is not None:
            told = self.calibration(told, self.horizons(times, at))
        return told

    def horizons(self, times: Any, at: Any) -> Any:
        """How long before each of ``at`` something was observed, in the model's unit of time."""
        when = [self.clock(float(t)) for t in times]
        start = 0.0
        if when and self.start != "zero":
            start = when[0] if self.start == "first" else min(0.0, when[0])
        found = []
        for asked in (self.clock(float(t)) for t in at):
            before = [t for t in when if t < asked]
            found.append(max(0.0, asked - (before[-1] if before else start)))
        return _torch.tensor(found, dtype=_torch.float64)


class EdictEnsemble(nn.Module):  # type: ignore[misc, name-defined]
    """The members of an ensemble, and the Student-t that has the mean and the variance of their
    mixture. Asked as a single module is."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.members = nn.ModuleList(
            [EdictModule(model, member) for member in range(model._info["members"])]
        )
        # A single model's is its module's own.
        self.calibration = calibration_of(model) if model._info["members"] > 1 else None

    def forward(
        self, times: Any, values: Any, at: Any, static: Optional[Sequence[float]] = None
    ) -> Distribution:
        """The distributions of one series at some times, of all members together."""
        told = [member(times, values, at, static) for member in self.members]
        means, aleatorics, epistemics, scales, dofs = (_torch.stack(part) for part in zip(*told))
        mean = means.mean(0)
        disagreement = ((means - mean) ** 2).mean(0)
        aleatoric, epistemic = aleatorics.mean(0), epistemics.mean(0) + disagreement
        squared = (scales**2).mean(0) + disagreement
        variance = aleatoric + epistemic
        # So that scale and degrees of freedom give this variance.
        least = dofs.min(0).values
        dof = _torch.where(least > 2, 2 * variance / (variance - squared), least)
        whole: Distribution = (mean, aleatoric, epistemic, _torch.sqrt(squared), dof)
        if self.calibration is not None:
            first: Any = self.members[0]
            whole = self.calibration(whole, first.horizons(times, at))
        return whole
