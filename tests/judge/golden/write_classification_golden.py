"""Writes classification.json: class probabilities and what scikit-learn says of them.

Run: python3 write_classification_golden.py
"""
import json
import pathlib
import warnings

import numpy
from sklearn import metrics


def softmax(scores):
    e = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def one_vs_rest(metric, probability, label):
    """The plain mean over the classes that occur, and the value of each."""
    values = [metric(label == k, probability[:, k]) if (label == k).any() else None
              for k in range(probability.shape[1])]
    return numpy.mean([v for v in values if v is not None]), values


def case(name, probability, label):
    classes = probability.shape[1]
    every = list(range(classes))
    expected = dict(
        accuracy=metrics.accuracy_score(label, probability.argmax(axis=1)),
        log_loss=metrics.log_loss(label, probability, labels=every),
        confusion=metrics.confusion_matrix(label, probability.argmax(axis=1),
                                           labels=every).ravel().tolist())
    if classes == 2:
        expected.update(
            auroc=metrics.roc_auc_score(label, probability[:, 1]),
            auprc=metrics.average_precision_score(label, probability[:, 1]),
            brier=metrics.brier_score_loss(label, probability[:, 1]))
    else:
        auroc, auroc_per_class = one_vs_rest(metrics.roc_auc_score, probability, label)
        auprc, auprc_per_class = one_vs_rest(metrics.average_precision_score, probability, label)
        if len(set(label)) == classes:  # scikit-learn's own average refuses an absent class
            direct = metrics.roc_auc_score(label, probability, multi_class="ovr", average="macro")
            assert abs(auroc - direct) < 1e-14
        expected.update(
            auroc=auroc, auroc_per_class=auroc_per_class,
            auprc=auprc, auprc_per_class=auprc_per_class,
            brier=sum(metrics.brier_score_loss(label == k, probability[:, k]) for k in every))
    return dict(name=name, classes=classes, label=label.tolist(),
                probability=probability.ravel().tolist(), expected=expected)


def noisy(rng, label, classes, signal):
    return softmax(rng.normal(size=(len(label), classes)) + signal * numpy.eye(classes)[label])


def cases(rng):
    fair = rng.integers(0, 2, 200)
    rare = (rng.random(300) < 0.03).astype(int)
    five = rng.integers(0, 5, 150)
    gap = rng.choice([0, 1, 3], 80)
    yield case("random", noisy(rng, fair, 2, 0), fair)
    yield case("informative", noisy(rng, fair, 2, 1.5), fair)
    yield case("tied", rng.multinomial(5, [0.5, 0.5], 200) / 5, fair)
    yield case("constant", numpy.full((200, 2), 0.5), fair)
    yield case("imbalanced", noisy(rng, rare, 2, 1), rare)
    yield case("certain, sometimes wrongly", numpy.eye(2)[fair ^ (rng.random(200) < 0.1)], fair)
    yield case("perfectly wrong", noisy(rng, 1 - fair, 2, 30), fair)
    yield case("two series", numpy.array([[0.25, 0.75], [0.5, 0.5]]), numpy.array([1, 0]))
    yield case("five classes", noisy(rng, five, 5, 1), five)
    yield case("five classes, tied", rng.multinomial(4, [0.2] * 5, 150) / 4, five)
    yield case("a class absent", noisy(rng, gap, 4, 1), gap)


warnings.simplefilter("error", UserWarning)
path = pathlib.Path(__file__).with_name("classification.json")
written = [json.dumps(c) for c in cases(numpy.random.default_rng(7))]
path.write_text("[\n" + ",\n".join(written) + "\n]\n")
