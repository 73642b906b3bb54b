"""How likely is a limit to be crossed in the next hours, and for whom? From a table with date-times.

    PYTHONPATH=build/release/python python3 examples/risk.py [FOLDER FOR THE PICTURE]
"""

import sys
from pathlib import Path

import numpy as np

import edict

frame = edict.waves(series=300, dates=True)
data = edict.Dataset.from_frame(frame, label="label")
print(data)

model = edict.Model.train(data, epochs=30, hidden=32, batch=32, learning_rate=5e-3, step=0.25)

# Series that training has not seen, each asked from its own last observation on.
test = data[model.parts(data) == "test"]
hours = np.array([0.5, 1.0, 2.0, 4.0])
forecast = model.predict(test, ahead=hours)
risk = forecast.probability(above={"level": 0.8})[:, :, 0]

print(f"\nP(level > 0.8), the five of {len(test)} series with the highest within {hours[-1]:g} hours")
print(f"{'':8}" + "".join(f"{h:>8g} h" for h in hours))
for i in np.argsort(-risk.max(axis=1))[:5]:
    print(f"{test.ids[i]:8}" + "".join(f"{p:>10.2f}" for p in risk[i]))

most = int(risk.max(axis=1).argmax())
path = model.predict(test[most], at=np.linspace(0, test.last_times[most] + 4, 150))
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
path.plot(data=test).savefig(folder / "risk.png")
print(f"\n{folder / 'risk.png'} shows {test.ids[most]}")
