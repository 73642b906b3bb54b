"""EDICT in plain PyTorch: the peer that our engine is checked against and timed against."""
import dataclasses
import math

import torch
from torch import nn
from torch.nn import functional

from jump_ode_torch import JumpOde
from layers_torch import linear


@dataclasses.dataclass
class Settings:
    features: int
    covariates: int = 0
    hidden: int = 50
    head_hidden: int = 25
    encoder_width: int = 25
    solver: str = "euler"
    step: float = 0.05
    propagator: str = "gru-ode"  # or "closed-form"
    surprise: str = "epistemic"  # or "predictive"
    kl_form: str = "niw"  # or "gaussian"
    kl_observation_std: float = 1.0
    kl: float = 1e-3
    evidence: float = 0.05


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


# --------------------------------------------------------------------------------------- model


class Edict(JumpOde):
    def __init__(self, settings):
        s = settings
        super().__init__(s.features, s.covariates, s.hidden, s.encoder_width, s.solver, s.step,
                         s.propagator)
        self.settings = settings
        self.head = nn.ModuleDict({
            name: nn.ModuleList([linear(s.hidden, s.head_hidden), linear(s.head_hidden, outputs)])
            for name, outputs in (("mu", s.features), ("psi", s.features), ("lambda", 1), ("nu", 1))})

    def expected(self, h):
        mu, log_psi, lam, nu = (net[1](torch.relu(net[0](h))) for net in self.head.values())
        # The default threshold of softplus, 20, is off by 2e-9: too much in double.
        return Niw(mu, log_psi, 1 + functional.softplus(lam[:, 0], threshold=50),
                   self.features + 2 + functional.softplus(nu[:, 0], threshold=50))

    def jump(self, h, p, x, mask):
        share = 1 / p.lam if self.settings.surprise == "epistemic" else 1 + 1 / p.lam
        sigma = torch.exp(p.log_psi / 2) * torch.sqrt(share / p.spare)[:, None]
        inputs = torch.stack([x, p.mu, p.log_psi, (x - p.mu) / sigma], dim=2)
        return self.update(self.encoder(inputs, mask), h)

    def nll(self, p, x, mask):
        return student_t_nll(p, x, mask).sum()

    def event(self, h, x, mask, absorb=True):
        """The parts are nll, kl and evidence."""
        s = self.settings
        pre = self.expected(h)
        nll, evidence = self.nll(pre, x, mask), evidence_penalty(pre, x, mask).sum()
        if not absorb:
            return h, torch.stack([nll, torch.zeros_like(nll), evidence])
        h = self.jump(h, pre, x, mask)
        post = self.expected(h)
        kl = (niw_kl(pre, post, x, mask) if s.kl_form == "niw"
              else gaussian_kl(pre, post, x, mask, s.kl_observation_std)).sum()
        return h, torch.stack([nll, kl, evidence])

    def total(self, parts):
        return parts[0] + self.settings.kl * parts[1] + self.settings.evidence * parts[2]
