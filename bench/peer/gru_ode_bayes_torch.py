"""GRU-ODE-Bayes (De Brouwer et al. 2019) in plain PyTorch, named and shaped like our model files."""
import math

import torch
from torch import nn

from jump_ode_torch import JumpOde
from layers_torch import linear


def gaussian_nll(mu, log_var, x):
    return 0.5 * (math.log(2 * math.pi) + log_var + (x - mu) ** 2 * torch.exp(-log_var))


def bayes_kl(mu, log_var, mu_post, log_var_post, x, std):
    """KL(N(mu, var) updated by an observation x of deviation std || N(mu_post, var_post))."""
    var = 1 / (torch.exp(-log_var) + 1 / std**2)
    mean = var * (mu * torch.exp(-log_var) + x / std**2)
    ratio = var * torch.exp(-log_var_post)
    return 0.5 * (ratio - 1 - torch.log(ratio) + (mean - mu_post) ** 2 * torch.exp(-log_var_post))


class GruOdeBayes(JumpOde):
    def __init__(self, features, covariates, hidden=50, head_hidden=25, encoder_width=25, step=0.05,
                 observation_std=0.01, kl=1e-4):
        super().__init__(features, covariates, hidden, encoder_width, "euler", step)
        self.std, self.kl = observation_std, kl
        self.head = nn.ModuleDict({"moments": nn.ModuleList(
            [linear(hidden, head_hidden), linear(head_hidden, 2 * features)])})

    def expected(self, h):
        first, second = self.head["moments"]
        return second(torch.relu(first(h))).chunk(2, dim=1)

    def jump(self, h, p, x, mask):
        mu, log_var = p
        v = torch.stack([x, mu, log_var, (x - mu) * torch.exp(-log_var / 2)], dim=2)
        return self.update(self.encoder(v, mask), h)

    def nll(self, p, x, mask):
        return (gaussian_nll(*p, x) * mask).sum()

    def event(self, h, x, mask, absorb=True):
        """The parts are nll and kl."""
        pre = self.expected(h)
        nll = self.nll(pre, x, mask)
        if not absorb:
            return h, torch.stack([nll, torch.zeros_like(nll)])
        h = self.jump(h, pre, x, mask)
        kl = (bayes_kl(*pre, *self.expected(h), x, self.std) * mask).sum()
        return h, torch.stack([nll, kl])

    def total(self, parts):
        return parts[0] + self.kl * parts[1]
