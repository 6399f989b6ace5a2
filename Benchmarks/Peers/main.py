# SPDX-License-Identifier: Apache-2.0
"""The comparison beside the peers; started by Scripts/bench-peers.sh.

main.py RELEASE BUILT PYTHON MISSING OUTPUT
  RELEASE: the folder of keychain-benchmarks and keychainctl. BUILT: the folder of the contenders in C.
  PYTHON: the Python that has keyring. MISSING: the file of peers that could not be installed.
  OUTPUT: the folder for results.json and section.md.

Environment: PEERS_SIZES (100,10000,100000); at each size, PEERS_SECONDS (15) for measuring a client and PEERS_FILL_SECONDS (60) for
filling a store.
"""

import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time

import measure
import report
from clients import Failure
from contenders import Contenders, output
from durability import observe
from session import Missing, Session

PROGRAMS = ("release", "built", "python", "missing")


def main():
    programs, folder = dict(zip(PROGRAMS, sys.argv[1:5])), sys.argv[5]
    sizes = [int(word) for word in os.environ.get("PEERS_SIZES", "100,10000,100000").split(",")]
    seconds = [int(os.environ.get(name, default)) for name, default in (("PEERS_SECONDS", "15"), ("PEERS_FILL_SECONDS", "60"))]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    load = os.getloadavg()[0]
    session = Session(folder)
    try:
        comparison = Comparison(Contenders(session, programs), *seconds)
        comparison.run(sizes)
        facts = {"date": time.strftime("%-d %B %Y"), "machine": machine(folder), "sync": report.duration(sync_time(session.place)),
                 "load": f"{load:.1f}", "rounds": measure.ROUNDS}
    finally:
        session.close()
    comparison.write(folder, facts)
    sys.exit(comparison.verdict())


def stop(number, _):
    """Ends the program as an error would, so that the session is closed."""
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


def say(words):
    print(words, flush=True)


class Comparison:
    def __init__(self, contenders, seconds, fill_seconds):
        self.contenders, self.seconds, self.fill_seconds = contenders, seconds, fill_seconds
        self.rows, self.durability, self.stops = {}, {}, []

    def run(self, sizes):
        self.contenders.make()
        for name, reason in self.contenders.missing.items():
            say(f"{name}: not measured: {reason}")
        for number, size in enumerate(sizes):
            say(f"{size:,} items")
            stores = [store for store in self.contenders.stores if self.fill(store, size)]
            clients = [client for client in self.contenders.clients if client.store in stores]
            if number == 0:
                self.observe(clients)
            self.rows[size] = [self.row(result) for result in measure.measure(clients, self.seconds, say)]
        for store in self.contenders.stores:
            self.stops += [f"- {store.name} ended by itself {words} and was started again" for words in store.crashes]

    def fill(self, store, size):
        """Whether there is something new to measure."""
        if store.stopped:
            return False
        before, start = store.size, time.monotonic()
        try:
            store.fill(size, self.fill_seconds)
        except (Failure, Missing, OSError, subprocess.SubprocessError) as error:
            store.stopped = str(error)
        say(f"  {store.name}: {store.size:,} items after {time.monotonic() - start:.1f} s{' more' if before else ''}")
        if store.stopped:
            self.stops.append(f"- {store.name}: {store.size:,} of {size:,} items: {store.stopped}")
        return store.size >= max(100, before * 3 // 2)

    def observe(self, clients):
        seen = set()
        for client in clients:
            # The clients of one store share what it does, except where each writes the files itself.
            key = (client.store.name, client.name if client.store.name == "pass" else "")
            if key not in seen:
                seen.add(key)
                self.durability[client.name] = observe(client, say)
                say(f"  {client.name}: {self.durability[client.name]}")

    def row(self, result):
        store = result.client.store
        failures = {operation: shortened(words, store) for operation, words in result.failures.items()}
        bytes_per_item = (store.bytes_on_disk() - store.empty) / store.size if store.has_files else None
        return {
            "name": result.client.name, "size": result.size, "memory": result.memory, "failures": failures,
            "medians": {operation: result.median(operation) for operation in result.samples}, "bytes": bytes_per_item,
            "throughput": {f"{operation} {count}": number for (operation, count), number in result.throughput.items()},
            "seconds": round(result.spent, 1), "is_ours": result.client.is_ours,
            "is_command": result.client.is_command}

    def write(self, folder, facts):
        clients = [{"name": client.name, "version": client.version or "–", "language": client.language,
                    "durability": self.durability_of(client), "filling": client.store.filling}
                   for client in self.contenders.clients]
        with open(f"{folder}/results.json", "w", encoding="utf-8") as file:
            json.dump({"facts": facts, "sizes": self.rows}, file, indent=1)
        with open(f"{folder}/section.md", "w", encoding="utf-8") as file:
            file.write(report.section(facts, self.rows, clients, self.contenders.missing, self.stops))

    def durability_of(self, client):
        """Its own, or that of the first client of its store."""
        first = next(other.name for other in self.contenders.clients if other.store is client.store)
        return self.durability.get(client.name) or (f"as {first}" if first in self.durability else "not observed")


    def verdict(self):
        """1 if this project's own contenders failed or were not measured; a peer may."""
        for size, rows in self.rows.items():
            ours = [row for row in rows if row["is_ours"]]
            problems = [f"{row['name']}: {operation}: {words}" for row in ours for operation, words in row["failures"].items()]
            if len(ours) < 2 or any(row["size"] < size for row in ours):
                problems.append("a contender of this project is missing or was not filled")
            for problem in problems:
                print(f"{size:,} items: {problem}", file=sys.stderr)
            if problems:
                return 1
        return 0


def shortened(words, store):
    """The end of a peer's words, without the paths of this machine."""
    words = words.replace(store.home.folder, "…").replace(store.home.run, "…")
    return words if len(words) < 200 else f"… {words[-200:]}"


def sync_time(folder):
    """Nanoseconds of a synchronized write of one page, the median of some."""
    times = []
    with open(f"{folder}/sync", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            start = time.perf_counter_ns()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter_ns() - start)
    return statistics.median(times)


def machine(folder):
    name = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux") if hasattr(platform, "freedesktop_os_release") else "Linux"
    kind = output("df", "--output=fstype", folder).split()[-1:] or ["an unknown file system"]
    return f"{os.cpu_count()} cores, {name}, Linux {platform.release()}, {kind[0]}"


main()
