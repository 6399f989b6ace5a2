# SPDX-License-Identifier: Apache-2.0
# The basic ciphers, key derivation and fields, as specified in Docs/FORMAT.md. Nothing here accesses a file.

import struct

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

METADATA, VALUE, VALUE_KEY, KEYBAG_KEY, CONSTRAINED_KEY, HEAD = 1, 2, 3, 4, 5, 6


class Damaged(Exception):
    """Bytes that do not conform to the format."""


class Refused(Exception):
    """A vault that cannot be opened."""


def need(condition, what):
    if not condition:
        raise Damaged(what)


class Reader:
    """Reads fields in sequence and never past the end."""

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
