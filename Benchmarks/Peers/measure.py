# SPDX-License-Identifier: Apache-2.0
"""Measures contenders in turns, so that a drifting machine slows all of them alike."""

import statistics
import time

from clients import Failure, NoAnswer

ROUNDS = 5
# How long the calls of one operation last in one round, and how many there are at most.
TURN_SECONDS, TURN_CALLS = 0.1, 100
CLIENT_COUNTS = (1, 8)


class Result:
    """What was seen of one client at one size."""

    def __init__(self, client, size):
        self.client, self.size = client, size
        self.samples, self.failures, self.throughput = {}, {}, {}
        self.given_up = set()
        self.memory = None
        self.spent = 0.0

    def add(self, operation, samples):
        """A round's median."""
        walls, processors = zip(*samples)
        processor = statistics.median(processors) if processors[0] is not None else None
        self.samples.setdefault(operation, []).append((statistics.median(walls), processor))

    def median(self, operation):
        """Wall and processor time in nanoseconds; `None` if it was not measured."""
        rounds = self.samples.get(operation)
        if not rounds:
            return None
        processors = [processor for _, processor in rounds if processor is not None]
        return statistics.median(wall for wall, _ in rounds), statistics.median(processors) if processors else None


def measure(clients, seconds, say):
    """Results of the clients, each at the size that its store has."""
    results = [Result(client, client.store.size) for client in clients]
    for number in range(ROUNDS):
        for operation in ("read", "again", "add", "update", "list", "fresh"):
            for result in results:
                if operation in result.client.operations and may_go_on(result, operation, number, seconds):
                    take_turn(result, operation, number)
    for result in results:
        say(f"  {result.client.name}")
        start = time.monotonic()
        for operation in ("read", "update"):
            for count in CLIENT_COUNTS:
                measure_throughput(result, operation, count)
        result.spent += time.monotonic() - start
        result.memory = memory(result.client)
        result.client.stop()
    return results


def may_go_on(result, operation, number, seconds):
    """The first round is always measured."""
    return operation not in result.given_up and (number == 0 or result.spent < seconds)


def take_turn(result, operation, number):
    start = time.monotonic()
    try:
        if operation == "add":
            add_and_delete(result, number)
        else:
            result.add(operation, calls(result, operation, number))
    except Failure as failure:
        # Once may be chance.
        if operation in result.failures or isinstance(failure, NoAnswer):
            result.given_up.add(operation)
        result.failures[operation] = str(failure)
        recover(result)
    result.spent += time.monotonic() - start


def calls(result, operation, number):
    """As many calls as fit. The strides are coprime to the sizes, so that all items are met before one is met twice."""
    client, size = result.client, result.size
    pick = {"list": lambda _: 0, "again": lambda call: call % min(size, 16)}.get(
        operation, lambda call: (number * 104729 + call * 7919 + 1) % size)
    perform = client.fresh if operation == "fresh" else lambda index: client.call(operation, index)
    if operation == "again":  # they have to be read once before
        for index in range(min(size, 16)):
            client.call("again", index)
    return timed_turn(lambda call: perform(pick(call)))


def add_and_delete(result, number):
    """Deletes what it has added, so that the store keeps its size."""
    client, first = result.client, result.size + number * TURN_CALLS
    added = timed_turn(lambda call: client.call("add", first + call))
    result.add("add", added)
    result.add("delete", [client.call("delete", first + call) for call in range(len(added))])


def timed_turn(perform):
    start, samples = time.monotonic(), []
    while not samples or (time.monotonic() - start < TURN_SECONDS and len(samples) < TURN_CALLS):
        samples.append(perform(len(samples)))
    return samples


def measure_throughput(result, operation, count):
    if operation in result.given_up:
        return
    try:
        result.throughput[operation, count] = result.client.throughput(operation, result.size, 1, count)
    except Failure as failure:
        result.failures[f"{operation} by {count}"] = str(failure)
        recover(result)


def recover(result):
    """Lets the next call have a daemon and a client that work."""
    try:
        result.client.stop()
        result.client.store.revive()
    except Failure as failure:
        result.failures["daemon"] = str(failure)


def memory(client):
    """Pss in bytes of the client and of its daemons; `None` where the kernel does not show it."""
    pids = client.pids()
    # A client that failed has no process.
    return total(pids) if pids or client.is_command else None, total(client.store.daemons())


def total(pids):
    sizes = [proportional_set(pid) for pid in pids]
    return None if None in sizes else sum(sizes)


def proportional_set(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return None
