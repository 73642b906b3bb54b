"""What EDICT and GRU-ODE-Bayes share, in plain PyTorch: a GRU-ODE between events and a GRU jump at
them. The head, its jump and the losses are the subclass's.

Modules, parameter names, shapes and gate order are those of our model files, so a dict of tensors
can be exchanged with `load_state_dict` / `state_dict`. Three ways through the data:

  walk_series   one series on its own clock, any times: full steps from the last absorbed event on
                and a shorter one that ends where the state is wanted; what is only scored is
                reached beside the series' own way
  walk_grid     a batch on a common grid, as GRU-ODE-Bayes does it: every series of the batch steps
                together, those observed at a grid point jump
  walk_events   a batch event by event: the k-th events of all series together, each reached in the
                steps that walk_series takes; also how many streams are served in batches

On grid times all are the same mathematics. At each event they call `event` (all that training needs)
or what is given instead: `score` (evaluation) or `absorb` (a stream). Runs in float32 and float64 (`model.double()`).
"""
import dataclasses
import math

import torch
from torch import nn
from torch.nn import functional

from layers_torch import GruCell, linear


@dataclasses.dataclass
class Event:
    time: float
    values: dict  # feature -> value
    absorb: bool = True  # False: scored only, a forecast


@dataclasses.dataclass
class Series:
    covariates: list
    events: list
    start: float = 0.0


class GruOde(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        for name in ("w_r", "w_z", "w_u"):
            self.register_parameter(
                name, nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden, hidden))))

    def forward(self, h):
        r, z = torch.sigmoid(h @ self.w_r.T), torch.sigmoid(h @ self.w_z.T)
        u = torch.tanh((r * h) @ self.w_u.T)
        return (1 - z) * (u - h)


class ClosedForm(nn.Module):
    """Pairs that turn and fade, and units that relax; the state after any time in one formula."""

    def __init__(self, hidden):
        super().__init__()
        self.pairs = hidden // 4
        relaxing = hidden - 2 * self.pairs
        for name, size in (("decay", self.pairs), ("frequency", self.pairs), ("rate", relaxing),
                           ("rest", relaxing)):
            self.register_parameter(name, nn.Parameter(torch.randn(size)))

    def forward(self, h, gap):
        decay, frequency, rate = (functional.softplus(p, threshold=50)
                                  for p in (self.decay, self.frequency, self.rate))
        p = self.pairs
        z = torch.complex(h[:, :p], h[:, p:2 * p])
        z = z * torch.exp(torch.complex(-decay, 2 * math.pi * frequency) * gap)
        g = self.rest + (h[:, 2 * p:] - self.rest) * torch.exp(-rate * gap)
        return torch.cat([z.real, z.imag, g], dim=1)


class Encoder(nn.Module):
    """relu(v W_j + b_j) of the four numbers v of each feature j, zero where j was not observed."""

    def __init__(self, features, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features, 4, width) * math.sqrt(2 / (4 + width)))
        self.bias = nn.Parameter(torch.full((features, width), 0.1))

    def forward(self, inputs, mask):  # B x D x 4, B x D
        q = torch.relu(torch.einsum("bdi,diq->bdq", inputs, self.weight) + self.bias)
        return (q * mask[:, :, None]).flatten(1)


class JumpOde(nn.Module):
    def __init__(self, features, covariates, hidden, encoder_width, solver, step,
                 propagator="gru-ode"):
        super().__init__()
        self.features, self.covariates, self.solver, self.dt = features, covariates, solver, step
        self.init = nn.ModuleList([linear(max(1, covariates), hidden), linear(hidden, hidden)])
        self.ode = ClosedForm(hidden) if propagator == "closed-form" else GruOde(hidden)
        self.encoder = Encoder(features, encoder_width)
        self.update = GruCell(features * encoder_width, hidden)

    def expected(self, h):
        """The distribution p that the head reads from h."""
        raise NotImplementedError

    def jump(self, h, p, x, mask):
        """h after the observations, which p was expected of."""
        raise NotImplementedError

    def nll(self, p, x, mask):
        raise NotImplementedError

    def event(self, h, x, mask, absorb=True):
        """Scores the observations and absorbs them: h after, and the sums of the parts of the loss."""
        raise NotImplementedError

    def total(self, parts):
        raise NotImplementedError

    def score(self, h, x, mask, absorb=True):
        """An `event` of which only the likelihood is wanted: no KL, no head after the jump."""
        p = self.expected(h)
        return (self.jump(h, p, x, mask) if absorb else h), self.nll(p, x, mask)

    def absorb(self, h, x, mask):
        """An `event` of which only the state is wanted."""
        return self.jump(h, self.expected(h), x, mask), 0.0

    def initial(self, covariates):
        return torch.tanh(self.init[1](torch.relu(self.init[0](covariates))))

    def step(self, h, dt):
        k1 = self.ode(h)
        if self.solver == "euler":
            return h + dt * k1
        k2 = self.ode(h + dt / 2 * k1)
        if self.solver == "midpoint":
            return h + dt * k2
        assert self.solver in ("rk4", "exact"), self.solver
        k3 = self.ode(h + dt / 2 * k2)
        k4 = self.ode(h + dt * k3)
        return h + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def step_lengths(self, gap):
        """On a clock of its own: full steps, and what is left in one. "exact" stands for a solver
        whose error is below what is compared: classical Runge-Kutta in very short steps."""
        if gap <= 0:
            return []
        step = 1e-3 if self.solver == "exact" else self.dt
        steps = max(1, math.ceil(gap / step - 1e-6))
        return [step] * (steps - 1) + [gap - (steps - 1) * step]

    def advance(self, h, gap):
        if isinstance(self.ode, ClosedForm):
            return self.ode(h, gap)
        for dt in self.step_lengths(gap):
            h = self.step(h, dt)
        return h

    def like(self):
        return dict(dtype=self.encoder.weight.dtype, device=self.encoder.weight.device)

    def covariate_row(self, series):
        return series.covariates if self.covariates else [0.0]

    def row(self, values):
        """One series' observed values and mask, 1 x D each."""
        x = torch.zeros(1, self.features, **self.like())
        mask = torch.zeros_like(x)
        for feature, value in values.items():
            x[0, feature], mask[0, feature] = value, 1
        return x, mask

    def walk_series(self, series, event=None):
        h = self.initial(torch.tensor([self.covariate_row(series)], **self.like()))
        parts, now = 0.0, series.start
        for e in series.events:
            there, added = (event or self.event)(self.advance(h, e.time - now), *self.row(e.values),
                                                 e.absorb)
            parts = parts + added
            if e.absorb:
                h, now = there, e.time
        return h, parts

    def walk_grid(self, batch, event=None):
        h = self.initial(batch.covariates)
        parts, now = 0.0, 0
        for point, rows, x, mask in batch.points:
            for _ in range(point - now):
                h = self.step(h, self.dt)
            h_observed, added = (event or self.event)(h[rows], x, mask)
            h = h.index_copy(0, rows, h_observed)
            parts, now = parts + added, point
        return h, parts

    def walk_events(self, batch, event=None):
        h = self.initial(batch.covariates)
        parts = 0.0
        for rows, lengths, x, mask in batch.rounds:
            moving, arrived = h[rows], []
            for dt in lengths:  # of the first series, which have the farthest to go
                if len(dt) < len(moving):
                    arrived.append(moving[len(dt):])
                    moving = moving[:len(dt)]
                moving = self.step(moving, dt)
            there, added = (event or self.event)(torch.cat([moving, *reversed(arrived)]), x, mask)
            h = h.index_copy(0, rows, there)
            parts = parts + added
        return h, parts


class GridBatch:
    """Series that start at 0, their events sorted into the points of the common grid."""

    def __init__(self, model, many):
        self.covariates = torch.tensor([model.covariate_row(s) for s in many], **model.like())
        self.observations = 0
        points = {}
        for row, series in enumerate(many):
            assert series.start == 0
            for event in series.events:
                point = round(event.time / model.dt)
                assert event.absorb and abs(point * model.dt - event.time) < 1e-5, event.time
                points.setdefault(point, []).append((row, event.values))
                self.observations += len(event.values)
        self.points = []
        for point in sorted(points):
            rows = torch.tensor([row for row, _ in points[point]])
            x, mask = (torch.cat(parts) for parts in zip(*(model.row(v) for _, v in points[point])))
            self.points.append((point, rows, x, mask))


class EventBatch:
    """Round k is the k-th event of every series that has one, those with the most steps to it first."""

    def __init__(self, model, many):
        self.covariates = torch.tensor([model.covariate_row(s) for s in many], **model.like())
        self.rounds = []
        for k in range(max(len(s.events) for s in many)):
            found = []
            for row, series in enumerate(many):
                if k < len(series.events):
                    event, before = series.events[k], series.events[k - 1].time if k else series.start
                    assert event.absorb
                    found.append((row, model.step_lengths(event.time - before), event.values))
            found.sort(key=lambda f: -len(f[1]))
            lengths = [torch.tensor([[steps[i]] for _, steps, _ in found if i < len(steps)], **model.like())
                       for i in range(len(found[0][1]))]
            x, mask = (torch.cat(parts) for parts in zip(*(model.row(v) for _, _, v in found)))
            self.rounds.append((torch.tensor([row for row, _, _ in found]), lengths, x, mask))


def adam(model, learning_rate):
    return torch.optim.Adam(model.parameters(), lr=learning_rate)


def mean_loss(model, batch):
    """Per observation."""
    return model.total(model.walk_grid(batch)[1]) / batch.observations


def train_step(model, optimiser, batch, clip):
    """One step on the loss per observation, each gradient entry clipped to +-clip; the loss before."""
    optimiser.zero_grad()
    loss = mean_loss(model, batch)
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), clip)
    optimiser.step()
    return loss.item()
