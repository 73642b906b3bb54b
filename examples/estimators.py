"""Classes of irregular series with scikit-learn: folds, a pipeline, a search, calibration.

    PYTHONPATH=build/release/python python3 examples/estimators.py
"""

from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

import edict
from edict.sklearn import EdictClassifier, EdictEncoder

data = edict.Dataset.from_frame(edict.waves(series=300, events=15), label="label")
settings = dict(epochs=40, hidden=32, batch=32, learning_rate=5e-3, step=0.25, n_jobs=1)
train, test, y_train, y_test = train_test_split(data, data.labels, random_state=0)

# A dataset is X: no padding, no windows.
classifier = EdictClassifier(classify_epochs=40, classify_learning_rate=1e-2, **settings)
print(f"two folds: accuracy {cross_val_score(classifier, train, y_train, cv=2).mean():.2f}")

# The state of each series as features of any other estimator.
pipe = make_pipeline(EdictEncoder(**settings), LogisticRegression(max_iter=1000))
search = GridSearchCV(pipe, {"logisticregression__C": [0.1, 10]}, cv=2).fit(train, y_train)
print(f"pipeline: {search.best_params_}, accuracy {search.score(test, y_test):.2f}")

calibrated = CalibratedClassifierCV(classifier, cv=2).fit(train, y_train)
slow = (y_test == "slow").astype(int)
for name, one in (("as trained", classifier.fit(train, y_train)), ("calibrated", calibrated)):
    print(f"{name}: Brier score {brier_score_loss(slow, one.predict_proba(test)[:, 1]):.3f}")
