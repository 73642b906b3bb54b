"""EDICT with the options that replace parts of the published model, in plain PyTorch, one series at
a time: a closed form between events, a head that recalls last values, observations that are absorbed
as far as they are plausible.
Names and shapes of the parameters are those of our model files.
"""
import dataclasses

import torch
from torch import nn
from torch.nn import functional

from edict_torch import Edict, Settings, evidence_penalty, niw_kl
from layers_torch import linear

AGE_UNIT = 0.25  # of the shortest time scale
LEAST = -11.5


def rate(parameter):
    return functional.softplus(parameter, threshold=50)


@dataclasses.dataclass
class Options(Settings):
    shortest_timescale: float = 0.1
    recall: bool = False
    absorb: str = "raw"  # or "bounded", "score"
    absorb_bound: float = 3.0


@dataclasses.dataclass
class Memory:
    """What is remembered of each feature, as plain numbers."""
    age: torch.Tensor
    last: torch.Tensor
    seen: torch.Tensor

    def after(self, gap):
        return dataclasses.replace(self, age=self.age + gap)

    def with_observed(self, x, mask):
        pick = lambda new, old: torch.where(mask > 0, new, old)
        return Memory(pick(torch.zeros_like(x), self.age), pick(x, self.last),
                      pick(torch.ones_like(x), self.seen))


class OptionsEdict(Edict):
    def __init__(self, settings):
        super().__init__(settings)
        s, d = settings, settings.features
        self.unit = AGE_UNIT * s.shortest_timescale
        if s.recall:
            self.recall = nn.Module()
            self.recall.gate = linear(s.hidden, d)
            self.recall.fall = nn.Parameter(torch.randn(d))
            self.recall.growth = nn.Parameter(torch.randn(d))

    def read(self, h, memory):
        """The distribution: what the head says, and what it recalls."""
        p = super().expected(h)
        if self.settings.recall:
            age = torch.log1p(memory.age / self.unit)
            gate = torch.sigmoid(self.recall.gate(h) - rate(self.recall.fall) * age) * memory.seen
            p = dataclasses.replace(p, mu=p.mu + gate * (memory.last - p.mu),
                                    log_psi=LEAST + rate(p.log_psi + rate(self.recall.growth) * age
                                                         - LEAST))
        return p

    def tamed(self, e):
        s = self.settings
        if s.absorb == "bounded":
            return s.absorb_bound * torch.tanh(e / s.absorb_bound)
        return (s.absorb_bound + 1) * e / (s.absorb_bound + e * e) if s.absorb == "score" else e

    def absorbed(self, h, p, x, mask):
        """h after the observations, and what was absorbed of them."""
        share = 1 / p.lam if self.settings.surprise == "epistemic" else 1 + 1 / p.lam
        sigma = torch.exp(p.log_psi / 2) * torch.sqrt(share / p.spare)[:, None]
        e = self.tamed((x - p.mu) / sigma)
        if self.settings.absorb != "raw":
            x = p.mu + sigma * e
        gi = self.encoder(torch.stack([x, p.mu, p.log_psi, e], dim=2), mask) @ self.update.w_ih.T
        gi, gh = gi + self.update.b_ih, h @ self.update.w_hh.T + self.update.b_hh
        (i_r, i_z, i_n), (h_r, h_z, h_n) = gi.chunk(3, 1), gh.chunk(3, 1)
        r, z = torch.sigmoid(i_r + h_r), torch.sigmoid(i_z + h_z)
        n = torch.tanh(i_n + r * h_n)
        return (1 - z) * n + z * h, x

    def walk_series(self, series, event=None):
        d = self.features
        h = self.initial(torch.tensor([self.covariate_row(series)], **self.like()))
        nothing = torch.zeros(1, d, **self.like())
        memory = Memory(nothing, nothing, nothing)
        parts, now = torch.zeros(3, **self.like()), series.start
        for event in series.events:
            x, mask = self.row(event.values)
            gap = event.time - now
            h_now, memory_now = self.advance(h, gap), memory.after(gap)
            pre = self.read(h_now, memory_now)
            nll, penalty = self.nll(pre, x, mask), evidence_penalty(pre, x, mask).sum()
            kl = torch.zeros_like(nll)
            if event.absorb:
                h, absorbed = self.absorbed(h_now, pre, x, mask)
                memory = memory_now.with_observed(absorbed, mask)
                kl = niw_kl(pre, self.read(h, memory), x, mask).sum()
                now = event.time
            parts = parts + torch.stack([nll, kl, penalty])
        return h, parts
