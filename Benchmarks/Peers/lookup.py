# SPDX-License-Identifier: Apache-2.0
"""`keychainctl get` beside `secret-tool lookup` of a GNOME Keyring; started by Scripts/bench.sh.

lookup.py TOOL BENCHMARKS OUTPUT
  TOOL, BENCHMARKS: keychainctl and keychain-benchmarks. OUTPUT: the folder that the stores are in.
"""

import shutil
import signal
import statistics
import sys

import commands
import stores
from clients import CommandClient, Failure
from secret_services import GnomeKeyring
from session import Missing, Session

SIZE = 100
ROUNDS, CALLS = 9, 11
WIDTH = 42
NEEDED = {"secret-tool": "libsecret-tools", "gnome-keyring-daemon": "gnome-keyring", "dbus-daemon": "dbus-daemon",
          "dbus-send": "dbus-bin"}


def main():
    tool, benchmarks, folder = sys.argv[1:4]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    print(f"a value by a command, {SIZE} items: processor time")
    session = Session(folder)
    try:
        ours = CommandClient("keychainctl get", vault(session, benchmarks), "command", commands.keychainctl(tool), None)
        report(*measured([ours, *peer(session)]))
    finally:
        session.close()


def stop(number, _):
    """Ends the program as an error would, so that the session is closed."""
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


def vault(session, benchmarks):
    store = stores.VaultStore(session.home("vault"), None, benchmarks)
    store.fill(SIZE, 60)
    return store


def peer(session):
    """The one client, or none if it cannot be measured here, which the output says."""
    absent = [package for program, package in NEEDED.items() if not shutil.which(program)]
    if absent:
        print(f"  secret-tool lookup: not measured: needs: apt-get install {' '.join(absent)}")
        return []
    store = GnomeKeyring("GNOME Keyring", session.home("s0"), None, [])
    client = CommandClient("secret-tool lookup", store, "command", commands.secret_tool, None)
    try:
        store.start()
        for index in range(SIZE):
            client.call("add", index)
    except (Missing, Failure, OSError) as error:
        print(f"  secret-tool lookup: not measured: {error}")
        return []
    return [client]


def measured(clients):
    """In turns, so that a drifting machine slows all of them alike: the median of the rounds' medians."""
    rounds = {client: [] for client in clients}
    for number in range(ROUNDS + 1):
        for client, medians in rounds.items():
            times = [client.call("read", (number * CALLS + call) % SIZE)[1] for call in range(CALLS)]
            # The first round reads the programs from the disk.
            if number > 0:
                medians.append(statistics.median(times))
    return [(client.name, statistics.median(medians)) for client, medians in rounds.items()]


def report(ours, theirs=None):
    for name, nanoseconds in filter(None, (theirs, ours)):
        ratio = f"{nanoseconds / theirs[1]:6.2f} × {theirs[0]}" if theirs and name == ours[0] else ""
        print(f"  {name:<{WIDTH}}{nanoseconds / 1000:9.1f} µs  {ratio}".rstrip())


main()
