"""A trained model as a plain PyTorch module: to look inside, to differentiate, to build on.

Written for clarity, one series at a time; for speed ask the model itself. Parameters have the names
and shapes of the model file.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any, Optional, Sequence

import numpy as np

from . import compat
from ._native import Error
from .model import Model

_torch = compat.needed("torch", "to_torch")
nn = _torch.nn


_KNOWN: dict[str, tuple[Any, ...]] = {
    "model.kind": ("edict",), "model.propagator": ("gru-ode",),
    "model.solver": ("euler", "midpoint", "rk4"), "model.evidence": ("free",),
    "model.absorb": ("raw",), "model.recall": (False,), "model.memory_mask": (False,),
    "model.memory_age": (False,), "model.memory_last": (False,), "model.memory_mean": (False,),
}  # fmt: skip


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


class EdictModule(nn.Module):  # type: ignore[misc, name-defined]
    """h(t) between observations, its jumps at them, and the distribution that is read from it.

    ``forward(times, values, at)`` takes one series in the units of the data, [events] and
    [events × features] with NaN where nothing was observed, and tells mean, aleatoric, epistemic,
    scale and dof at the asked times, [times × features] each, from what came before them.
    """

    def __init__(self, model: Model) -> None:
        super().__init__()
        config = model.config
        for key, known in _KNOWN.items():
            table, name = key.split(".")
            if config[table][name] not in known:
                told = ", ".join(str(k) for k in known)
                raise Error(f"to_torch knows {key} = {told}, not {config[table][name]}")
        if model.info["members"] > 1:
            raise Error("to_torch takes a single model, not an ensemble")
        self.solver = config["model"]["solver"]
        tensors, meta = tensors_of(model.to_bytes())
        known = ("init.", "ode.w_", "encoder.", "update.", "head.", "classifier")
        strange = [name for name in tensors if not name.startswith(known)]
        if strange:
            raise Error(f"to_torch does not know this model's {', '.join(sorted(strange))}")
        for name, tensor in tensors.items():
            self.register_parameter(name.replace(".", "_"), nn.Parameter(tensor))
        self.step_length: float = config["model"]["step"]
        self.surprise: str = config["model"]["surprise"]
        self.time_unit: float = config["data"]["time_unit"]
        self.start: str = config["data"]["start"]
        self.origin: float = config["data"]["origin"] if self.start == "origin" else 0.0
        self.features = len(model.features)
        self.statics = len(model.statics)
        for name, values in meta["standardisation"].items():
            self.register_buffer(f"z_{name}", _torch.tensor(values, dtype=_torch.float64))

    def _p(self, name: str) -> Any:
        return getattr(self, name.replace(".", "_"))

    def _linear(self, name: str, x: Any) -> Any:
        return nn.functional.linear(x, self._p(f"{name}.weight"), self._p(f"{name}.bias"))

    def initial(self, static: Optional[Sequence[float]] = None) -> Any:
        """h before any observation, [1 × hidden]."""
        like = self._p("init.0.weight")
        row = _torch.zeros(1, max(1, self.statics), dtype=like.dtype)
        if static is not None and self.statics:
            z = (_torch.as_tensor(static, dtype=_torch.float64) - self.z_statics_mean)
            row[0] = _torch.nan_to_num(z / self.z_statics_scale, nan=0.0).to(like.dtype)
        return _torch.tanh(self._linear("init.1", _torch.relu(self._linear("init.0", row))))

    def derivative(self, h: Any) -> Any:
        r = _torch.sigmoid(h @ self._p("ode.w_r").T)
        z = _torch.sigmoid(h @ self._p("ode.w_z").T)
        return (1 - z) * (_torch.tanh((r * h) @ self._p("ode.w_u").T) - h)

    def step(self, h: Any, dt: float) -> Any:
        k1 = self.derivative(h)
        if self.solver == "euler":
            return h + dt * k1
        k2 = self.derivative(h + dt / 2 * k1)
        if self.solver == "midpoint":
            return h + dt * k2
        k3 = self.derivative(h + dt / 2 * k2)
        return h + dt / 6 * (k1 + 2 * k2 + 2 * k3 + self.derivative(h + dt * k3))

    def advance(self, h: Any, gap: float) -> Any:
        """h after a while without observations, in the model's unit of time: full steps and the rest."""
        if gap <= 0:
            return h
        steps = max(1, math.ceil(gap / self.step_length - 1e-6))
        for _ in range(steps - 1):
            h = self.step(h, self.step_length)
        return self.step(h, gap - (steps - 1) * self.step_length)

    def head(self, h: Any) -> tuple[Any, Any, Any, Any]:
        """The Normal-Inverse-Wishart parameters: mu, log psi, lambda and nu."""
        mu, psi, lam, nu = (
            self._linear(f"head.{name}.1", _torch.relu(self._linear(f"head.{name}.0", h)))
            for name in ("mu", "psi", "lambda", "nu")
        )
        softplus = nn.functional.softplus
        return mu, psi, 1 + softplus(lam), self.features + 2 + softplus(nu)

    def absorb(self, h: Any, values: Any) -> Any:
        """h after an event; ``values`` [1 × features] are standardised, NaN where not observed."""
        mu, log_psi, lam, nu = self.head(h)
        mask = (~_torch.isnan(values)).to(h.dtype)
        x = _torch.nan_to_num(values, nan=0.0)
        share = 1 / lam if self.surprise == "epistemic" else 1 + 1 / lam
        sigma = _torch.exp(log_psi / 2) * _torch.sqrt(share / (nu - self.features - 1))
        inputs = _torch.stack([x, mu, log_psi, (x - mu) / sigma], dim=2)
        q = _torch.einsum("bdi,diq->bdq", inputs, self._p("encoder.weight"))
        q = _torch.relu(q + self._p("encoder.bias")) * mask[:, :, None]
        weights = (self._p(f"update.{name}") for name in ("w_ih", "w_hh", "b_ih", "b_hh"))
        return _torch.gru_cell(q.flatten(1), h, *weights)

    def distribution(self, h: Any) -> tuple[Any, Any, Any, Any, Any]:
        """mean, aleatoric, epistemic, scale and dof of every feature, in the data's units."""
        mu, log_psi, lam, nu = (p.double() for p in self.head(h))
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
    ) -> tuple[Any, Any, Any, Any, Any]:
        when = [self.clock(t) for t in times]
        like = self._p("init.0.weight")
        rows = _torch.as_tensor(values, dtype=_torch.float64)
        rows = ((rows - self.z_mean) / self.z_scale).to(like.dtype)
        h, now = self.initial(static), 0.0
        if when and self.start != "zero":
            now = when[0] if self.start == "first" else min(0.0, when[0])
        answers = []
        event = 0
        for asked in map(self.clock, at):
            while event < len(when) and when[event] < asked:
                h = self.absorb(self.advance(h, when[event] - now), rows[event : event + 1])
                now = when[event]
                event += 1
            answers.append(self.distribution(self.advance(h, max(asked, now) - now)))
        return tuple(_torch.cat(parts) for parts in zip(*answers))  # type: ignore[return-value]
