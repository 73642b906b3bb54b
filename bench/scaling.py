"""What an epoch of EDICT costs as the data and the model grow: Markdown tables, and a plot.

    scaling.py ENGINE_BENCH [--plot docs/images/scaling.png]     (bench/compare builds ENGINE_BENCH)

Around 512 series of 32 events, 3 features, hidden 50, one thread, each size is varied on its own. A
series has an event every ten solver steps and three observations an event. The median of three runs.
"""
import argparse
import json
import statistics
import subprocess

BASE = dict(series=512, events=32, features=3, hidden=50, threads=1)
SWEEPS = dict(series=[128, 256, 512, 1024, 2048, 4096], events=[8, 32, 128, 512, 2048],
              features=[3, 10, 30, 100, 200], hidden=[16, 32, 50, 64, 128, 256, 512], threads=[1, 2])
# More events or wider states: fewer series, so that a run stays short.
FEWER = {("events", 512): 64, ("events", 2048): 16, ("hidden", 256): 128, ("hidden", 512): 64}


def measure(engine, sizes, *settings):
    words = [str(sizes[k]) for k in ("series", "events", "features", "hidden", "threads")]
    runs = [json.loads(subprocess.run([engine, "cost", *words, *settings], check=True, text=True,
                                      capture_output=True).stdout) for _ in range(3)]
    return {key: statistics.median(r[key] for r in runs) for key in runs[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("--plot")
    options = parser.parse_args()
    curves = {}
    for name, values in SWEEPS.items():
        print(f"\n| {name} | series | µs an event | GFlop/s a core | of the peak | memory, MiB |\n"
              "|--:|--:|--:|--:|--:|--:|")
        for value in values:
            sizes = dict(BASE, **{name: value})
            sizes["series"] = FEWER.get((name, value), sizes["series"])
            m = measure(options.engine, sizes)
            event = 1e6 * m["seconds"] / (sizes["series"] * sizes["events"])
            curves.setdefault(name, []).append((value, event))
            print(f"| {value} | {sizes['series']} | {event:.2f} | {m['gflops_per_core']:.1f} | "
                  f"{100 * m['gflops_per_core'] / m['peak_gflops_per_core']:.0f} % | {m['training_mib']:.0f} |",
                  flush=True)
    print("\n| one series of | seconds | µs an event | data, MiB | training, MiB |\n|--:|--:|--:|--:|--:|")
    for events in (1000, 10000, 100000):
        m = measure(options.engine, dict(BASE, series=1, events=events))
        print(f"| {events:,} events | {m['seconds']:.2f} | {1e6 * m['seconds'] / events:.1f} | "
              f"{m['data_mib']:.0f} | {m['training_mib']:.0f} |", flush=True)
    if options.plot:
        plot(curves, options.plot)


def plot(curves, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    chosen = [c for c in ("series", "events", "features", "hidden") if c in curves]
    figure, axes = pyplot.subplots(1, len(chosen), figsize=(3.1 * len(chosen), 2.9), sharey=True)
    for axis, name in zip(axes, chosen):
        axis.loglog(*zip(*curves[name]), "o-", color="#1f6fb4", linewidth=1.6, markersize=4)
        axis.set_xlabel(name)
        axis.set_xticks([x for x, _ in curves[name]], [f"{x}" for x, _ in curves[name]], fontsize=8)
        axis.minorticks_off()
        axis.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes[0].set_ylabel("µs an event, one thread")
    figure.tight_layout()
    figure.savefig(path, dpi=130)


main()
