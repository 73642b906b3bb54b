"""Writes losses.json: random events with every loss and gradient of src/evidential.

The implementation here is the textbook one, dense and slow: torch in double with autograd,
logdet and inverse of the full Bayes matrix, torch.mvlgamma; the Student-t density also from scipy.
Run: python3 write_golden.py
"""
import json
import math
import pathlib

import numpy
import scipy.stats
import torch

torch.set_default_dtype(torch.float64)


def niw(rng, dim, spread, evidence):
    values = dict(
        mu=rng.normal(0, 1, dim), log_psi=rng.normal(0, spread, dim),
        **{"lambda": 1 + evidence * rng.exponential(), "nu": dim + 2 + evidence * rng.exponential()})
    return {k: torch.tensor(v, requires_grad=True) for k, v in values.items()}


def student_t_nll(p, o, x):
    d = p["nu"] - len(p["mu"]) + 1
    m = len(o)
    scale = torch.diag(p["log_psi"].exp()[o]) * (1 + p["lambda"]) / (p["lambda"] * d)
    r = x - p["mu"][o]
    quadratic = r @ torch.linalg.inv(scale) @ r
    log_density = (torch.lgamma((d + m) / 2) - torch.lgamma(d / 2) - m / 2 * torch.log(d * math.pi)
                   - torch.logdet(scale) / 2 - (d + m) / 2 * torch.log(1 + quadratic / d))
    direct = scipy.stats.multivariate_t(p["mu"][o].detach().numpy(), scale.detach().numpy(),
                                        d.item()).logpdf(x.numpy())
    return -log_density, -direct


def multivariate_digamma(a, m):
    return sum(torch.digamma(a - i / 2) for i in range(m))


def niw_kl(pre, post, o, x):
    m, dim = len(o), len(pre["mu"])
    r = x - pre["mu"][o]
    lam1, n1 = pre["lambda"] + 1, pre["nu"] - (dim - m) + 1
    mu1 = (pre["lambda"] * pre["mu"][o] + x) / lam1
    psi1 = torch.diag(pre["log_psi"].exp()[o]) + pre["lambda"] / lam1 * torch.outer(r, r)
    lam0, n0, mu0 = post["lambda"], post["nu"] - (dim - m), post["mu"][o]
    psi0 = torch.diag(post["log_psi"].exp()[o])
    inverse = torch.linalg.inv(psi1)
    delta = mu1 - mu0
    return ((m * (lam0 / lam1 - 1 + torch.log(lam1 / lam0)) + lam0 * n1 * delta @ inverse @ delta) / 2
            - n0 / 2 * (torch.logdet(psi0) - torch.logdet(psi1))
            + n1 / 2 * (torch.trace(psi0 @ inverse) - m)
            + torch.mvlgamma(n0 / 2, m) - torch.mvlgamma(n1 / 2, m)
            + (n1 - n0) / 2 * multivariate_digamma(n1 / 2, m))


def bayes_kl(mu_pre, var_pre, mu_post, var_post, x, std):
    var = 1 / (1 / var_pre + 1 / std**2)
    mean = var * (mu_pre / var_pre + x / std**2)
    normal = torch.distributions.Normal
    return torch.distributions.kl_divergence(normal(mean, var.sqrt()),
                                             normal(mu_post, var_post.sqrt())).sum()


def predictive(p, o):
    excess = p["nu"] - len(p["mu"]) - 1
    psi = p["log_psi"].exp()[o]
    return p["mu"][o], psi / excess + psi / (p["lambda"] * excess)


def record(loss, **distributions):
    for p in distributions.values():
        for v in p.values():
            v.grad = None
    loss.backward()
    return dict(value=loss.item(), **{
        name: {k: (v.grad if v.grad is not None else torch.zeros_like(v)).tolist()
               for k, v in p.items()} for name, p in distributions.items()})


def case(rng, dim, m, spread, evidence, noise, std):
    pre, post = niw(rng, dim, spread, evidence), niw(rng, dim, spread, evidence)
    features = rng.permutation(dim)[:m]  # not in order: no loss may rely on it
    o = torch.tensor(features)
    x = torch.tensor(rng.normal(0, noise, m))
    gauss_pre = {k: pre[k] for k in ("mu", "log_psi")}  # log_psi read as the log-variance
    gauss_post = {k: post[k] for k in ("mu", "log_psi")}
    student_t, student_t_scipy = student_t_nll(pre, o, x)
    plain = lambda p: {k: v.tolist() for k, v in p.items()}
    nll = -torch.distributions.Normal(pre["mu"][o], (pre["log_psi"][o] / 2).exp()).log_prob(x).sum()
    return dict(
        feature=features.tolist(), x=x.tolist(), observation_std=std, pre=plain(pre), post=plain(post),
        student_t_nll=record(student_t, pre=pre), student_t_nll_scipy=student_t_scipy,
        niw_kl=record(niw_kl(pre, post, o, x), pre=pre, post=post),
        gaussian_kl=record(bayes_kl(*predictive(pre, o), *predictive(post, o), x, std),
                           pre=pre, post=post),
        evidence_penalty=record((pre["mu"][o] - x).abs().sum() * (pre["lambda"] + pre["nu"]), pre=pre),
        gaussian_nll=record(nll, pre=gauss_pre),
        gaussian_bayes_kl=record(
            bayes_kl(pre["mu"][o], pre["log_psi"][o].exp(), post["mu"][o], post["log_psi"][o].exp(),
                     x, std), pre=gauss_pre, post=gauss_post))


rng = numpy.random.default_rng(20)
settings = [(1, 1, 0.5, 1, 1, 1), (2, 1, 0.5, 1, 1, 0.01), (2, 2, 1, 5, 3, 1), (3, 2, 1, 1, 1, 0.1),
            (5, 3, 2, 50, 5, 1), (8, 8, 1, 1, 1, 0.5), (12, 5, 1, 1000, 2, 1), (12, 1, 3, 3, 30, 0.1),
            (20, 7, 1, 10, 1, 1), (20, 20, 0.5, 30, 1, 1)]
cases = [case(rng, *s) for s in settings]
path = pathlib.Path(__file__).with_name("losses.json")
path.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
