# SPDX-License-Identifier: Apache-2.0
"""Draws the results: plots.py RESULTS FOLDER"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

matplotlib.rcParams.update({"font.size": 9, "svg.fonttype": "none", "axes.spines.top": False, "axes.spines.right": False,
                            "axes.grid": True, "axes.axisbelow": True,
                            "grid.color": "#dddddd", "grid.linewidth": 0.6, "svg.hashsalt": "peers"})
MARKERS = "osD^vP*Xhd<>p"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        results = {int(size): rows for size, rows in json.load(file)["sizes"].items()}
    folder = sys.argv[2]
    lines(results, "read", "a read", f"{folder}/peers-read")
    lines(results, "add", "an addition", f"{folder}/peers-add")
    clients(results, f"{folder}/peers-clients")
    memory(results, f"{folder}/peers-memory")


def styles(results):
    """The same colour and marker for a client in every plot; this project's own are black."""
    names = list(dict.fromkeys(row["name"] for rows in results.values() for row in rows))
    colours = [*plt.get_cmap("tab10").colors, "#7f7f00", "#004080"]
    return {name: {"color": "black" if number < 2 else colours[number % len(colours)], "marker": MARKERS[number % len(MARKERS)],
                   "linestyle": "-" if number == 0 else "--" if number == 1 else "-"} for number, name in enumerate(names)}


def lines(results, operation, words, path):
    figure, axes = plt.subplots(figsize=(7.5, 4.2))
    ends = []
    for name, style in styles(results).items():
        points = sorted({(row["size"], row["medians"][operation][0] / 1e9) for rows in results.values() for row in rows
                         if row["name"] == name and operation in row["medians"]})
        if points:
            line, = axes.plot(*zip(*points), markersize=5, linewidth=1.3, label=name, **style)
            ends.append((points[-1][1], line))
    axes.set(xscale="log", yscale="log", xlabel="items in the store", ylabel=f"time of {words}")
    axes.set_xticks(list(results), [f"{size:,}" for size in results])
    axes.minorticks_off()
    ticks = {1e-6: "1 µs", 1e-5: "10 µs", 1e-4: "0.1 ms", 1e-3: "1 ms", 1e-2: "10 ms", 1e-1: "0.1 s", 1: "1 s", 10: "10 s"}
    low, high = axes.get_ylim()
    axes.set_yticks([tick for tick in ticks if low <= tick <= high], [ticks[tick] for tick in ticks if low <= tick <= high])
    axes.legend(handles=[line for _, line in sorted(ends, key=lambda end: -end[0])], loc="center left",
                bbox_to_anchor=(1.01, 0.5), frameon=False)
    save(figure, path)


def clients(results, path):
    """The largest size that each has reached."""
    rows = last_rows(results)
    figure, axes = plt.subplots(1, 2, figsize=(8.5, 0.32 * len(rows) + 1.2), sharey=True)
    for axis, operation in zip(axes, ("read", "update")):
        for number, row in enumerate(reversed(rows)):
            values = [row["throughput"].get(f"{operation} {count}") for count in (1, 8)]
            if None not in values:
                axis.plot(values, [number, number], color="#999999", linewidth=1.5, zorder=1)
            for value, colour, marker in zip(values, ("#1f77b4", "#d62728"), "os"):
                if value is not None:
                    axis.plot(value, number, marker, color=colour, markersize=6)
        axis.set(xscale="log", xlabel=f"{operation}s per second")
    names(axes[0], rows)
    handles = [plt.Line2D([], [], color=colour, marker=marker, linestyle="", label=label)
               for colour, marker, label in (("#1f77b4", "o", "1 client"), ("#d62728", "s", "8 clients"))]
    axes[1].legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    save(figure, path)


def memory(results, path):
    rows = last_rows(results)
    figure, axes = plt.subplots(1, 2, figsize=(8.5, 0.32 * len(rows) + 1.2), sharey=True)
    for number, row in enumerate(reversed(rows)):
        client, daemons = (value or 0 for value in row["memory"])
        axes[0].barh(number, client / 1e6, color="#1f77b4")
        axes[0].barh(number, daemons / 1e6, left=client / 1e6, color="#ff7f0e")
        if row["bytes"]:
            axes[1].barh(number, row["bytes"], color="#2ca02c")
    axes[0].set(xlabel="memory (Pss): client (blue), daemons (orange), MB")
    axes[1].set(xscale="log", xlabel="bytes on disk per item")
    names(axes[0], rows)
    save(figure, path)


def last_rows(results):
    last = {}
    for rows in results.values():
        last.update({row["name"]: row for row in rows})
    return list(last.values())


def names(axis, rows):
    axis.set_yticks(range(len(rows)), [f"{row['name']} ({row['size']:,})" for row in reversed(rows)])


def save(figure, path):
    figure.savefig(f"{path}.svg", bbox_inches="tight", facecolor="white", metadata={"Date": None})
    figure.savefig(f"{path}.png", bbox_inches="tight", facecolor="white", dpi=110)
    plt.close(figure)


main()
