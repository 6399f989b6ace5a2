# SPDX-License-Identifier: Apache-2.0
# The objects of a ring: headers, and what is sealed behind them, as specified in Docs/FORMAT.md, Sync.

import struct

import hpke
import xwing
from items import SCHEMA, bucket, decode_item, item_bytes, unpad
from primitives import Damaged, Reader, authenticate, need, open_sealed
from sync_keys import ascending, counter, limited, sha, tips, vector, vector_bytes, verify

HEADERS = {b"KSEG": "epoch writer:8 number previous:32", b"KSNM": "epoch snapshot:16", b"KSNP": "epoch snapshot:16 part",
           b"KHED": "epoch member:16 number", b"KRNG": "", b"KWRP": "epoch recipient:16 author:16"}
VALUE, DELETION = 1, 2


def read_header(data, kind, ring=None):
    """The fields of the header by name, its bytes, and the rest."""
    reader = Reader(data)
    need(len(data) <= 1 << 20 and reader.take(4) == kind, "is an object of another kind")
    need((reader.number("B"), reader.number("B")) == (1, 1), "is an object of another format or suite")
    header = {"ring": reader.take(32)}
    need(ring in (None, header["ring"]), "is an object of another ring")
    for field in HEADERS[kind].split():
        name, _, length = field.partition(":")
        if length:
            header[name] = reader.take(int(length))
        else:
            header[name] = {"epoch": lambda: reader.take(20), "number": lambda: counter(reader),
                            "part": lambda: reader.number("H")}[name]()
    need(header.get("number") != 0 and header.get("part") != 0, "has the number 0")
    return header, data[:reader.at], data[reader.at:]


def object_bucket(length):
    """Like that of values, with 1024 as the lowest and without 1448."""
    return 1024 if length <= 1024 else max(2048, bucket(length, is_value=True))


def open_object(data, kind, ring, key):
    """`key` is a function of the header. Returns the header, its bytes, and the body."""
    header, clear, rest = read_header(data, kind, ring)
    padded = Reader(open_sealed(rest, key(header), clear))
    body = padded.take(padded.number("I"))
    need(len(data) == object_bucket(len(clear) + 32 + len(body)), "has padding of a wrong length")
    need(not any(padded.data[padded.at:]), "has padding that is not zero")
    return header, clear, body


def unsigned(clear, body, what, author_key):
    """Checks the signature at the end of a body."""
    need(len(body) >= 64, "is too short")
    verify(author_key, what, clear + body[:-64], body[-64:])


# Key wraps and messages of joining

def open_wrap(data, ring, device):
    header, clear, rest = read_header(data, b"KWRP", ring)
    need(len(rest) == xwing.ENCAPSULATED + 64 + 16 + 64, "has a wrong length")
    need(header["recipient"] == device.member, "is for another member")
    try:
        secrets = xwing.open_sealed(device.wrapping, rest[:-64], b"swift-keychain/1 hybrid key seal\0", clear)
    except hpke.Refused as refusal:
        raise Damaged(str(refusal)) from None
    return header | {"root": secrets[:32], "secret": secrets[32:], "signed": data[:-64], "signature": data[-64:]}


def read_invitation(data, key):
    authenticate(key, data[:-32], data[-32:], "is not of this invitation")
    reader = Reader(data[:-32])
    need(reader.take(6) == b"KINV\1\1", "is an object of another kind")
    found = {"ring": reader.take(32), "tips": tips(reader), "nonce": reader.take(16)}
    reader.end()
    return found


def read_request(data, key):
    authenticate(key, data[:-32], data[-32:], "is not of this invitation")
    reader = Reader(data[:-32])
    need(reader.take(6) == b"KJRQ\1\1", "is an object of another kind")
    found = {"ring": reader.take(32), "keys": reader.take(1248), "invitation": reader.take(16)}
    reader.end()
    return found


# Records

def read_fields(reader):
    fields = {"kind": reader.number("B"), "flags": reader.number("B"), "class": reader.number("B"),
              "item": reader.take(16), "counter": counter(reader), "time": reader.number("Q")}
    need(fields["kind"] in (VALUE, DELETION) and fields["flags"] == 0, "has a record of an unknown kind")
    need(fields["class"] in (6, 7, 8) and (fields["kind"] == VALUE or fields["class"] == 8), "has a record of a wrong class")
    return fields


def record_header(ring, record):
    return ring + struct.pack(">BBB16s8sQQ32s", *(record[name] for name in (
        "kind", "flags", "class", "item", "writer", "counter", "time", "context")))


def open_record(record, ring, epoch, keys, author_key, author):
    header = record_header(ring, record)
    one_time_key = open_sealed(record["sealed"][:60], keys[record["class"]], b"KREK\1\1" + epoch + header)
    signed = open_sealed(record["sealed"][60:], one_time_key, b"KREC\1\1" + header)
    signature, content = signed[:64], signed[64:]
    verify(author_key, b"record", header + author + content, signature)
    need(record["kind"] == VALUE or not content, "has a deletion with content")
    return content


def decode_content(content):
    """The item and its value."""
    reader = Reader(unpad(content, is_value=True))
    need(reader.number("B") == 1, "is an item in an unknown form")
    item = decode_item(reader.take(reader.number("I")))
    has_value, value = reader.number("B"), reader.data[reader.at:]
    need(has_value == 1 or has_value == 0 and not value, "has a value with an invalid presence byte")
    return item | {"value": value if has_value else None}


def primary_key(item):
    major, minor, scope, _ = SCHEMA[item["class"]]
    key = item["class"].encode()
    for name in [major, minor, *scope.split()]:
        part = item_bytes(item, name)
        key += name.encode() + struct.pack(">I", len(part)) + part
    return key


# Segments, snapshots, heads

def read_segment(clear, body, signing_key):
    """`signing_key` gives the key of a member."""
    reader = Reader(body)
    flags = reader.number("B")
    need(flags <= 1, "has unknown flags")
    found = {"continues": flags == 1, "author": reader.take(16), "tips": tips(reader)}
    found["piece"] = reader.take(reader.number("I"))
    reader.take(64)
    reader.end()
    unsigned(clear, body, b"segment", signing_key(found["author"]))
    return found


def read_batch(data, writer):
    reader = Reader(data)
    batch = {"after": counter(reader), "through": counter(reader), "time": reader.number("Q"), "vector": vector(reader)}
    need(batch["after"] <= batch["through"] and writer not in batch["vector"], "is a batch that contradicts itself")
    batch["contexts"] = [read_context(reader, batch["vector"]) for _ in range(limited(reader, 256))]
    batch["records"], last = [], batch["after"]
    for _ in range(reader.number("H")):
        record, index = read_fields(reader), reader.number("H")
        need(last < record["counter"] <= batch["through"] and index < len(batch["contexts"]), "has records out of order")
        last, seen = record["counter"], batch["contexts"][index]
        batch["records"].append(record | {"writer": writer, "seen": seen, "context": sha(vector_bytes(seen)),
                                          "sealed": reader.take(reader.number("I"))})
    reader.end()
    return batch


def read_context(reader, known):
    writers, context, last = sorted(known), dict(known), -1
    for _ in range(limited(reader, 4096)):
        index, number = reader.number("H"), counter(reader)
        need(last < index < len(writers) and number < known[writers[index]], "has a context that is not below its vector")
        last = index
        if number:
            context[writers[index]] = number
        else:
            del context[writers[index]]
    return context


def read_manifest(clear, body, signing_key):
    reader = Reader(body)
    found = {"author": reader.take(16), "tips": tips(reader), "time": reader.number("Q"), "digest": reader.take(32),
             "count": reader.number("I"), "writers": {}}
    for _ in range(limited(reader, 4096)):
        writer = reader.take(8)
        found["writers"][writer] = {"author": reader.take(16), "counter": counter(reader), "number": counter(reader),
                                    "hash": reader.take(32)}
    ascending(list(found["writers"]))
    found["parts"] = [reader.take(32) for _ in range(limited(reader, 4096))]
    reader.take(64)
    reader.end()
    unsigned(clear, body, b"snapshot", signing_key(found["author"]))
    return found


def read_snapshot_records(data, count):
    reader, records = Reader(data), []
    for _ in range(count):
        record = read_fields(reader) | {"writer": reader.take(8), "context": reader.take(32)}
        records.append(record | {"sealed": reader.take(reader.number("I"))})
        need(record["kind"] == VALUE, "has a deletion in a snapshot")
    reader.end()
    return records


def read_head(clear, body, author_key):
    reader = Reader(body)
    found = {"previous": reader.take(32), "tips": tips(reader), "time": reader.number("Q"), "digest": reader.take(32),
             "count": reader.number("I"), "vector": vector(reader)}
    reader.take(64)
    reader.end()
    unsigned(clear, body, b"head", author_key)
    return found
