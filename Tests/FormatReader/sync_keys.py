# SPDX-License-Identifier: Apache-2.0
# The keys of a ring and its members, and the fields that several objects have, as specified in Docs/FORMAT.md, Sync.

import hashlib
import struct

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

import xwing
from primitives import Damaged, authentication, derive, need

MOST = 1 << 62


def sha(data):
    return hashlib.sha256(data).digest()


def verify(key, what, message, signature):
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, b"swift-keychain/1 " + what + b"\0" + message)
    except InvalidSignature:
        raise Damaged("has a signature that is not its author's") from None


class Device:
    """The private and the public keys of a member."""

    def __init__(self, signing, wrapping):
        self.wrapping = wrapping
        self.signing_key = Ed25519PrivateKey.from_private_bytes(signing).public_key().public_bytes_raw()
        self.wrapping_key = xwing.make_keys(wrapping)[0]
        self.member = member_id(self.signing_key + self.wrapping_key)


def recovery_device(key):
    return Device(derive(key, b"", "sync recovery signing"), derive(key, b"", "sync recovery wrapping"))


def member_id(public_keys):
    return sha(b"swift-keychain/1 member\0" + public_keys)[:16]


def epoch_keys(root, ring, epoch):
    keys = {number: derive(root, ring, "sync records", epoch + bytes([number])) for number in (6, 7, 8)}
    return keys | {"transport": derive(root, ring, "sync transport", epoch)}


def commitment(root):
    return derive(root, b"", "sync commitment")


def ring_keys(secret, ring):
    return {what: derive(secret, ring, f"sync {purpose}")
            for what, purpose in (("name", "names"), ("log", "log"), ("state", "state"))}


def item_id(keys, primary_key):
    return authentication(keys["name"], primary_key).finalize()[:16]


def state_sum(keys, values):
    """The digest of a state: `values` are (item, writer, counter)."""
    total = sum(int.from_bytes(authentication(keys["state"], item + writer + struct.pack(">Q", counter)).finalize(), "big")
                for item, writer, counter in values)
    return (total % (1 << 256)).to_bytes(32, "big")


# Fields

def counter(reader):
    number = reader.number("Q")
    need(number <= MOST, "has a number that is too large")
    return number


def ascending(names):
    need(all(a < b for a, b in zip(names, names[1:])), "has a list that is out of order")
    return names


def tips(reader):
    count = reader.number("B")
    need(count <= 16, "has too many tips")
    return ascending([reader.take(32) for _ in range(count)])


def vector(reader):
    count = reader.number("H")
    need(count <= 4096, "has a vector that is too long")
    pairs = [(reader.take(8), counter(reader)) for _ in range(count)]
    need(all(number for _, number in pairs), "has a counter of zero in a vector")
    ascending([writer for writer, _ in pairs])
    return dict(pairs)


def vector_bytes(known):
    return struct.pack(">H", len(known)) + b"".join(writer + struct.pack(">Q", known[writer]) for writer in sorted(known))


def limited(reader, most):
    count = reader.number("H")
    need(count <= most, "has too many entries")
    return count
