"""The PyTorch module says what the model says."""

import numpy as np
import pytest
import torch

import edict
from conftest import SMALL


OPTIONS = {
    "euler": dict(solver="euler"),
    "midpoint": dict(solver="midpoint", surprise="predictive"),
    "rk4": dict(solver="rk4"),
    "closed form": dict(propagator="closed-form"),
    "recall": dict(recall=True, surprise="predictive"),
    "bounded": dict(absorb="bounded", absorb_bound=1.5),
    "score": dict(absorb="score", absorb_bound=4.0, recall=True),
    "everything": dict(propagator="closed-form", absorb="bounded", recall=True),
    "calibrated": dict(calibrate=True, recall=True),
    "ensemble": dict(members=3),
    "ensemble, calibrated": dict(members=2, calibrate=True),
    "ensemble with recall": dict(members=2, recall=True),
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_module_and_the_model_agree(data, options):
    frame = data.to_frame().assign(age=lambda f: f["id"].str[-2:].astype(float))
    frame["time"] += 100.0  # far from zero: clocks start with the first event
    own = edict.Dataset.from_frame(frame, label="label", static="age")
    model = edict.Model.train(own, **options, **SMALL)
    module = model.to_torch()
    asked = np.array([100.5, 103.0, 120.0])
    for i in (0, 11):
        one = own[i].to_frame()
        told = module(one["time"], one[["level", "flow"]].to_numpy(), asked, [one["age"][0]])
        expected = model.predict(own[i], at=asked)
        for part, name in zip(told, ("mean", "aleatoric", "epistemic", "scale", "dof")):
            # Single precision over some hundred steps, each side in its own order of additions.
            np.testing.assert_allclose(
                part.detach().numpy(), getattr(expected, name)[0], rtol=1e-5, atol=1e-5, err_msg=name
            )


@pytest.mark.parametrize("kind", ["unchanging", "sporadic"])
def test_features_that_hardly_ever_change_are_not_learnt(frame, kind):
    """They are forecast by their last value or, where they come back at once, by their mean."""
    if kind == "unchanging":
        own = frame.assign(kept=1.0 + (frame["id"] > "wave30"))
    else:
        own = frame.assign(kept=(np.arange(len(frame)) % 197 == 11).astype(float))
    data = edict.Dataset.from_frame(own, label="label")
    model = edict.Model.train(data, recall=True, **SMALL)
    module = model.to_torch()
    assert getattr(module, kind).tolist() == [False, False, True]
    assert not getattr(module, "sporadic" if kind == "unchanging" else "unchanging").any()
    for place in (3, int(np.argmax([(one.to_frame()["kept"] == 1).any() for one in data]))):
        one = data[place].to_frame()
        told = module(one["time"], one[["level", "flow", "kept"]].to_numpy(), [5.0, 20.0])
        expected = model.predict(data[place], at=[5.0, 20.0])
        for part, name in zip(told, ("mean", "aleatoric", "epistemic", "scale", "dof")):
            np.testing.assert_allclose(
                part.detach().numpy(), getattr(expected, name)[0], rtol=1e-5, atol=1e-5, err_msg=name
            )
    told[0][:, :2].sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in module.parameters())


def test_gradients_reach_every_parameter_that_the_mean_depends_on(data, model):
    one = data[0].to_frame()
    module = model.to_torch()
    module(one["time"], one[["level", "flow"]].to_numpy(), [20.0])[0].sum().backward()
    for name, parameter in module.named_parameters():
        if name.startswith(("ode", "update", "head_mu_1")):
            assert torch.isfinite(parameter.grad).all() and parameter.grad.abs().sum() > 0, name


def test_what_it_does_not_know_is_refused(data):
    other = edict.Model.train(data, kind="gru-ode-bayes", **SMALL)
    with pytest.raises(edict.Error, match="model.kind = edict, not gru-ode-bayes"):
        other.to_torch()
    adaptive = edict.Model.train(data, solver="dopri5", **SMALL)
    with pytest.raises(edict.Error, match="model.solver = euler, midpoint, rk4, not dopri5"):
        adaptive.to_torch()


def test_a_classifier_is_left_out_and_its_distribution_kept(data, model):
    classifier = model.classify(data, epochs=1, seeds=[0], readout_members=1, readout_epochs=1)
    one = data[0].to_frame()
    module = classifier.to_torch()
    assert not any(name.startswith(("classifier", "readout")) for name, _ in module.named_parameters())
    mean = module(one["time"], one[["level", "flow"]].to_numpy(), [20.0])[0]
    np.testing.assert_allclose(
        mean.detach().numpy(), model.predict(data[0], at=[20.0]).mean[0], rtol=1e-5, atol=1e-5
    )
