"""GRU-ODE-Bayes (De Brouwer et al. 2019) in plain PyTorch, named and shaped like our model files.

A batch of series is stepped together, each on its own clock: ceil(gap/step) equal Euler steps to its
next event. Works in float32 and float64 (`model.double()`).
"""
import math

import torch
from torch import nn


def linear(inputs, outputs):
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.constant_(layer.bias, 0.05)
    return layer


class Drift(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.w_r, self.w_z, self.w_u = (
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden, hidden))) for _ in range(3))

    def forward(self, h):
        r, z = torch.sigmoid(h @ self.w_r.T), torch.sigmoid(h @ self.w_z.T)
        return (1 - z) * (torch.tanh((r * h) @ self.w_u.T) - h)


class Encoder(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features, 4, width) * math.sqrt(2 / (4 + width)))
        self.bias = nn.Parameter(torch.full((features, width), 0.1))

    def forward(self, v, mask):  # B x D x 4, B x D
        q = torch.relu(torch.einsum("bdi,diq->bdq", v, self.weight) + self.bias)
        return (q * mask[:, :, None]).flatten(1)


class Jump(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        bound = 1 / math.sqrt(hidden)
        for name, shape in (("w_ih", (3 * hidden, inputs)), ("w_hh", (3 * hidden, hidden)),
                            ("b_ih", (3 * hidden,)), ("b_hh", (3 * hidden,))):
            self.register_parameter(name, nn.Parameter(torch.empty(shape).uniform_(-bound, bound)))

    def forward(self, x, h):
        return torch.gru_cell(x, h, self.w_ih, self.w_hh, self.b_ih, self.b_hh)


def gaussian_nll(mu, log_var, x):
    return 0.5 * (math.log(2 * math.pi) + log_var + (x - mu) ** 2 * torch.exp(-log_var))


def bayes_kl(mu, log_var, mu_post, log_var_post, x, std):
    """KL(N(mu, var) updated by an observation x of deviation std || N(mu_post, var_post))."""
    var = 1 / (torch.exp(-log_var) + 1 / std**2)
    mean = var * (mu * torch.exp(-log_var) + x / std**2)
    ratio = var * torch.exp(-log_var_post)
    return 0.5 * (ratio - 1 - torch.log(ratio) + (mean - mu_post) ** 2 * torch.exp(-log_var_post))


class GruOdeBayes(nn.Module):
    def __init__(self, features, covariates, hidden=50, head_hidden=25, encoder_width=25, step=0.05,
                 observation_std=0.01):
        super().__init__()
        self.step, self.std = step, observation_std
        self.init = nn.ModuleList([linear(max(1, covariates), hidden), linear(hidden, hidden)])
        self.ode = Drift(hidden)
        self.encoder = Encoder(features, encoder_width)
        self.update = Jump(features * encoder_width, hidden)
        self.head = nn.ModuleDict({"moments": nn.ModuleList(
            [linear(hidden, head_hidden), linear(head_hidden, 2 * features)])})

    def moments(self, h):
        first, second = self.head["moments"]
        return second(torch.relu(first(h))).chunk(2, dim=1)

    def forward(self, start, times, values, mask, covariates):
        """times: B x E (an absent event repeats the last time), values, mask: B x E x D.
        Sums of the negative log-likelihood and the KL over all observations."""
        h = torch.tanh(self.init[1](torch.relu(self.init[0](covariates))))
        now, nll, kl = start, 0.0, 0.0
        for e in range(times.shape[1]):
            gap = times[:, e] - now
            steps = torch.where(gap > 0, torch.ceil(gap / self.step - 1e-6).clamp(min=1),
                                torch.zeros_like(gap))
            dt = gap / steps.clamp(min=1)
            for k in range(int(steps.max())):
                h = h + torch.where(k < steps, dt, torch.zeros_like(dt))[:, None] * self.ode(h)
            now, x, seen = times[:, e], values[:, e], mask[:, e]
            mu, log_var = self.moments(h)
            nll = nll + (gaussian_nll(mu, log_var, x) * seen).sum()
            v = torch.stack([x, mu, log_var, (x - mu) * torch.exp(-log_var / 2)], dim=2)
            jumped = self.update(self.encoder(v, seen), h)
            h = torch.where(seen.any(dim=1, keepdim=True), jumped, h)
            mu_post, log_var_post = self.moments(h)
            kl = kl + (bayes_kl(mu, log_var, mu_post, log_var_post, x, self.std) * seen).sum()
        return nll, kl
