#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shares items between three machines over real carriers, with faults, and compares everything with what was acknowledged.

usage: check-sync.py [--sample] [--items N] [--carrier folder|git|syncthing|etcd] [--record DOCUMENT] [--keep]

Each machine is a home with a vault and `sync watch`, and exchanges over a folder or an etcd of three nodes. Processes write N items
on each (10,000; with --sample 300) while watches, carriers and writers are killed or stopped. Items are changed on two machines, deleted, or both, before these have heard
of each other. After the last fault all machines must become equal, have every acknowledged item, and list the same conflicts. The
target is 5 s after the last fault: the table says of each carrier whether it was met. More than 60 s is a failure, except for a
sample, which the tests run beside others.

The tool and the exerciser are those of the debug build; KEYCHAINCTL and EXERCISER name others. `make carriers` names a release build
of the tool. For etcd the tool must be built with the trait Etcd. Reading the vaults needs Python with the package 'cryptography',
which `Scripts/setup.sh test` installs.
"""

import argparse
import base64
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True

from sync_carriers import CARRIERS
from sync_machines import LIMIT, UNAVAILABLE, Failed, Machine, kill

PROJECT = Path(__file__).resolve().parent.parent
READER = PROJECT / "Tests/FormatReader/read_vault.py"
NAMES = ("laptop", "desktop", "server")
WRITERS = 2
FEW = 3
PREPARED = ("changed-twice", "changed-and-deleted", "deleted")
# Seconds from the last fault until all are equal: the target, and what fails.
TARGET, MOST = 5, 60


class Writer:
    """A process that saves one item after the other, and tells each. It goes on after it was killed or refused."""

    def __init__(self, machine, name, count):
        self.machine, self.name, self.count, self.value = machine, name, count, f"value {os.urandom(4).hex()}"
        self.told, self.attempts, self.process = set(), 0, None
        self.output = machine.home / f"{name}.out"
        self.begin()

    def begin(self):
        """From the first item that nobody has acknowledged."""
        self.attempts += 1
        first = next((item for item in range(self.count) if f"{self.name}-{item}" not in self.told), self.count)
        with open(self.output, "ab") as output:
            self.process = self.machine.start(
                [self.machine.exerciser, "save-shared", *self.machine.place, self.name, str(first),
                 str(self.count - first), self.value], output)

    def look(self):
        """The number of acknowledged items. Starts again if it has ended without having saved all."""
        ended = self.process.poll() is not None
        self.told = {line for line in self.output.read_text().split("\n")[:-1] if line.startswith(self.name + "-")}
        if ended and len(self.told) < self.count:
            if self.attempts > 20:
                raise Failed(f"{self.machine.name}: {self.name} could not save all: {self.output}")
            self.begin()
        return len(self.told)

    def kill(self):
        kill(self.process)
        self.process.wait()

    @property
    def values(self):
        return {("exerciser", account): f"{self.value} {account}" for account in self.told}


class Run:
    """One carrier: three machines, their writers, the faults, and what must be there afterwards."""

    def __init__(self, root, carrier, items, programs, deadline):
        self.items, self.deadline, self.done = items, deadline, []
        self.carrier = carrier(root)
        self.machines = [Machine(name, root, self.carrier.folder(name), programs) for name in NAMES]
        self.expected, self.conflicts, self.writers = {}, set(), []
        self.last_event, self.next_set = 0, 0

    def run(self):
        try:
            self.carrier.start(self.machines)
            self.enter()
            self.prepare()
            self.write_and_break()
            result = self.wait_until_equal(self.deadline) | {"note": self.carrier.check()}
            listed = self.listed_conflicts()
            for machine in self.machines:
                machine.end_watch()
            return result | listed | self.compare() | {"faults": self.done}
        finally:
            self.stop()

    def stop(self):
        for process in [writer.process for writer in self.writers] + [machine.watching for machine in self.machines]:
            if process and process.poll() is None:
                kill(process)
        self.carrier.stop()

    # MARK: - Before

    def enter(self):
        first, *others = self.machines
        first.do("sync", "init", *self.carrier.place(first), "--name", first.name)
        first.watch()
        for machine in others:
            code = first.insist("sync", "invite", "--name", machine.name)
            self.join(machine, code)
            machine.watch()

    def join(self, machine, code):
        """As a person would: tries again while the invitation has not arrived."""
        arguments = ["sync", "join", *self.carrier.place(machine), "--wait", "10m", "--code-fd", "0"]
        end = time.monotonic() + LIMIT
        while True:
            result = machine.run(*arguments, text=code, limit=2 * LIMIT)
            is_late = b"may not have arrived yet" in result.stderr or result.returncode == UNAVAILABLE
            if not is_late or time.monotonic() > end:
                break
            time.sleep(0.5)
        if result.returncode:
            raise Failed(f"{machine.name}: sync join: {result.stderr.decode(errors='replace').strip()}")

    def prepare(self):
        """Items that are changed and deleted later. All machines have them."""
        for name in PREPARED:
            for item in range(FEW):
                self.machines[2].set(f"{name}-{item}", "first")
                self.expected["tool", f"{name}-{item}"] = "first"
        self.last_event = time.time()
        self.wait_until_equal(LIMIT)

    # MARK: - Writing, and faults

    def write_and_break(self):
        share = self.items // WRITERS
        self.writers = [Writer(machine, f"{machine.name}-{number}", share)
                        for machine in self.machines for number in range(WRITERS)]
        faults = self.faults()
        total = share * len(self.writers)
        for number, (name, fault) in enumerate(faults):
            # The last one comes when everything is written.
            while (told := sum(writer.look() for writer in self.writers)) < total * (number + 1) / len(faults):
                self.set_one()
            print(f"    {told} of {total} items saved: {name}", flush=True)
            fault()
            self.done.append(name)
        self.last_event = time.time()
        for writer in self.writers:
            self.expected |= writer.values

    def set_one(self):
        """Some items are set with the tool, one process for each, in turn on all machines."""
        account, machine = f"set-{self.next_set}", self.machines[self.next_set % 3]
        self.next_set += 1
        machine.set(account, f"{account} of {machine.name}")
        self.expected["tool", account] = f"{account} of {machine.name}"

    def faults(self):
        laptop, desktop, server = self.machines
        killed, stopped = "watch killed and started again", "watch stopped for 3 s"
        return [
            (killed, lambda: self.restart(laptop)), *self.carrier.faults(desktop, self.set_one),
            ("writer killed", self.writers[-1].kill), (stopped, lambda: self.pause(desktop)),
            *self.carrier.faults(server, self.set_one), ("writer killed", self.writers[0].kill), (killed, lambda: self.restart(server)),
            ("two watches killed, and meanwhile changes on both machines", lambda: self.change_apart(laptop, desktop)),
            (stopped, lambda: self.pause(server)), (killed, lambda: self.restart(desktop)),
        ]

    def restart(self, machine):
        machine.kill_watch()
        machine.watch()

    def pause(self, machine):
        kill(machine.watching, signal.SIGSTOP)
        time.sleep(3)
        kill(machine.watching, signal.SIGCONT)

    def change_apart(self, one, other):
        """Neither has heard of the other's changes: nothing is exchanged until both are made."""
        one.kill_watch()
        other.kill_watch()
        for item in range(FEW):
            twice, changed, deleted = (f"{name}-{item}" for name in PREPARED)
            for machine in (one, other):
                machine.set(twice, f"of {machine.name}")
            self.expected["tool", twice] = {f"of {one.name}", f"of {other.name}"}
            self.conflicts.add(twice)
            one.set(changed, "changed")
            self.expected["tool", changed] = "changed"
            other.delete(changed)
            other.delete(deleted)
            del self.expected["tool", deleted]
        one.watch()
        other.watch()

    # MARK: - Afterwards

    def wait_until_equal(self, seconds):
        """Equal: the compare codes are, and no machine has anything left to send."""
        end = self.last_event + seconds
        while True:
            arrived = self.carrier.last_arrival(self.machines)
            with ThreadPoolExecutor() as pool:
                states = list(pool.map(self.state, self.machines))
            now = time.time()
            for machine in self.machines:
                machine.check_watch()
            if len({state[0] for state in states}) == 1 and not any(state[1] for state in states):
                return {"equal": now - self.last_event, "arrived": now - max(arrived, self.last_event)}
            if now > end:
                raise Failed(f"not equal {seconds} s after the last fault: {states}")
            time.sleep(0.2)

    def state(self, machine):
        status = machine.json("sync", "status")
        return status["compare"], status["pending"], status["items"]

    def listed_conflicts(self):
        """Each machine must list the same values of the same items."""
        lists = []
        for machine in self.machines:
            versions = machine.json("sync", "conflicts")
            if {version["account"] for version in versions} != self.conflicts:
                raise Failed(f"{machine.name} lists other conflicts: {versions}")
            lists.append({(version["account"], version["id"], version["state"]) for version in versions})
        if lists[0] != lists[1] or lists[0] != lists[2]:
            raise Failed(f"the machines list different conflicts: {lists}")
        return {"conflicts": len(self.conflicts)}

    def compare(self):
        """Reads each vault with another implementation, from its files."""
        found = [values(machine) for machine in self.machines]
        lost = wrong = 0
        for items in found:
            lost += sum(name not in items for name in self.expected)
            wrong += sum(name not in self.expected for name in items)
            wrong += sum(name in items and items[name] not in accepted(value) for name, value in self.expected.items())
        different = sum(len({items.get(name) for items in found}) > 1 for name in set().union(*found))
        return {"items": len(self.expected), "lost": lost, "wrong": wrong, "different": different}


def accepted(value):
    return value if isinstance(value, set) else {value}


def values(machine):
    """The synchronizable items of a vault: service and account, and the value."""
    result = subprocess.run([python(), str(READER), *machine.place], capture_output=True, text=True)
    if result.returncode:
        raise Failed(f"{machine.name}: the vault is not as it should be: {result.stderr or result.stdout[-400:]}")
    items = {}
    for item in json.loads(result.stdout)["items"]:
        attributes = {name: part["value"] for name, part in item["attributes"].items()}
        if attributes.get("sync"):
            items[attributes["svce"], attributes["acct"]] = base64.b64decode(item["value"]).decode()
    return items


def python():
    """One that has the package 'cryptography'."""
    own = os.environ.get("KEYCHAIN_TEST_PYTHON")
    for candidate in [own] if own else [str(PROJECT / ".build/test-venv/bin/python"), sys.executable]:
        if shutil.which(candidate) and subprocess.run(
                [candidate, "-c", "import cryptography"], stderr=subprocess.DEVNULL).returncode == 0:
            return candidate
    raise Failed("no Python with the package 'cryptography' was found. Run: Scripts/setup.sh test")


def programs():
    """The tool and the exerciser."""
    named = [os.environ.get(name.upper()) for name in ("keychainctl", "exerciser")]
    if all(named):
        return named
    folder = subprocess.run([PROJECT / "Scripts/build.sh", "core", "--show-bin-path"], check=True, stdout=subprocess.PIPE,
                            text=True).stdout.strip()
    found = [given or f"{folder}/{name}" for given, name in zip(named, ("keychainctl", "exerciser"))]
    for program in found:
        if not os.access(program, os.X_OK):
            raise Failed(f"{program} was not built")
    return found


def check(chosen, tool):
    """Before the first of them, which may take long."""
    lacks = {carrier.title: carrier.lack(tool) for carrier in chosen}
    lines = [f"{title} cannot be tried: {reason}" for title, reason in lacks.items() if reason]
    if lines:
        raise Failed("\n".join(lines) + "\nNothing was tried. --carrier tries only one of them.")


# What it tells

def is_in_time(result):
    return result["equal"] <= TARGET


def is_bad(result, options):
    is_late = not options.sample and result["equal"] > MOST
    if is_late:
        print(f"The machines became equal only {result['equal']:.1f} s after the last fault; the limit is {MOST} s.", file=sys.stderr)
    return is_late or result["lost"] + result["wrong"] + result["different"] > 0


def told(title, result):
    within = f" (target {TARGET} s: {'met' if is_in_time(result) else 'missed'})"
    after = f", {result['arrived']:.1f} s after the carrier had the last change"
    note = f". {result['note']}" if result["note"] else ""
    return (f"{title}: {result['items']} items on each machine, equal {result['equal']:.1f} s after the last fault{within}{after}. "
            f"Lost: {result['lost']}, wrong: {result['wrong']}, different: {result['different']}. "
            f"Conflicts that all list: {result['conflicts']}. Faults: {len(result['faults'])}{note}")


def record(document, results, options):
    revision = subprocess.run(["git", "-C", PROJECT, "rev-parse", "--short=12", "HEAD"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout.strip() or "unknown"
    lines = ["## Carriers", "",
             f"Written by `make carriers` on {datetime.date.today()}, of revision {revision}. Three machines, each with a home, a vault "
             f"and `sync watch`, save {options.items} items each at the same time, over each of these carriers. Meanwhile "
             "watches, carriers and writers are killed or stopped, an etcd is restored from a snapshot and compacted once a second, "
             "and items are changed on two machines, deleted, or both. "
             "Afterwards an independent reader compares all vaults with what was acknowledged. "
             f"Target: all are equal {TARGET} s after the last fault. More than {MOST} s fails.", "",
             f"| carrier | items on each machine | faults | equal after the last fault | target of {TARGET} s "
             "| of it after the carrier had the last change | lost | wrong | different | conflicts, listed on all |",
             "|---|---:|---:|---:|---|---:|---:|---:|---:|---:|"]
    for title, result in results.items():
        lines.append(f"| {title} | {result['items']} | {len(result['faults'])} | {result['equal']:.1f} s "
                     f"| {'met' if is_in_time(result) else 'missed'} | {result['arrived']:.1f} s | {result['lost']} | {result['wrong']} | {result['different']} "
                     f"| {result['conflicts']} |")
    faults = sorted({fault for result in results.values() for fault in result["faults"]})
    lines += ["", "The faults: " + "; ".join(faults) + "."]
    lines += [f"\n{title}: {result['note']}." for title, result in results.items() if result["note"]]
    with tempfile.NamedTemporaryFile("w", suffix=".md") as section:
        section.write("\n".join(lines) + "\n")
        section.flush()
        subprocess.run([PROJECT / "Scripts/evidence.py", document, "Carriers", section.name], check=True)


def main():
    parser = argparse.ArgumentParser(description="Shares items between three machines over real carriers, with faults.")
    parser.add_argument("--sample", action="store_true", help="300 items on each machine instead of 10,000")
    parser.add_argument("--items", type=int, metavar="N", help="so many items on each machine")
    parser.add_argument("--carrier", choices=CARRIERS, action="append", help="only this one; may be repeated")
    parser.add_argument("--record", metavar="DOCUMENT", help="replace its section 'Carriers' with the results")
    parser.add_argument("--deadline", type=int, default=600, metavar="SECONDS", help="how long to wait until all are equal")
    parser.add_argument("--keep", action="store_true", help="leave the files of the machines")
    options = parser.parse_args()
    options.items = options.items or (300 if options.sample else 10_000)
    if not WRITERS * 20 <= options.items <= 1_000_000:
        parser.error("--items takes a number from 40 to 1000000")
    # Ends what was started, as ^C does.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    failed, results = False, {}
    chosen = [CARRIERS[name] for name in dict.fromkeys(options.carrier or CARRIERS)]
    try:
        tools = programs()
        check(chosen, tools[0])
    except (Failed, OSError, subprocess.SubprocessError) as failure:
        sys.exit(f"check-sync.py: {failure}")
    for carrier in chosen:
        root = tempfile.mkdtemp(prefix=f"keychain-{carrier.__name__.lower()}-")
        print(f"{carrier.title}: {options.items} items on each of three machines, in {root}", flush=True)
        try:
            results[carrier.title] = result = Run(root, carrier, options.items, tools, options.deadline).run()
            print(told(carrier.title, result), flush=True)
            bad = is_bad(result, options)
        except (Failed, OSError, subprocess.SubprocessError) as failure:
            print(f"{carrier.title}: {failure}", file=sys.stderr, flush=True)
            bad = True
        failed = failed or bad
        if options.keep or bad:
            print(f"The files are in {root}")
        else:
            shutil.rmtree(root)
    if options.record and len(results) == len(CARRIERS):
        record(options.record, results, options)
    sys.exit(1 if failed else 0)


main()
