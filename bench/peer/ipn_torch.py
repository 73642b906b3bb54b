"""IPN (Shukla & Marlin 2019) in plain PyTorch on padded batches."""
import torch
from torch import nn
from torch.nn import functional

from layers_torch import ResetBeforeGruCell, classifier, classify

SHARPER = 10.0


class Interpolation(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bandwidth = nn.Parameter(torch.zeros(features))
        self.mixing = nn.Parameter(torch.eye(features))

    def single(self, alpha, points, times, values, mask):
        """Smooth value and log intensity, B x K x D; 0 and -inf where a channel has no observation."""
        distance = (points[:, :, None] - times[:, None, :]) ** 2  # B x K x E
        logits = -alpha * distance[..., None]  # B x K x E x D
        logits = logits.masked_fill(mask[:, None] == 0, float("-inf"))
        seen = (mask.sum(1) > 0)[:, None]
        safe = torch.where(seen[:, :, None], logits, torch.zeros_like(logits))
        smooth = (torch.softmax(safe, dim=2) * values[:, None]).sum(2)
        log_intensity = torch.logsumexp(safe, dim=2)
        return (torch.where(seen, smooth, torch.zeros_like(smooth)),
                log_intensity.masked_fill(~seen, float("-inf")))

    def forward(self, points, inside, times, values, mask):
        """points: B x K, inside: B x K marks the real ones. [chi | lambda | gamma - chi], B x K x 3D."""
        alpha = functional.softplus(self.bandwidth, threshold=50)
        sigma, log_lambda = self.single(alpha, points, times, values, mask)
        gamma, _ = self.single(SHARPER * alpha, points, times, values, mask)
        count = inside.sum(1).clamp(min=1)[:, None, None]
        mu = (sigma * inside[:, :, None]).sum(1, keepdim=True) / count
        any_seen = mask.sum((1, 2)) > 0
        logits = torch.where(any_seen[:, None, None], log_lambda, torch.zeros_like(log_lambda))
        share = torch.softmax(logits, dim=2)
        chi = (share * (sigma - mu)) @ self.mixing + mu
        return torch.cat([chi, torch.exp(log_lambda), gamma - chi], dim=2)


class Ipn(nn.Module):
    def __init__(self, features, covariates, classes, hidden=50, reference_step=0.05,
                 reference_end=0.0, dropout=0.2, classifier_layers=1):
        super().__init__()
        self.hidden, self.dropout = hidden, dropout
        self.reference_step, self.reference_end = reference_step, reference_end
        self.interpolation = Interpolation(features)
        self.gru = ResetBeforeGruCell(3 * features, hidden)
        self.classifier = classifier(hidden + covariates, classes, classifier_layers)

    def forward(self, start, times, values, mask, covariates):
        """times: B x E (the last one repeated), values and mask: B x E x D; the logits."""
        times = times - start[:, None]
        batch = times.shape[0]
        end = times[:, -1]
        if self.reference_end > 0:
            end = torch.full_like(end, self.reference_end)
        counts = torch.ceil(end / self.reference_step - 1e-6).clamp(min=0) + 1
        if self.reference_end <= 0:
            counts = counts * (mask.sum((1, 2)) > 0)
        steps = int(counts.max())
        grid = torch.arange(steps, dtype=times.dtype)
        inside = (grid[None] < counts[:, None]).to(times.dtype)
        points = (grid * self.reference_step)[None].expand(batch, -1)
        x = self.interpolation(points, inside, times, values, mask)
        x = x * functional.dropout(torch.ones_like(x[:, :1]), self.dropout, self.training)
        h = torch.zeros(batch, self.hidden)
        for k in range(steps):
            h = torch.where(inside[:, k, None] > 0, self.gru(x[:, k], h), h)
        return classify(self.classifier, torch.cat([h, covariates], dim=1))

    def reconstruction(self, start, times, values, mask, held):
        """Sum over series of the mean over features of the mean held-out squared error."""
        times = times - start[:, None]
        inside = (mask.sum(2) > 0).to(times.dtype)
        chi = self.interpolation(times, inside, times, values, mask * (1 - held))
        chi = chi[..., :values.shape[2]]
        error = ((chi - values) ** 2 * held).sum(1) / held.sum(1).clamp(min=1)
        return error.mean(1).sum()
