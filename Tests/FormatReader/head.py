# SPDX-License-Identifier: Apache-2.0
# The head, as specified in Docs/FORMAT.md.

import hashlib
import struct

from primitives import HEAD, Damaged, Reader, associated, authentication, derive, need, open_sealed

MODULUS = 1 << 256
COUNTS = ("epoch", "sequence", "items", "lookups", "quarantined")
RING_COUNTS = ("outgoing", "ringRows")
RING_FIELDS = ("outgoing", "outgoingSum", "ringRows", "ringSum")


def row_key(index, vault):
    return derive(index, vault, "head rows")


def length_and(data):
    return struct.pack(">I", len(data)) + data


def bytes_of(value):
    return value if isinstance(value, bytes) else b""


def number_of(value):
    return value if isinstance(value, int) else -1


def item_message(row):
    message = b"\1" + b"".join(struct.pack(">q", number_of(row[name]))
                               for name in ("id", "version", "class", "generation"))
    message += b"".join(length_and(bytes_of(row[name])) for name in ("uuid", "major", "minor", "scope"))
    metadata, value = bytes_of(row["metadata"]), bytes_of(row["value"])
    first, rest = metadata[:12], metadata[12:]
    message += struct.pack(">I", len(metadata)) + first + rest[max(0, len(rest) - 16):]
    return message + struct.pack(">I", len(value)) + value[:60]


def lookup_message(row_id, digest):
    return b"\2" + struct.pack(">q", number_of(row_id)) + length_and(bytes_of(digest))


def outgoing_message(item, name, time):
    entry = b"\3" + struct.pack(">q", item) if item is not None else b"\4" + length_and(bytes_of(name))
    return entry + struct.pack(">Q", max(0, number_of(time)))


def name_message(item, name):
    return b"\5" + struct.pack(">q", number_of(item)) + length_and(bytes_of(name))


def state_message(name, sealed):
    sealed = bytes_of(sealed)
    rest = sealed[12:]
    return (b"\6" + length_and(bytes_of(name)) + struct.pack(">I", len(sealed)) + sealed[:12]
            + rest[max(0, len(rest) - 16):])


def row_digest(key, message):
    return authentication(key, message).finalize()


def total(digests, without=()):
    """The sum of the digests, minus the sum of others."""
    def summed(parts):
        return sum(int.from_bytes(part, "big") for part in parts)
    return ((summed(digests) - summed(without)) % MODULUS).to_bytes(32, "big")


def open_head(sealed, index, vault):
    content = open_sealed(sealed, derive(index, vault, "head"), associated(vault, HEAD, bytes(16), 0, 0, 0))
    reader = Reader(content)
    version = reader.number("B")
    need(version in (1, 2), "is a head of an unknown version")
    head = {name: reader.number("Q") for name in COUNTS}
    head |= {name: reader.take(32) for name in ("itemSum", "lookupSum", "keybag")}
    if version == 2:
        head |= {name: reader.number("Q") if name in RING_COUNTS else reader.take(32) for name in RING_FIELDS}
    reader.end()
    return head


def ring_totals(ring, key):
    """Number and sum of the rows: of the outbox, and of the other tables of a ring."""
    if ring is None:
        return dict.fromkeys(RING_FIELDS)
    outgoing = [outgoing_message(*row) for row in ring["outbox"]]
    others = [name_message(*row) for row in ring["names"]] + [state_message(*row) for row in ring["state"]]
    totals = [part for messages in (outgoing, others)
              for part in (len(messages), total(row_digest(key, message) for message in messages))]
    return dict(zip(RING_FIELDS, totals))


def differences(head, bag, rows, lookups, quarantined, ring):
    """The fields in which the vault differs from its head."""
    key = row_key(bag["index"], bag["vault"])
    found = {"items": len(rows), "lookups": len(lookups), "quarantined": quarantined,
             "itemSum": total(row_digest(key, item_message(row)) for row in rows),
             "lookupSum": total(row_digest(key, lookup_message(item, digest)) for digest, item in lookups),
             "keybag": hashlib.sha256(bag["data"]).digest()} | ring_totals(ring, key)
    return [name for name, value in found.items() if head.get(name) != value]


def check_head(sealed, bag, rows, lookups, quarantined, ring):
    try:
        need(isinstance(sealed, bytes), "is missing")
        head = open_head(sealed, bag["index"], bag["vault"])
    except Damaged:
        return {"differs": ["head"]}
    return {name: head[name] for name in COUNTS} | {"differs": differences(head, bag, rows, lookups, quarantined, ring)}
