# SPDX-License-Identifier: Apache-2.0
# Rows of the table item and their values, including constrained values, as specified in Docs/FORMAT.md.

import struct

from hpke import public_key
from items import decode_item, digests, unpad
from keybag import row_class
from primitives import (CONSTRAINED_KEY, METADATA, VALUE, VALUE_KEY, Damaged, Reader, associated, block, derive, need,
                        open_sealed)
from user_secrets import Unusable, open_user_sealed

ACCESSIBILITY = {6: "ak", 7: "ck", 8: "dk", 9: "aku", 10: "cku", 11: "dku", 12: "akpu"}
ASKING_FOR_THE_USER = 0b111011
USER, PASSWORD = "user", "applicationPassword"


class Wrong(Exception):
    """A wrong user key or application password for an intact value; names which."""


class Closed(Exception):
    """A row whose class the available keys do not open."""


def needs_of(flags):
    """What reading the value requires, in the order in which the layers were added around its key."""
    flags = flags or 0
    return ([USER] if flags & ASKING_FOR_THE_USER else []) + ([PASSWORD] if flags >> 31 & 1 else [])


def decode_envelope(padded):
    reader = Reader(unpad(padded, is_value=True))
    has_value = reader.number("B")
    content = reader.take(len(reader.data) - 1)
    need(has_value == 1 or has_value == 0 and not content, "has a value with an invalid presence byte")
    return content if has_value else None


def open_value(sealed, key, place):
    """`place` makes the associated data of a role, and of a generation if it is not that of the row."""
    one_time_key = open_sealed(sealed[:60], key, place(VALUE_KEY))
    need(len(one_time_key) == 32, "has a value key of a wrong length")
    return open_sealed(sealed[60:], one_time_key, place(VALUE))


def open_password_layer(layered, key, context):
    try:
        return open_sealed(layered, derive(key, context, "application password"), context)
    except Damaged:
        raise Wrong(PASSWORD) from None


def open_user_layer(layered, key, context, public):
    try:
        return open_user_sealed(key, layered, context)
    except Unusable:
        # If this is the current user key, no other key would open the value either: it is damaged.
        raise (Damaged("is sealed to another user key") if public_key(key) == public else Wrong(USER)) from None


def open_outer_layer(sealed, key, place, needs):
    """Opens the class layer: returns the inner layers, and the sealed value after them."""
    length = 60 + (48 if USER in needs else 0) + (28 if PASSWORD in needs else 0)
    need(len(sealed) > length, "is too short")
    return open_sealed(sealed[:length], key, place(CONSTRAINED_KEY)), sealed[length:]


def open_constrained(sealed, key, place, needs, proofs, public):
    """`public` is the public half of the vault's user key."""
    layered, value = open_outer_layer(sealed, key, place, needs)
    context = place(VALUE_KEY, 0)
    if PASSWORD in needs:
        layered = open_password_layer(layered, proofs[PASSWORD], context)
    if USER in needs:
        layered = open_user_layer(layered, proofs[USER], context, public)
    return open_sealed(value, layered, place(VALUE, 0))


def check_key(bag, number, generation):
    """Checks whether the row's key is available; raises if it is closed or unknown."""
    need(number in ACCESSIBILITY, "has an unknown class")
    if (number, generation) in bag["pairs"]:
        return
    known = [key[0] for key in bag["keys"] if (number, generation) == (row_class(key[0]), key[1])]
    if known and (known[0] != number or number not in bag["wrapping"]):
        raise Closed
    raise Damaged("is sealed under an unknown key")


def open_row(bag, row, proofs=None):
    """The item with its value, or with what its value requires; `row` contains the columns by name."""
    number, generation, identity = row["class"], row["generation"], row["uuid"]
    check_key(bag, number, generation)
    need(len(identity) == 16, "has an identity of a wrong length")
    need(block(bag["reference"], identity)[:8] == struct.pack(">q", row["id"]), "has the identity of another row")
    version = row["version"] & 2**64 - 1
    metadata_key, value_key = bag["pairs"][number, generation]

    def place(role, other=None):
        return associated(bag["vault"], role, identity, version, number, generation if other is None else other)

    item = decode_item(unpad(open_sealed(row["metadata"], metadata_key, place(METADATA)), is_value=False))
    need(digests(bag["index"], item)[:3] == (row["major"], row["minor"], row["scope"]), "has wrong primary key digests")
    item |= {"accessibility": ACCESSIBILITY[number], "version": version, "value": None,
             "reference": item["class"].encode() + identity}
    needs = needs_of(item["flags"])
    missing = [proof for proof in needs if not (proofs or {}).get(proof)]
    if missing:
        open_outer_layer(row["value"], value_key, place, needs)
        return item | {"asks": missing}
    public = (bag["userKey"] or {}).get("publicKey")
    opened = open_constrained(row["value"], value_key, place, needs, proofs, public) if needs \
        else open_value(row["value"], value_key, place)
    return item | {"value": decode_envelope(opened)}
