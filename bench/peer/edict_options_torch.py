"""EDICT with the options that replace parts of the published model, in plain PyTorch, one series at
a time: a closed form between events, a memory that jump and head are told of, a head that recalls
last values, observations that are absorbed as far as they are plausible, evidence that forgets.
Names and shapes of the parameters are those of our model files.
"""
import dataclasses

import torch
from torch import nn
from torch.nn import functional

from edict_torch import Edict, Niw, Settings, evidence_penalty, niw_kl
from layers_torch import linear

AGE_UNIT = 0.25  # of the shortest time scale
MOST, RESERVE, LEAST = 1 - 1e-4, 3, -11.5


def rate(parameter):
    return functional.softplus(parameter, threshold=50)


@dataclasses.dataclass
class Options(Settings):
    shortest_timescale: float = 0.1
    told: tuple = ()  # of mask, age, last, mean
    recall: bool = False
    absorb: str = "raw"  # or "bounded", "score"
    absorb_bound: float = 3.0
    forgetting: bool = False


@dataclasses.dataclass
class Memory:
    """What is remembered of each feature, as plain numbers."""
    age: torch.Tensor
    last: torch.Tensor
    mean: torch.Tensor
    count: torch.Tensor

    def after(self, gap):
        return dataclasses.replace(self, age=self.age + gap)

    def with_observed(self, x, mask):
        count = self.count + mask
        mean = self.mean + mask * (x - self.mean) / count.clamp(min=1)
        pick = lambda new, old: torch.where(mask > 0, new, old)
        return Memory(pick(torch.zeros_like(x), self.age), pick(x, self.last), mean, count)


class OptionsEdict(Edict):
    def __init__(self, settings):
        super().__init__(settings)
        s, d = settings, settings.features
        inputs = s.hidden + len(s.told) * d
        self.unit = AGE_UNIT * s.shortest_timescale
        for net in self.head.values():
            net[0] = linear(inputs, s.head_hidden)
        if s.told:
            self.memory = nn.Module()
            self.memory.jump = nn.Parameter(torch.randn(3 * s.hidden, len(s.told) * d) / 8)
            if "last" in s.told:
                self.memory.fading = nn.Parameter(torch.randn(d))
        if s.recall:
            self.recall = nn.Module()
            self.recall.gate = linear(inputs, d)
            self.recall.fall = nn.Parameter(torch.randn(d))
            self.recall.growth = nn.Parameter(torch.randn(d))
        if s.forgetting:
            self.evidence = nn.Module()
            self.evidence.prior = nn.Parameter(torch.randn(d))
            self.ode.forgetting = nn.Parameter(torch.randn(d + 2))

    def told(self, memory):
        seen = (memory.count > 0).to(memory.age.dtype)
        made = dict(mask=lambda: seen, age=lambda: torch.log1p(memory.age / self.unit),
                    last=lambda: memory.last * torch.exp(-rate(self.memory.fading) * memory.age) * seen,
                    mean=lambda: memory.mean)
        return torch.cat([made[name]() for name in self.settings.told], dim=1)

    def read(self, h, memory):
        x = torch.cat([h, self.told(memory)], dim=1) if self.settings.told else h
        return x, super().expected(x)

    def conclude(self, x, raw, memory, evidence):
        """The distribution: what the head said, with the evidence there is and what is recalled."""
        p, d = raw, self.features
        if self.settings.forgetting:
            p = Niw(raw.mu, self.evidence.prior + torch.log1p(-evidence[:, :d]), 1 + evidence[:, d],
                    d + 2 + evidence[:, d + 1])
        if self.settings.recall:
            age = torch.log1p(memory.age / self.unit)
            gate = torch.sigmoid(self.recall.gate(x) - rate(self.recall.fall) * age)
            gate = gate * (memory.count > 0)
            p = dataclasses.replace(p, mu=p.mu + gate * (memory.last - p.mu),
                                    log_psi=LEAST + rate(p.log_psi + rate(self.recall.growth) * age
                                                         - LEAST))
        return p

    def gained(self, evidence, raw, mask):
        d = self.features
        share = torch.sigmoid(raw.log_psi - RESERVE) * mask
        scalars = torch.stack([raw.lam - 1, raw.nu - d - 2], dim=1)
        return torch.cat([evidence[:, :d] + (MOST - evidence[:, :d]) * share, evidence[:, d:] + scalars],
                         dim=1)

    def tamed(self, e):
        s = self.settings
        if s.absorb == "bounded":
            return s.absorb_bound * torch.tanh(e / s.absorb_bound)
        return (s.absorb_bound + 1) * e / (s.absorb_bound + e * e) if s.absorb == "score" else e

    def jump_told(self, h, p, x, mask, memory):
        """h after the observations, and what was absorbed of them."""
        share = 1 / p.lam if self.settings.surprise == "epistemic" else 1 + 1 / p.lam
        sigma = torch.exp(p.log_psi / 2) * torch.sqrt(share / p.spare)[:, None]
        e = self.tamed((x - p.mu) / sigma)
        if self.settings.absorb != "raw":
            x = p.mu + sigma * e
        gi = self.encoder(torch.stack([x, p.mu, p.log_psi, e], dim=2), mask) @ self.update.w_ih.T
        if self.settings.told:
            gi = gi + self.told(memory) @ self.memory.jump.T
        gi, gh = gi + self.update.b_ih, h @ self.update.w_hh.T + self.update.b_hh
        (i_r, i_z, i_n), (h_r, h_z, h_n) = gi.chunk(3, 1), gh.chunk(3, 1)
        r, z = torch.sigmoid(i_r + h_r), torch.sigmoid(i_z + h_z)
        n = torch.tanh(i_n + r * h_n)
        return (1 - z) * n + z * h, x

    def walk_series(self, series, event=None):
        s, d = self.settings, self.features
        h = self.initial(torch.tensor([self.covariate_row(series)], **self.like()))
        nothing = torch.zeros(1, d, **self.like())
        memory, evidence = Memory(nothing, nothing, nothing, nothing), torch.zeros(1, d + 2, **self.like())
        parts, now = torch.zeros(3, **self.like()), series.start
        for event in series.events:
            x, mask = self.row(event.values)
            gap = event.time - now
            h_now, memory_now, evidence_now = self.advance(h, gap), memory.after(gap), evidence
            if s.forgetting:
                evidence_now = evidence * torch.exp(-rate(self.ode.forgetting) * gap)
            read, raw = self.read(h_now, memory_now)
            pre = self.conclude(read, raw, memory_now, evidence_now)
            nll, penalty = self.nll(pre, x, mask), evidence_penalty(pre, x, mask).sum()
            kl = torch.zeros_like(nll)
            if event.absorb:
                h, absorbed = self.jump_told(h_now, pre, x, mask, memory_now)
                memory = memory_now.with_observed(absorbed, mask)
                read, raw = self.read(h, memory)
                evidence = self.gained(evidence_now, raw, mask) if s.forgetting else evidence
                kl = niw_kl(pre, self.conclude(read, raw, memory, evidence), x, mask).sum()
                now = event.time
            parts = parts + torch.stack([nll, kl, penalty])
        return h, parts
