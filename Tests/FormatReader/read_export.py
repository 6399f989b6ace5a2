#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A second implementation of exports, written from Docs/FORMAT.md and the age specification alone.
"""Reads an export: read_export.py FILE [--identity AGE-SECRET-KEY-1…]. Without an identity, the passphrase is the first line of
standard input. Prints one JSON object with the items. Exit codes: 0 no problem, 1 damaged, 2 cannot be opened."""

import base64
import hashlib
import hmac
import json
import sys

sys.dont_write_bytecode = True  # Keep the source folder unchanged.

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

CHUNK, TAG = 65536, 16
CLASSES = {"generic-password", "internet-password", "certificate", "key"}
PARTS = ["class", "accessibility", "accessControl", "attributes", "value"]
TYPES = {"text": str, "data": str, "number": int, "date": float}


class Damaged(Exception):
    pass


class Closed(Exception):
    pass


def need(condition, message):
    if not condition:
        raise Damaged(message)


def unpadded(text):
    """The bytes of canonical Base64 without padding."""
    data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    need(base64.b64encode(data).decode().rstrip("=") == text, "the header has other Base64 than the canonical one")
    return data


def hkdf(secret, salt, info):
    return HKDF(SHA256(), 32, salt, info).derive(secret)


def bech32_key(text):
    """The bytes of an identity. Its checksum is not tested: a mistyped identity opens nothing."""
    prefix, _, data = text.strip().lower().rpartition("1")
    need(prefix == "age-secret-key-", "not an identity")
    bits = "".join(f"{'qpzry9x8gf2tvdw0s3jn54khce6mua7l'.index(c):05b}" for c in data[:-6])
    return bytes(int(bits[i:i + 8], 2) for i in range(0, 256, 8))


def split_header(data):
    """The stanzas, the signed bytes, the MAC, and the position of the payload."""
    lines, position, stanzas = [], 0, []

    def line():
        nonlocal position
        end = data.find(b"\n", position)
        need(end >= 0, "the header does not end")
        text, position = data[position:end].decode("ascii"), end + 1
        return text

    need(line() == "age-encryption.org/v1", "not an age file of version 1")
    while True:
        text = line()
        if text.startswith("--- "):
            signed = data[:position - len(text) - 1 + 3]
            return stanzas, signed, unpadded(text[4:]), position
        need(text.startswith("-> "), "a stanza does not begin")
        arguments, body = text[3:].split(" "), b""
        while True:
            text = line()
            need(len(text) <= 64, "a line is too long")
            body += unpadded(text)
            if len(text) < 64:
                break
        stanzas.append((arguments, body))


def unwrap(stanzas, passphrase, identity):
    for arguments, body in stanzas:
        if arguments[0] == "scrypt" and passphrase is not None:
            need(len(stanzas) == 1 and int(arguments[2]) <= 22, "the stanza of a passphrase is malformed")
            salt = b"age-encryption.org/v1/scrypt" + unpadded(arguments[1])
            key = Scrypt(salt, 32, 2 ** int(arguments[2]), 8, 1).derive(passphrase)
        elif arguments[0] == "X25519" and identity is not None:
            private = X25519PrivateKey.from_private_bytes(identity)
            share = unpadded(arguments[1])
            shared = private.exchange(X25519PublicKey.from_public_bytes(share))
            own = private.public_key().public_bytes_raw()
            key = hkdf(shared, share + own, b"age-encryption.org/v1/X25519")
        else:
            continue
        try:
            return ChaCha20Poly1305(key).decrypt(bytes(12), body, None)
        except InvalidTag:
            continue
    raise Closed("the given secret does not open the file")


def payload(data, file_key):
    cipher, rest = ChaCha20Poly1305(hkdf(file_key, data[:16], b"payload")), data[16:]
    chunks = [rest[i:i + CHUNK + TAG] for i in range(0, len(rest), CHUNK + TAG)]
    need(len(data) >= 16 and chunks, "the payload is missing")
    for number, chunk in enumerate(chunks):
        nonce = number.to_bytes(11, "big") + bytes([number == len(chunks) - 1])
        try:
            yield cipher.decrypt(nonce, chunk, None)
        except InvalidTag:
            raise Damaged(f"chunk {number} does not open") from None


def decrypt(data, passphrase=None, identity=None):
    stanzas, signed, mac, position = split_header(data)
    file_key = unwrap(stanzas, passphrase, identity)
    wanted = hmac.digest(hkdf(file_key, None, b"header"), signed, "sha256")
    need(hmac.compare_digest(mac, wanted), "the header was changed")
    return b"".join(payload(data[position:], file_key))


def check_item(item):
    need(list(item) == PARTS and item["class"] in CLASSES, "an item has other parts")
    for name, value in item["attributes"].items():
        need(len(value) == 1, f"{name} has not one type")
        (kind, content), = value.items()
        need(isinstance(content, TYPES[kind]), f"{name} is not of its type")
        if kind == "data":
            base64.b64decode(content, validate=True)
    need(item["value"] is None or isinstance(base64.b64decode(item["value"], validate=True), bytes), "a value")


def read_lines(text):
    need(text.endswith(b"\n"), "the last line is cut")
    lines = text[:-1].split(b"\n")
    first, last, items = json.loads(lines[0]), json.loads(lines[-1]), [json.loads(line) for line in lines[1:-1]]
    need(first["format"] == "swift-keychain-export" and first["version"] == 1, "not an export of version 1")
    need(first["items"] == len(items) == last["items"], "the number of items is another one")
    body = b"".join(line + b"\n" for line in lines[:-1])
    need(last["sha256"] == hashlib.sha256(body).hexdigest(), "the sum is another one")
    for item in items:
        check_item(item)
    return items


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    try:
        if sys.argv[2:3] == ["--identity"]:
            text = decrypt(data, identity=bech32_key(sys.argv[3]))
        else:
            text = decrypt(data, passphrase=sys.stdin.buffer.readline().rstrip(b"\n"))
        print(json.dumps({"items": read_lines(text)}))
    except Closed as failure:
        print(failure, file=sys.stderr)
        return 2
    except (Damaged, ValueError, KeyError, IndexError, TypeError) as failure:
        print(f"damaged: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
