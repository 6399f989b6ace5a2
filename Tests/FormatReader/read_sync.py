#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A second implementation of what machines exchange, written from Docs/FORMAT.md, Sync. The tests compare the package with it.
"""Reads the ring in a shared folder with its recovery key, and prints one JSON object.

Exit codes: 0 no problem, 1 something is damaged or missing, 2 the ring cannot be opened."""

import argparse
import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # Keep the source folder unchanged.

import sync_keys as k
import sync_objects as o
from primitives import Damaged, Refused, need
from read_vault import from_descriptor, plain, recovery_key
from ring_log import RingLog, read_entry
from sync_folder import Folder
from user_secrets import Unusable


class Ring:
    """A ring that a member has opened: its log, the keys of the epochs, and what its segments and snapshots add up to."""

    def __init__(self, folder, ring, device):
        self.folder, self.ring, self.problems = folder, ring, []
        wraps = [wrap for name, data in folder.under("k/") if name.endswith(device.member.hex())
                 if (wrap := self.attempt(name, lambda: o.open_wrap(data, ring, device)))]
        if not wraps:
            raise Refused("no ring in the folder has this recovery key")
        self.keys = k.ring_keys(wraps[0]["secret"], ring)
        self.log = RingLog(filter(None, (self.attempt(name, lambda: self.entry(name, data))
                                         for name, data in folder.under("g/"))), ring)
        self.added, self.active = self.log.members()
        self.epochs = {wrap["epoch"]: k.epoch_keys(wrap["root"], ring, wrap["epoch"]) for wrap in wraps
                       if self.attempt("k/", lambda: self.check(wrap))}
        self.vector, self.last, self.authors, self.items, self.segments = {}, {}, {}, {}, 0

    def attempt(self, name, body):
        try:
            return body()
        except Damaged as failure:
            self.problems.append({"object": name, "reason": str(failure)})
            return None

    # Keys

    def entry(self, name, data):
        _, _, body = o.open_object(data, b"KRNG", self.ring, lambda header: self.keys["log"])
        entry = read_entry(body)
        need(name == f"g/{entry['hash'].hex()}", "has another name")
        return entry

    def check(self, wrap):
        """Of a member that may write, and of the root key that the log names."""
        need(wrap["author"] in self.added and self.added[wrap["author"]]["role"] != 2, "is a wrap of nobody")
        k.verify(self.signing_key(wrap["author"]), b"key wrap", wrap["signed"], wrap["signature"])
        need(self.log.epochs().get(wrap["epoch"]) == k.commitment(wrap["root"]), "is a wrap of a wrong key")
        return True

    def signing_key(self, member):
        need(member in self.added, "is of an unknown member")
        return self.added[member]["keys"][:32]

    def open(self, name, data, kind):
        def key(header):
            need(header["epoch"] in self.epochs, "is of an epoch without a key")
            return self.epochs[header["epoch"]]["transport"]
        return o.open_object(data, kind, self.ring, key)

    # Snapshots

    def read_snapshots(self):
        for name, data in self.folder.under("s/"):
            if name.endswith("/" + "0" * 16):
                self.attempt(name, lambda: self.join_snapshot(name, data))

    def join_snapshot(self, name, data):
        header, clear, body = self.open(name, data, b"KSNM")
        need(name == f"s/{header['snapshot'].hex()}/{0:016x}", "has another name")
        manifest = o.read_manifest(clear, body, self.signing_key)
        need(manifest["author"] in self.active, "is of a member that is not active")
        need(all(writer["author"] in self.added for writer in manifest["writers"].values()), "has a writer of nobody")
        records = o.read_snapshot_records(b"".join(self.parts(header, manifest)), manifest["count"])
        values = {}
        for record in records:
            author = manifest["writers"][record["writer"]]["author"]
            values[record["item"], record["writer"], record["counter"]] = self.value(record, author, header["epoch"])
        need(k.state_sum(self.keys, values) == manifest["digest"], "has another digest than its records")
        self.join(values, manifest["writers"])

    def parts(self, header, manifest):
        for number, digest in enumerate(manifest["parts"], 1):
            name = f"s/{header['snapshot'].hex()}/{number:016x}"
            found = [data for data in self.folder.objects.get(name, []) if k.sha(data) == digest]
            need(found, f"lacks part {number}")
            part, _, body = self.open(name, found[0], b"KSNP")
            need((part["snapshot"], part["part"], part["epoch"]) == (header["snapshot"], number, header["epoch"]),
                 "has a part of another snapshot")
            yield body

    def join(self, values, writers):
        """Values that the snapshot covers and lacks are gone; its own are added unless they were covered here."""
        for item, known in list(self.items.items()):
            self.items[item] = {dot: value for dot, value in known.items() if (item, *dot) in values
                                or dot[1] > writers.get(dot[0], {"counter": 0})["counter"]}
        for (item, *dot), value in values.items():
            if dot[1] > self.vector.get(dot[0], 0):
                self.items.setdefault(item, {})[tuple(dot)] = value
        for writer, state in writers.items():
            self.authors[writer] = state["author"]
            if state["counter"] >= self.vector.get(writer, 0) and state["number"] >= self.last.get(writer, (0,))[0]:
                self.vector[writer], self.last[writer] = state["counter"], (state["number"], state["hash"])

    def value(self, record, author, epoch):
        content = o.open_record(record, self.ring, epoch, self.epochs[epoch], self.signing_key(author), author)
        return record | {"content": content}

    # Segments

    def read_segments(self):
        """In causal order: a batch waits for what its author had seen."""
        writers = {bytes.fromhex(name.split("/")[1]) for name, _ in self.folder.under("l/")}
        while any([self.attempt(writer.hex(), lambda: self.next_batch(writer)) for writer in sorted(writers)]):
            pass

    def next_batch(self, writer):
        number, previous = self.last.get(writer, (0, bytes(32)))
        piece, epoch, continues = b"", None, True
        while continues:
            found = self.segment(writer, number + 1, previous)
            if not found:
                return False
            header, segment, digest = found
            self.authors.setdefault(writer, segment["author"])
            need(self.authors[writer] == segment["author"], "has two authors")
            number, previous, epoch = number + 1, digest, header["epoch"]
            piece, continues = piece + segment["piece"], segment["continues"]
        batch = o.read_batch(piece, writer)
        need(batch["after"] == self.vector.get(writer, 0), "is a batch that does not follow the one before")
        if any(self.vector.get(other, 0) < seen for other, seen in batch["vector"].items()):
            return False
        for record in batch["records"]:
            self.apply(self.value(record, self.authors[writer], epoch))
        self.segments += number - self.last.get(writer, (0,))[0]
        self.vector[writer], self.last[writer] = batch["through"], (number, previous)
        return True

    def segment(self, writer, number, previous):
        name = f"l/{writer.hex()}/{number:016x}"
        for data in self.folder.objects.get(name, []):
            header, clear, body = self.open(name, data, b"KSEG")
            need((header["writer"], header["number"]) == (writer, number), "has another name")
            segment = o.read_segment(clear, body, self.signing_key)
            if header["previous"] == previous and self.is_accepted(segment["author"], writer, number):
                return header, segment, k.sha(data)
        return None

    def is_accepted(self, author, writer, number):
        return author in self.active or number <= self.log.cuts(author).get(writer, (0,))[0]

    def apply(self, record):
        seen = record["seen"] | {record["writer"]: record["counter"] - 1}
        values = self.items.setdefault(record["item"], {})
        for dot in [dot for dot in values if dot[1] <= seen.get(dot[0], 0)]:
            del values[dot]
        if record["kind"] == o.VALUE:
            values[record["writer"], record["counter"]] = record

    # What it prints

    def dots(self):
        return [(item, *dot) for item, values in self.items.items() for dot in values]

    def shown(self):
        for name, values in sorted(self.items.items()):
            if not values:
                continue
            record = max(values.values(), key=lambda value: (value["time"], value["writer"], value["counter"]))
            item = self.attempt(name.hex(), lambda: self.item(name, record))
            if item:
                yield plain(item) | {"id": name.hex(), "class number": record["class"], "values": len(values)}

    def item(self, name, record):
        item = o.decode_content(record["content"])
        need(k.item_id(self.keys, o.primary_key(item)) == name, "is an item of another name")
        return item

    def heads(self):
        """Whether the newest head of each active member is of this very state."""
        newest = {}
        for name, data in sorted(self.folder.under("h/")):
            header, clear, body = self.open(name, data, b"KHED")
            newest[header["member"]] = o.read_head(clear, body, self.signing_key(header["member"]))
        for member, head in newest.items():
            same = head["vector"] == self.vector
            if same:
                need(head["digest"] == k.state_sum(self.keys, self.dots()), "is a head with another digest")
            yield {"member": member.hex(), "values": head["count"], "isOfThisState": same}

    def found(self):
        self.read_snapshots()
        self.read_segments()
        members = [{"id": member.hex(), "name": entry["name"], "role": entry["role"], "active": member in self.active}
                   for member, entry in sorted(self.added.items())]
        waiting = sorted(name for name, _ in self.folder.under("l/")
                         if int(name.split("/")[2], 16) > self.last.get(bytes.fromhex(name.split("/")[1]), (0,))[0])
        heads = self.attempt("h/", lambda: list(self.heads()))
        return {"ring": self.ring.hex(), "members": members, "epochs": len(self.epochs), "items": list(self.shown()),
                "heads": heads, "segments": self.segments, "waiting": waiting, "damaged": self.folder.damaged, "problems": self.problems}


def open_any(folder, key):
    device = k.recovery_device(key)
    for path in sorted(Path(folder, "skc1").iterdir()):
        if not re.fullmatch("[0-9a-f]{64}", path.name):
            continue
        ring = bytes.fromhex(path.name)
        try:
            return Ring(Folder(folder, ring), ring, device)
        except Refused:
            continue
    raise Refused("no ring in the folder has this recovery key")


def main(arguments):
    if arguments[:1] == ["--vectors"]:
        from sync_vectors import results
        print(json.dumps({name: result for path in arguments[1:] for name, result in results(path)}))
        return 0
    parser = argparse.ArgumentParser(description="Reads the ring in a shared folder as Docs/FORMAT.md specifies it.")
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--recovery-key-fd", type=int, metavar="NUMBER", required=True)
    options = parser.parse_args(arguments)
    try:
        found = open_any(options.folder, recovery_key(from_descriptor(options.recovery_key_fd))).found()
    except (Refused, Unusable, Damaged, OSError, ValueError) as failure:
        print(f"cannot open: {failure}", file=sys.stderr)
        return 2
    print(json.dumps(found))
    return 1 if found["problems"] or found["damaged"] or found["waiting"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
