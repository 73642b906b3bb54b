"""EDICT in plain PyTorch: the peer that our engine is checked against and timed against.

Modules, parameter names, shapes and gate order are those of our model files, so a dict of tensors
can be exchanged with `load_state_dict` / `state_dict`. Two ways through the data:

  walk_series   one series on its own clock: ceil(gap/step) equal steps to each event, any times
  walk_grid     a batch on a common grid, as GRU-ODE-Bayes does it: every series of the batch steps
                together, those observed at a grid point jump

On grid times both are the same mathematics. Runs in float32 and float64 (`model.double()`).
"""
import dataclasses
import math

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass
class Settings:
    features: int
    covariates: int = 0
    hidden: int = 50
    head_hidden: int = 25
    encoder_width: int = 25
    solver: str = "euler"
    step: float = 0.05
    surprise: str = "epistemic"  # or "predictive"
    kl_form: str = "niw"  # or "gaussian"
    kl_observation_std: float = 1.0
    kl: float = 1e-3
    evidence: float = 0.05


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


@dataclasses.dataclass
class Niw:
    """Normal-Inverse-Wishart parameters, a row a series: mu, log_psi (B x D), lam, nu (B)."""
    mu: torch.Tensor
    log_psi: torch.Tensor
    lam: torch.Tensor
    nu: torch.Tensor

    @property
    def spare(self):  # nu - D - 1
        return self.nu - self.mu.shape[1] - 1

    def log_predictive_variance(self):
        return self.log_psi + (torch.log1p(1 / self.lam) - torch.log(self.spare))[:, None]


# -------------------------------------------------------------------------------------- losses


def student_t_nll(p, x, mask):
    """Exact negative log density of the observed part of each row."""
    m = mask.sum(1)
    d = p.nu - p.mu.shape[1] + 1
    r = (x - p.mu) * mask
    q = p.lam / (1 + p.lam) * (r * r * torch.exp(-p.log_psi)).sum(1)
    return (torch.lgamma(d / 2) - torch.lgamma((d + m) / 2)
            + m / 2 * (math.log(math.pi) + torch.log1p(1 / p.lam))
            + (p.log_psi * mask).sum(1) / 2 + (d + m) / 2 * torch.log1p(q))


def evidence_penalty(p, x, mask):
    return ((p.mu - x).abs() * mask).sum(1) * (p.lam + p.nu)


def over_halves(function, a, m, dim):
    """sum of function(a - i/2) over i < m, for every row; the pi powers of mvlgamma cancel in the KL."""
    i = torch.arange(dim, dtype=a.dtype, device=a.device)
    inside = i < m[:, None]
    arguments = torch.where(inside, a[:, None] - i / 2, torch.ones_like(i))
    return (function(arguments) * inside).sum(1)


def niw_kl(pre, post, x, mask):
    """KL(Bayes update of pre by x || post) on the observed features; Psi is diagonal + rank one."""
    dim, m = pre.mu.shape[1], mask.sum(1)
    lam1, n1, n0 = pre.lam + 1, pre.nu - dim + m + 1, post.nu - dim + m
    c = pre.lam / lam1
    r = (x - pre.mu) * mask
    delta = (pre.mu + r / lam1[:, None] - post.mu) * mask
    inverse_psi = torch.exp(-pre.log_psi) * mask
    psi0 = torch.exp(post.log_psi)
    a = r * inverse_psi
    q = c * (r * a).sum(1)
    shrink = c / (1 + q)
    mahalanobis = (delta * delta * inverse_psi).sum(1) - shrink * (delta * a).sum(1) ** 2
    trace = (psi0 * inverse_psi).sum(1) - shrink * (psi0 * a * a).sum(1)
    log_det_ratio = ((pre.log_psi - post.log_psi) * mask).sum(1) + torch.log1p(q)
    ratio = post.lam / lam1
    return (0.5 * (m * (ratio - 1 - torch.log(ratio)) + post.lam * n1 * mahalanobis
                   + n0 * log_det_ratio + n1 * (trace - m)
                   + (n1 - n0) * over_halves(torch.digamma, n1 / 2, m, dim))
            + over_halves(torch.lgamma, n0 / 2, m, dim) - over_halves(torch.lgamma, n1 / 2, m, dim))


def gaussian_kl(pre, post, x, mask, observation_std):
    """The moment-matched form, feature by feature."""
    var_pre, log_post = torch.exp(pre.log_predictive_variance()), post.log_predictive_variance()
    var = 1 / (1 / var_pre + 1 / observation_std**2)
    mean = var * (pre.mu / var_pre + x / observation_std**2)
    ratio = var * torch.exp(-log_post)
    kl = 0.5 * (ratio - 1 - torch.log(ratio) + (mean - post.mu) ** 2 * torch.exp(-log_post))
    return (kl * mask).sum(1)


# ------------------------------------------------------------------------------------- modules


def linear(inputs, outputs):
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.constant_(layer.bias, 0.05)
    return layer


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


class Encoder(nn.Module):
    """relu([x, mu, log psi, e] W_j + b_j) for each feature j, zero where j was not observed."""

    def __init__(self, features, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features, 4, width) * math.sqrt(2 / (4 + width)))
        self.bias = nn.Parameter(torch.full((features, width), 0.1))

    def forward(self, inputs, mask):  # B x D x 4, B x D
        q = torch.relu(torch.einsum("bdi,diq->bdq", inputs, self.weight) + self.bias)
        return (q * mask[:, :, None]).flatten(1)


class Update(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        bound = 1 / math.sqrt(hidden)
        for name, shape in (("w_ih", (3 * hidden, inputs)), ("w_hh", (3 * hidden, hidden)),
                            ("b_ih", (3 * hidden,)), ("b_hh", (3 * hidden,))):
            self.register_parameter(name, nn.Parameter(torch.empty(shape).uniform_(-bound, bound)))

    def forward(self, x, h):
        return torch.gru_cell(x, h, self.w_ih, self.w_hh, self.b_ih, self.b_hh)


class Edict(nn.Module):
    def __init__(self, settings):
        super().__init__()
        s = self.settings = settings
        self.init = nn.ModuleList([linear(max(1, s.covariates), s.hidden), linear(s.hidden, s.hidden)])
        self.ode = GruOde(s.hidden)
        self.encoder = Encoder(s.features, s.encoder_width)
        self.update = Update(s.features * s.encoder_width, s.hidden)
        self.head = nn.ModuleDict({
            name: nn.ModuleList([linear(s.hidden, s.head_hidden), linear(s.head_hidden, outputs)])
            for name, outputs in (("mu", s.features), ("psi", s.features), ("lambda", 1), ("nu", 1))})

    def initial(self, covariates):
        return torch.tanh(self.init[1](torch.relu(self.init[0](covariates))))

    def niw(self, h):
        mu, log_psi, lam, nu = (net[1](torch.relu(net[0](h))) for net in self.head.values())
        # The default threshold of softplus, 20, is off by 2e-9: too much in double.
        return Niw(mu, log_psi, 1 + functional.softplus(lam[:, 0], threshold=50),
                   self.settings.features + 2 + functional.softplus(nu[:, 0], threshold=50))

    def step(self, h, dt):
        k1 = self.ode(h)
        if self.settings.solver == "euler":
            return h + dt * k1
        k2 = self.ode(h + dt / 2 * k1)
        if self.settings.solver == "midpoint":
            return h + dt * k2
        assert self.settings.solver == "rk4", self.settings.solver
        k3 = self.ode(h + dt / 2 * k2)
        k4 = self.ode(h + dt * k3)
        return h + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def jump(self, h, p, x, mask):
        share = 1 / p.lam if self.settings.surprise == "epistemic" else 1 + 1 / p.lam
        sigma = torch.exp(p.log_psi / 2) * torch.sqrt(share / p.spare)[:, None]
        inputs = torch.stack([x, p.mu, p.log_psi, (x - p.mu) / sigma], dim=2)
        return self.update(self.encoder(inputs, mask), h)

    def event(self, h, x, mask, absorb=True):
        """Scores the observations and absorbs them: h after, and the sums [nll, kl, evidence]."""
        s = self.settings
        pre = self.niw(h)
        nll, evidence = student_t_nll(pre, x, mask).sum(), evidence_penalty(pre, x, mask).sum()
        if not absorb:
            return h, torch.stack([nll, torch.zeros_like(nll), evidence])
        h = self.jump(h, pre, x, mask)
        post = self.niw(h)
        kl = (niw_kl(pre, post, x, mask) if s.kl_form == "niw"
              else gaussian_kl(pre, post, x, mask, s.kl_observation_std)).sum()
        return h, torch.stack([nll, kl, evidence])

    def total(self, parts):
        return parts[0] + self.settings.kl * parts[1] + self.settings.evidence * parts[2]

    def covariate_row(self, series):
        return series.covariates if self.settings.covariates else [0.0]

    def walk_series(self, series):
        like = dict(dtype=self.encoder.weight.dtype, device=self.encoder.weight.device)
        h = self.initial(torch.tensor([self.covariate_row(series)], **like))
        parts = torch.zeros(3, **like)
        now = series.start
        for event in series.events:
            gap = event.time - now
            if gap > 0:
                steps = max(1, math.ceil(gap / self.settings.step - 1e-6))
                for _ in range(steps):
                    h = self.step(h, gap / steps)
            x = torch.zeros(1, self.settings.features, **like)
            mask = torch.zeros_like(x)
            for feature, value in event.values.items():
                x[0, feature], mask[0, feature] = value, 1
            h, added = self.event(h, x, mask, event.absorb)
            parts = parts + added
            now = event.time
        return h, parts

    def walk_grid(self, batch):
        h = self.initial(batch.covariates)
        parts = torch.zeros(3, dtype=h.dtype, device=h.device)
        now = 0
        for point, rows, x, mask in batch.points:
            for _ in range(point - now):
                h = self.step(h, self.settings.step)
            h_observed, added = self.event(h[rows], x, mask)
            h = h.index_copy(0, rows, h_observed)
            parts = parts + added
            now = point
        return h, parts


class GridBatch:
    """Series that start at 0, their events sorted into the points of the common grid."""

    def __init__(self, model, many):
        like = dict(dtype=model.encoder.weight.dtype, device=model.encoder.weight.device)
        self.covariates = torch.tensor([model.covariate_row(s) for s in many], **like)
        self.observations = 0
        points = {}
        for row, series in enumerate(many):
            assert series.start == 0
            for event in series.events:
                point = round(event.time / model.settings.step)
                assert event.absorb and abs(point * model.settings.step - event.time) < 1e-6, event.time
                points.setdefault(point, []).append((row, event.values))
                self.observations += len(event.values)
        self.points = []
        for point in sorted(points):
            rows = torch.tensor([row for row, _ in points[point]])
            x = torch.zeros(len(rows), model.settings.features, **like)
            mask = torch.zeros_like(x)
            for i, (_, values) in enumerate(points[point]):
                for feature, value in values.items():
                    x[i, feature], mask[i, feature] = value, 1
            self.points.append((point, rows, x, mask))


def adam(model, learning_rate):
    return torch.optim.Adam(model.parameters(), lr=learning_rate)


def train_step(model, optimiser, batch, clip):
    """One step on the loss per observation, each gradient entry clipped to +-clip; the loss before."""
    optimiser.zero_grad()
    _, parts = model.walk_grid(batch)
    loss = model.total(parts) / batch.observations
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), clip)
    optimiser.step()
    return loss.item()
