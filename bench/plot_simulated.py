"""Draws the table of bench/simulate: strong and weak scaling, simulated, beside the formula.

    bench/simulate 0.014 0.0005 179392 32 >table.txt
    plot_simulated.py table.txt docs/images/scaling-simulated.png     (Debian: python3-matplotlib)
"""
import sys
from collections import namedtuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Row = namedtuple("Row", "network batch ranks simulated formula speed_up")
LINE = {"ethernet": "-", "infiniband": "--"}
SERIES_A_RANK = (32, 128, 512)


def read(path):
    for line in list(open(path))[1:]:
        network, batch, ranks, simulated, formula, _, speed_up, *_ = line.split()
        yield Row(network, int(batch), int(ranks), float(simulated), float(formula), float(speed_up))


def draw(axes, rows, value, formula, label, colour):
    axes.plot([r.ranks for r in rows], [value(r) for r in rows], LINE[rows[0].network], marker="o", markersize=3,
              color=colour, label=label)
    axes.plot([r.ranks for r in rows], [formula(r) for r in rows], ":", color=colour, linewidth=1)


def main():
    table, picture = sys.argv[1:]
    rows = list(read(table))
    alone = {r.batch: r.simulated for r in rows if r.ranks == 1}
    figure, (strong, weak) = plt.subplots(1, 2, figsize=(11, 4.5))
    for network in LINE:
        for i, batch in enumerate(alone):
            own = [r for r in rows if (r.network, r.batch) == (network, batch)]
            draw(strong, own, lambda r: r.speed_up, lambda r: alone[r.batch] / r.formula,
                 f"{network}, batch {batch:,}", f"C{i}")
        for i, share in enumerate(SERIES_A_RANK):
            own = [r for r in rows if r.network == network and r.batch == share * r.ranks]
            draw(weak, own, lambda r: 1000 * r.simulated, lambda r: 1000 * r.formula,
                 f"{network}, {share} series a rank", f"C{i}")
    ranks = sorted({r.ranks for r in rows})
    strong.plot(ranks, ranks, color="0.8", zorder=0)
    strong.set(title="Strong scaling (simulated)", ylabel="speed-up", yscale="log")
    weak.set(title="Weak scaling (simulated)", ylabel="ms a step", yscale="log")
    strong.set_yticks(ranks, [str(r) for r in ranks])
    weak.set_yticks([20, 50, 100, 200], ["20", "50", "100", "200"])
    for axes in (strong, weak):
        axes.set(xlabel="ranks; dotted: by the formula", xscale="log")
        axes.set_xticks(ranks, [str(r) for r in ranks])
        axes.minorticks_off()
        axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


main()
