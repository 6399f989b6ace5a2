# SPDX-License-Identifier: Apache-2.0
# The ring log: which of its entries count, and what follows from them, as specified in Docs/FORMAT.md, Sync.

import struct

from primitives import Damaged, Reader, need
from sync_keys import ascending, counter, limited, member_id, sha, tips, verify

FOUND, ADD, REMOVE, ROTATE, POLICY = range(1, 6)
DEVICE, READER, RECOVERY = 1, 2, 3
MAY = {DEVICE: {FOUND, ADD, REMOVE, ROTATE, POLICY}, RECOVERY: {ADD, REMOVE}, READER: {REMOVE}}


def read_entry(data):
    need(len(data) <= 16 << 10, "is an entry that is too large")
    reader = Reader(data)
    entry = {"hash": sha(data), "data": data, "ring": reader.take(32), "parents": tips(reader), "author": reader.take(16),
             "action": reader.number("B")}
    payload = Reader(reader.take(reader.number("H")))
    entry["signature"] = reader.take(64)
    reader.end()
    if entry["action"] in PAYLOADS:
        entry |= PAYLOADS[entry["action"]](payload)
        payload.end()
    return entry


def read_card(reader, has_role=True):
    role, keys, name = reader.number("B"), reader.take(1248), reader.take(reader.number("B"))
    need(role in MAY and len(name) <= 128, "has a card of an unknown role, or with too long a name")
    return {"adds": member_id(keys), "role": role, "keys": keys, "name": name.decode("utf-8", "replace")}


def read_epoch(reader):
    return {"number": reader.number("I"), "commitment": reader.take(32)}


def read_removals(reader):
    removes = {}
    for _ in range(limited(reader, 65535)):
        member = reader.take(16)
        removes[member] = {reader.take(8): (counter(reader), reader.take(32)) for _ in range(limited(reader, 65535))}
        ascending(list(removes[member]))
    ascending(list(removes))
    return {"removes": removes}


def read_policy(reader):
    kind = reader.number("B")
    need(kind <= 1, "has an unknown policy")
    groups = [reader.take(reader.number("B")) for _ in range(limited(reader, 65535))] if kind else None
    return {"groups": groups and ascending(groups)}


PAYLOADS = {FOUND: lambda reader: read_card(reader) | read_epoch(reader), ADD: read_card, REMOVE: read_removals,
            ROTATE: read_epoch, POLICY: read_policy}


class RingLog:
    """A pure function of the set of entries."""

    def __init__(self, entries, ring):
        entries = {entry["hash"]: entry for entry in entries}
        need(ring in entries and entries[ring]["action"] == FOUND, "has no first entry")
        self.ring, self.entries, self.before, self.depth = ring, {}, {}, {}
        self.keys = {entry["adds"]: entry["keys"] for entry in entries.values() if "adds" in entry}
        self.consider(entries)
        self.counts = self.evaluate()

    # What is considered

    def consider(self, entries):
        """Those whose parents are, parents first. What follows an unknown action is not."""
        waiting = dict(entries)
        while True:
            ready = [entry for entry in waiting.values() if all(
                parent in self.entries and self.entries[parent]["action"] in PAYLOADS for parent in entry["parents"])]
            if not ready:
                return
            for entry in ready:
                del waiting[entry["hash"]]
                if self.is_genuine(entry):
                    self.add(entry)

    def is_genuine(self, entry):
        is_first = entry["hash"] == self.ring
        if is_first != (not entry["parents"]) or entry["ring"] != (bytes(32) if is_first else self.ring):
            return False
        if (entry["action"] == FOUND) != is_first or is_first and (entry["adds"], entry["role"]) != (entry["author"], DEVICE):
            return False
        try:
            key = self.keys.get(entry["author"])
            need(key is not None, "has an unknown author")
            verify(key[:32], b"ring entry", entry["data"][:-64], entry["signature"])
        except Damaged:
            return False
        return True

    def add(self, entry):
        parents = entry["parents"]
        self.entries[entry["hash"]] = entry
        self.before[entry["hash"]] = set(parents).union(*(self.before[parent] for parent in parents))
        self.depth[entry["hash"]] = 1 + max((self.depth[parent] for parent in parents), default=-1)

    def order(self, entry):
        return self.depth[entry["hash"]], entry["hash"]

    # What counts

    def additions(self, entry):
        """Entries before this one that add its author with a role that may do this."""
        def may(added):
            role = added["role"]
            alone = set(entry.get("removes", ())) <= {entry["author"]}
            return entry["action"] in MAY[role] and (role != READER or alone) or entry["action"] > POLICY and role == DEVICE
        return [other for name in self.before[entry["hash"]] if (other := self.entries[name]).get("adds") == entry["author"]
                and may(other)]

    def removals(self, entry):
        """Entries that remove its author, do not know of it, and can void it."""
        leaves = set(entry.get("removes", ())) == {entry["author"]}
        return [other for other in self.entries.values() if other is not entry
                and entry["author"] in other.get("removes", ()) and entry["hash"] not in self.before[other["hash"]]
                and not (leaves and other["author"] == entry["author"])]

    def wrong_epochs(self):
        """Entries whose number is not one more than the highest before; those do not count there either."""
        numbers, wrong = {}, {}
        for entry in sorted(self.entries.values(), key=self.order):
            if "commitment" in entry:
                expected = 1 + max((numbers.get(other, 0) for other in self.before[entry["hash"]]), default=0)
                if entry["number"] == expected:
                    numbers[entry["hash"]] = expected
                else:
                    wrong[entry["hash"]] = False
        return wrong

    def evaluate(self):
        verdicts = self.wrong_epochs() | {self.ring: True}
        links = {name: (self.additions(entry), self.removals(entry)) for name, entry in self.entries.items()}
        while len(verdicts) < len(self.entries):
            progress = {name: verdict for name, (added, removed) in links.items() if name not in verdicts
                        and (verdict := self.decide(added, removed, verdicts)) is not None}
            verdicts |= progress or {self.first_undecided(links, verdicts): True}
        return {name for name, counts in verdicts.items() if counts}

    def decide(self, added, removed, verdicts):
        added, removed = ([verdicts.get(other["hash"]) for other in others] for others in (added, removed))
        if True in removed or all(verdict is False for verdict in added):
            return False
        return True if True in added and None not in removed else None

    def first_undecided(self, links, verdicts):
        """The one that counts because nothing else can decide."""
        ranks = []
        for name, (added, removed) in links.items():
            if name not in verdicts and any(verdicts.get(other["hash"]) for other in added):
                author = self.entries[name]["author"]
                first = min(self.order(other) for other in self.entries.values()
                            if other.get("adds") == author and verdicts.get(other["hash"]))
                ranks.append((self.dependencies(name, links, verdicts), first, self.order(self.entries[name]), name))
        return min(ranks)[-1]

    def dependencies(self, name, links, verdicts):
        seen, following = {name}, [name]
        while following:
            for other in sum(links[following.pop()], []):
                if other["hash"] not in verdicts and other["hash"] not in seen:
                    seen.add(other["hash"])
                    following.append(other["hash"])
        return len(seen)

    # What follows

    @property
    def counting(self):
        return [self.entries[name] for name in self.counts]

    def members(self):
        """The members that an entry that counts added; those that are active."""
        added = {entry["adds"]: entry for entry in sorted(self.counting, key=self.order, reverse=True) if "adds" in entry}
        removed = {member for entry in self.counting for member in entry.get("removes", ())}
        return added, set(added) - removed

    def cuts(self, member):
        """For each writer of a member that was removed: the number of the last segment that is accepted."""
        accepted = {}
        for entry in self.counting:
            for writer, cut in entry.get("removes", {}).get(member, {}).items():
                accepted[writer] = max(cut, accepted.get(writer, (0, b"")))
        return accepted

    def epochs(self):
        """Those that count: the commitment of each epoch id."""
        return {struct.pack(">I", entry["number"]) + entry["hash"][:16]: entry["commitment"] for entry in self.counting
                if "commitment" in entry}
