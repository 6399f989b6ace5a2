# SPDX-License-Identifier: Apache-2.0
# Padding, the encoding of an item, and its digests, as specified in Docs/FORMAT.md.

import math
import re
import struct

from primitives import Damaged, Reader, digest, need

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
    need(len(padded) == bucket(4 + len(content), is_value), "has padding of a wrong length")
    need(not any(padded[reader.at:]), "has padding that is not zero")
    return content


def decode_value(reader):
    kind, length = reader.number("B"), reader.number("I")
    need(kind in TYPES and (kind < 3 or length == 8), "has a value of an unknown type")
    if kind == 4:
        date = reader.number("d")
        need(math.isfinite(date), "has a date that is not finite")
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
    need(not flags >> 14 & 1 or constraints.bit_count() > 1, "has the flag 'or' with fewer than two constraints")
    need(flags & 0b1010 != 0b1010, "has both biometry flags")
    need(not flags & 1 or flags & ~(1 | 1 << 30 | 1 << 31) == 0, "has other constraints with user presence")


def decode_item(encoding):
    reader = Reader(encoding)
    name = reader.take(4).decode("latin-1")
    need(name in SCHEMA, "is of an unknown class")
    has_flags, flags = reader.number("B"), reader.number("Q")
    need(has_flags == 1 or has_flags == 0 == flags, "has flags but is marked as having none")
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
        # Python refuses to parse very long numbers. Leading zeros are ignored.
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
    """The digests of major, minor and scope, and the set of lookups."""
    major, minor, scope, indexed = SCHEMA[item["class"]]
    first, second = value_digest(key, item, major), value_digest(key, item, minor)
    message = b"\2" + item["class"].encode() + first + second
    for attribute in scope.split():
        part = item_bytes(item, attribute)
        message += attribute.encode() + struct.pack(">I", len(part)) + part
    lookups = {value_digest(key, item, name) for name in indexed.split() if item_bytes(item, name)}
    return first, second, digest(key, message), lookups
