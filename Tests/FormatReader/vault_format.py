# SPDX-License-Identifier: Apache-2.0
# The bytes of a vault by Docs/FORMAT.md alone: primitives, items, keys, rows. Nothing here touches a file.

import math
import re
import struct

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

METADATA, VALUE, VALUE_KEY, KEYBAG_KEY = 1, 2, 3, 4
INDEX_KEY = 32
ACCESSIBILITY = {6: "ak", 7: "ck", 8: "dk", 9: "aku", 10: "cku", 11: "dku", 12: "akpu"}
# Class: major, minor, scope, indexed.
SCHEMA = {
    "genp": ("svce", "acct", "agrp ggrp sync tkid vwht", "labl desc icmt alis crtr type gena"),
    "inet": ("srvr", "acct", "agrp atyp ggrp path port ptcl sdmn sync tkid vwht",
             "labl desc icmt alis crtr type sdmn path"),
    "cert": ("issr", "slnr", "agrp ctyp ggrp sync tkid vwht", "labl subj skid pkhh alis"),
    "keys": ("klbl", "atag", "agrp bsiz crtr edat esiz ggrp kcls sdat sync tkid type vwht", "labl alis"),
}
NUMBERS = set("sync port ptcl ctyp bsiz esiz kcls crtr type".split())
TYPES = {1: "string", 2: "data", 3: "number", 4: "date"}


class Damaged(Exception):
    """Bytes that do not hold to the format."""


class Refused(Exception):
    """A vault that cannot be opened."""


def need(condition, what):
    if not condition:
        raise Damaged(what)


class Reader:
    """Reads fields one after the other and never past the end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        need(self.at + count <= len(self.data), "ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, layout):
        return struct.unpack(">" + layout, self.take(struct.calcsize(">" + layout)))[0]

    def end(self):
        need(self.at == len(self.data), "has trailing bytes")


# Primitives
def derive(secret, salt, purpose, context=b""):
    info = b"swift-keychain/1 " + purpose.encode() + b"\0" + context
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=salt, info=info).derive(secret)


def group_context(number, generation, group=""):
    return struct.pack(">BII", number, generation, len(group.encode())) + group.encode()


def associated(vault, role, item, version, number, generation):
    return b"KVLT1" + vault + struct.pack(">B16sQBIBBB", role, item, version, number, generation, 1, 1, 0)


def open_sealed(sealed, key, place):
    need(len(sealed) >= 28, "is too short")
    try:
        return AESGCM(key).decrypt(sealed[:12], sealed[12:], place)
    except InvalidTag:
        raise Damaged("does not open") from None


def authentication(key, message):
    code = hmac.HMAC(key, hashes.SHA256())
    code.update(message)
    return code


def authenticate(key, message, expected, what):
    try:
        authentication(key, message).verify(expected)
    except InvalidSignature:
        raise Damaged(what) from None


def digest(key, message):
    return authentication(key, message).finalize()[:16]


def block(key, identity, forward=False):
    cipher = Cipher(algorithms.AES256(key), modes.ECB())
    step = cipher.encryptor() if forward else cipher.decryptor()
    return step.update(identity) + step.finalize()


def bucket(length, is_value):
    if not is_value or length <= 1024:
        step = 64 if is_value else 128
        return -(-length // step) * step
    power = 1024
    while power * 2 < length:
        power *= 2
    return power * 181 // 128 if length <= power * 181 // 128 else power * 2


def unpad(padded, is_value):
    reader = Reader(padded)
    content = reader.take(reader.number("I"))
    need(len(padded) == bucket(4 + len(content), is_value), "is padded to another length")
    need(not any(padded[reader.at:]), "is padded with other bytes than zero")
    return content


# Items
def decode_value(reader):
    kind, length = reader.number("B"), reader.number("I")
    need(kind in TYPES and (kind < 3 or length == 8), "has a value of an unknown type")
    if kind == 4:
        date = reader.number("d")
        need(math.isfinite(date), "has a date that is no number")
        return "date", date
    if kind == 3:
        return "number", reader.number("q")
    content = reader.take(length)
    try:
        return TYPES[kind], content.decode() if kind == 1 else content
    except UnicodeDecodeError:
        raise Damaged("has text that is not UTF-8") from None


def check_flags(flags):
    constraints = flags & 0b111011
    need(flags & ~(0b111011 | 1 << 14 | 1 << 30 | 1 << 31) == 0, "has unknown flags")
    need(not flags >> 14 & 1 or constraints.bit_count() > 1, "has a flag 'or' between fewer than two")
    need(flags & 0b1010 != 0b1010, "has both biometry flags")
    need(not flags & 1 or flags & ~(1 | 1 << 30 | 1 << 31) == 0, "has constraints beside user presence")


def decode_item(encoding):
    reader = Reader(encoding)
    name = reader.take(4).decode("latin-1")
    need(name in SCHEMA, "is of an unknown class")
    has_flags, flags = reader.number("B"), reader.number("Q")
    need(has_flags == 1 or has_flags == 0 == flags, "has flags and says that it has none")
    check_flags(flags)
    attributes, last = {}, b""
    for _ in range(reader.number("H")):
        attribute = reader.take(4)
        need(attribute > last or not attributes, "has attributes out of order")
        attributes[attribute.decode("latin-1")], last = decode_value(reader), attribute
    reader.end()
    return {"class": name, "flags": flags if has_flags else None, "attributes": attributes}


def comparison_bytes(is_number, value):
    kind, content = value or ("data", b"")
    if kind == "date":
        return struct.pack(">d", content + 0.0)
    if is_number and kind == "string":
        text = content.strip(" ")
        # Python refuses to read very long numbers, and leading zeros do not count.
        digits = re.fullmatch("([+-]?)0*([0-9]{1,19})", text)
        number = int(digits[1] + digits[2]) if digits else 2**63
        return b"n" + struct.pack(">q", number) if -2**63 <= number < 2**63 else b"t" + content.encode()
    if kind == "number":
        return b"n" + struct.pack(">q", content) if is_number else struct.pack("<I", content & 0xFFFFFFFF)
    return content.encode() if kind == "string" else content


def item_bytes(item, attribute):
    return comparison_bytes(attribute in NUMBERS, item["attributes"].get(attribute))


def value_digest(key, item, attribute):
    return digest(key, b"\1" + (item["class"] + attribute).encode() + item_bytes(item, attribute))


def digests(key, item):
    """Major, minor, scope, and the set of lookups."""
    major, minor, scope, indexed = SCHEMA[item["class"]]
    first, second = value_digest(key, item, major), value_digest(key, item, minor)
    message = b"\2" + item["class"].encode() + first + second
    for attribute in scope.split():
        part = item_bytes(item, attribute)
        message += attribute.encode() + struct.pack(">I", len(part)) + part
    lookups = {value_digest(key, item, name) for name in indexed.split() if item_bytes(item, name)}
    return first, second, digest(key, message), lookups


# Keys
def device_key(data):
    need(len(data) == 64 and data[:8] == b"KVDK\1\0\0\0", "is not a device key")
    checksum = hashes.Hash(hashes.SHA256())
    checksum.update(data[:56])
    need(checksum.finalize()[:8] == data[56:], "is a damaged device key")
    return data[8:24], data[24:56]


def decode_slot(reader):
    start = reader.at
    slot = {"kind": reader.number("B"), "id": reader.take(16), "created": reader.number("d")}
    length = reader.number("H")
    need(length <= 4096, "has a slot with too many parameters")
    slot["parameters"] = reader.take(length)
    slot["header"] = reader.data[start:reader.at]
    return slot | {"commitment": reader.take(32), "wrapped": reader.take(60)}


def counted(reader, limit, read):
    count = reader.number("H")
    need(count <= limit, "has too many entries")
    return [read(reader) for _ in range(count)]


def decode_keybag(data):
    need(isinstance(data, bytes), "is missing")
    reader = Reader(data)
    need(reader.take(6) == b"KBAG\1\1", "is not a keybag of this format")
    bag = {"vault": reader.take(16), "sequence": reader.number("Q")}
    bag["slots"] = counted(reader, 64, decode_slot)
    bag["keys"] = counted(reader, 1024, lambda r: (r.number("B"), r.number("I"), r.number("d"), r.take(60)))
    bag["authenticated"], bag["authentication"] = data[:reader.at], reader.take(32)
    reader.end()
    return bag


def root_key(bag, key_id, key):
    for slot in bag["slots"]:
        parameters = slot["parameters"]
        if slot["kind"] != 1 or len(parameters) != 48 or parameters[32:] != key_id:
            continue
        context, salt = b"slot" + bag["vault"] + slot["header"], parameters[:32]
        authenticate(derive(key, salt, "slot commitment"), context, slot["commitment"], "has a damaged slot")
        return open_sealed(slot["wrapped"], derive(key, salt, "slot wrap"), context)
    raise Refused("the device key is not the one that this vault was made with")


def unwrap_key(bag, root, key, number, generation, wrapped):
    vault, is_bound = bag["vault"], 9 <= number <= 12
    source = root + derive(key, vault, "device binding") if is_bound else root
    place = associated(vault, KEYBAG_KEY, bytes(16), 0, number, generation)
    return open_sealed(wrapped, derive(source, vault, "keybag wrap", bytes([number])), place)


def open_keybag(data, key_id, key):
    bag = decode_keybag(data)
    root, vault = root_key(bag, key_id, key), bag["vault"]
    tag_key = derive(root, vault, "keybag authentication")
    authenticate(tag_key, bag["authenticated"], bag["authentication"], "was changed")
    keys = {(number, generation): unwrap_key(bag, root, key, number, generation, wrapped)
            for number, generation, _, wrapped in bag["keys"]}
    index = [key for (number, _), key in keys.items() if number == INDEX_KEY]
    need(index, "has no index key")
    pairs = {name: [derive(key, vault, purpose, group_context(*name)) for purpose in ("metadata", "value")]
             for name, key in keys.items() if name[0] != INDEX_KEY}
    return bag | {"pairs": pairs, "index": index[-1], "reference": derive(index[-1], vault, "reference")}


# Rows
def decode_envelope(padded):
    reader = Reader(unpad(padded, is_value=True))
    has_value = reader.number("B")
    content = reader.take(len(reader.data) - 1)
    need(has_value == 1 or has_value == 0 and not content, "has a value that is neither there nor absent")
    return content if has_value else None


def open_value(sealed, key, place):
    """`place` makes the associated data of a role."""
    one_time_key = open_sealed(sealed[:60], key, place(VALUE_KEY))
    need(len(one_time_key) == 32, "has a value key of another length")
    return open_sealed(sealed[60:], one_time_key, place(VALUE))


def open_row(bag, row):
    """The item with its value; `row` holds the columns by name."""
    number, generation, identity = row["class"], row["generation"], row["uuid"]
    need(number in ACCESSIBILITY and (number, generation) in bag["pairs"], "is sealed under an unknown key")
    need(len(identity) == 16, "has an identity of another length")
    need(block(bag["reference"], identity)[:8] == struct.pack(">q", row["id"]), "has an identity of another row")
    version = row["version"] & 2**64 - 1
    metadata_key, value_key = bag["pairs"][number, generation]

    def place(role):
        return associated(bag["vault"], role, identity, version, number, generation)

    item = decode_item(unpad(open_sealed(row["metadata"], metadata_key, place(METADATA)), is_value=False))
    need(digests(bag["index"], item)[:3] == (row["major"], row["minor"], row["scope"]), "is filed under another key")
    value = decode_envelope(open_value(row["value"], value_key, place))
    return item | {"accessibility": ACCESSIBILITY[number], "version": version, "value": value,
                   "reference": item["class"].encode() + identity}
