# SPDX-License-Identifier: Apache-2.0
# The facts of Tests/Vectors/sync.json, computed by this implementation.

import json
import struct

import sync_keys as k
import sync_objects as o
from primitives import derive
from ring_log import RingLog, read_entry
from user_secrets import ALPHABET


def hexadecimal(values):
    return " ".join(value.hex() for value in values)


def vector_text(vector):
    return " ".join(f"{writer.hex()}:{vector[writer]}" for writer in sorted(vector))


def grouped(number, symbols):
    text = "".join(ALPHABET[number >> 5 * (symbols - 1 - place) & 31] for place in range(symbols))
    return "-".join(text[at:at + 4] for at in range(0, symbols, 4))


class Given:
    """The input of a vector."""

    def __init__(self, words):
        self.words = words

    def __getitem__(self, name):
        return bytes.fromhex(self.words[name])

    def number(self, name):
        return int(self.words[name])

    @property
    def epoch(self):
        return struct.pack(">I", self.number("epochNumber")) + self["epochEntry"]

    @property
    def keys(self):
        return k.epoch_keys(self["root"], self["ring"], self.epoch)

    @property
    def device(self):
        return k.Device(self["signing"], self["wrapping"])

    def open(self, name, kind):
        return o.open_object(self[name], kind, self["ring"], lambda header: self.keys["transport"])

    def read_records(self, records):
        told, device = {}, self.device
        for number, record in enumerate(records, 1):
            content = o.open_record(record, self["ring"], self.epoch, self.keys, device.signing_key, device.member)
            kind = {o.VALUE: "value", o.DELETION: "deletion"}[record["kind"]]
            told[f"record {number}"] = (f"{kind} {record['item'].hex()} {record['writer'].hex()} {record['counter']} "
                                        f"{record['time']} {record['class']} {record['context'].hex()} {content.hex()}")
        return told


def member(given):
    device = given.device
    return {"signing": device.signing_key.hex(), "wrappingSHA256": k.sha(device.wrapping_key).hex(),
            "member": device.member.hex()}


def epoch_keys(given):
    keys = given.keys
    return {"transport": keys["transport"].hex(), "commitment": k.commitment(given["root"]).hex()} | {
        f"class {number}": keys[number].hex() for number in (6, 7, 8)}


def ring_keys(given):
    keys = k.ring_keys(given["secret"], given["ring"])
    item = k.item_id(keys, given["primaryKey"])
    return {"log": keys["log"].hex(), "item": item.hex(),
            "sum of writer 7, counter 9": k.state_sum(keys, [(item, bytes(7) + b"\7", 9)]).hex()}


def entry(given):
    key = k.ring_keys(given["secret"], given["ring"])["log"]
    def read(name):
        return read_entry(o.open_object(given[name], b"KRNG", given["ring"], lambda header: key)[2])
    found = read("object")
    others = [read("founding")] if "founding" in given.words else []
    log = RingLog([found, *others], given["ring"])
    return {"hash": found["hash"].hex(), "author": found["author"].hex(), "kind": str(found["action"]),
            "parents": hexadecimal(found["parents"]), "bytesSHA256": k.sha(found["data"]).hex(),
            "counts": "yes" if found["hash"] in log.counts else "no"}


def wrap(given):
    found = o.open_wrap(given["object"], None, given.device)
    author = k.Device(given["authorSigning"], given["authorWrapping"])
    k.verify(author.signing_key, b"key wrap", found["signed"], found["signature"])
    return {name: found[name].hex() for name in ("root", "secret", "recipient", "author")}


def record(given):
    fields = {"kind": o.VALUE, "flags": 0, "class": given.number("class"), "item": given["item"],
              "writer": struct.pack(">Q", given.number("writer")), "counter": given.number("counter"),
              "time": given.number("time"), "context": given["context"], "sealed": given["sealed"]}
    device = given.device
    content = o.open_record(fields, given["ring"], given.epoch, given.keys, device.signing_key, device.member)
    return {"header": o.record_header(given["ring"], fields).hex(), "content": content.hex()}


def batch(given):
    found = o.read_batch(given["bytes"], struct.pack(">Q", given.number("writer")))
    # Each batch has one encoding, which this implementation only reads.
    return {"after": str(found["after"]), "through": str(found["through"]), "time": str(found["time"]),
            "vector": vector_text(found["vector"]), "contexts": " | ".join(map(vector_text, found["contexts"])),
            "again": "same"} | given.read_records(found["records"])


def segment(given):
    header, clear, body = given.open("object", b"KSEG")
    found = o.read_segment(clear, body, lambda member: given.device.signing_key)
    return {"writer": header["writer"].hex(), "number": str(header["number"]), "previous": header["previous"].hex(),
            "author": found["author"].hex(), "tips": hexadecimal(found["tips"]),
            "continues": "true" if found["continues"] else "false", "piece": found["piece"].hex()}


def snapshot(given):
    header, clear, body = given.open("manifest", b"KSNM")
    manifest = o.read_manifest(clear, body, lambda member: given.device.signing_key)
    assert manifest["parts"] == [k.sha(given["part"])]
    records = o.read_snapshot_records(given.open("part", b"KSNP")[2], manifest["count"])
    covered = {writer: state["counter"] for writer, state in manifest["writers"].items()}
    return {"id": header["snapshot"].hex(), "time": str(manifest["time"]), "digest": manifest["digest"].hex(),
            "count": str(manifest["count"]), "vector": vector_text(covered)} | given.read_records(records)


def head(given):
    header, clear, body = given.open("object", b"KHED")
    found = o.read_head(clear, body, given.device.signing_key)
    return {"member": header["member"].hex(), "number": str(header["number"]), "previous": found["previous"].hex(),
            "time": str(found["time"]), "digest": found["digest"].hex(), "count": str(found["count"]),
            "vector": vector_text(found["vector"])}


def read_code(text):
    number = 0
    for symbol in text.replace("-", ""):
        number = number << 5 | ALPHABET.index(symbol)
    code = (number >> 20 << 4).to_bytes(13, "big")
    check = int.from_bytes(k.sha(b"swift-keychain/1 invitation code" + code)[:3], "big") >> 4
    assert number & 0xFFFFF == check
    return code


def invitation(given):
    code = read_code(given.words["code"])
    keys = {who: derive(code, b"", f"sync invitation {who}") for who in ("name", "inviter", "joiner")}
    offer, request = o.read_invitation(given["offer"], keys["inviter"]), o.read_request(given["request"], keys["joiner"])
    return {"name": f"j/{keys['name'][:16].hex()}", "ring": offer["ring"].hex(), "tips": hexadecimal(offer["tips"]),
            "nonce": offer["nonce"].hex(), "member": k.member_id(request["keys"]).hex(),
            "invitation": request["invitation"].hex()}


def compare(given):
    known = {struct.pack(">Q", writer): counter for writer, counter in ((1, 2), (3, 4))}
    content = given["ring"] + given["ring"] + k.vector_bytes(known) + given["digest"]
    digest = k.sha(b"swift-keychain/1 compare\0" + content)[:15]
    return {"code": grouped(int.from_bytes(digest, "big"), 24)}


PRIMITIVES = {"bucket": lambda given: {"bucket": str(o.object_bucket(given.number("length")))}, "member": member,
              "epochKeys": epoch_keys, "ringKeys": ring_keys, "entry": entry, "wrap": wrap, "record": record,
              "batch": batch, "segment": segment, "snapshot": snapshot, "head": head, "invitation": invitation,
              "compare": compare}


def results(path):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    for vector in content["vectors"]:
        yield vector["name"], PRIMITIVES[vector["primitive"]](Given(vector["input"]))
