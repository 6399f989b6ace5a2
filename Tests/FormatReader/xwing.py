# SPDX-License-Identifier: Apache-2.0
# X-Wing (ML-KEM-768 with X25519), and HPKE with it, as specified in Docs/FORMAT.md.

import hashlib
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import mlkem
from hpke import AEAD, BASE, KDF, Refused, agree, labeled_expand, labeled_extract, public_key

KEM = 0x647A
SUITE = b"HPKE" + struct.pack(">HHH", KEM, KDF, AEAD)
LABEL = b"\\.//^\\"
ENCAPSULATED = mlkem.CIPHERTEXT + 32


def make_keys(seed):
    """Public key, and both private keys."""
    expanded = hashlib.shake_256(seed).digest(96)
    public, private = mlkem.make_keys(expanded[:32], expanded[32:64])
    return public + public_key(expanded[64:]), private, expanded[64:]


def decapsulate(keys, encapsulated):
    public, private, agreeing = keys
    first, second = encapsulated[:mlkem.CIPHERTEXT], encapsulated[mlkem.CIPHERTEXT:]
    shared = mlkem.decapsulate(private, first) + agree(agreeing, second)
    return hashlib.sha3_256(shared + second + public[mlkem.PUBLIC_KEY:] + LABEL).digest()


def open_sealed(seed, sealed, info, bound):
    """Unlike with DHKEM, the shared secret of X-Wing goes into the key schedule as it is."""
    shared = decapsulate(make_keys(seed), sealed[:ENCAPSULATED])
    context = BASE + labeled_extract(SUITE, b"", b"psk_id_hash", b"") + labeled_extract(SUITE, b"", b"info_hash", info)
    secret = labeled_extract(SUITE, shared, b"secret", b"")
    key = labeled_expand(SUITE, secret, b"key", context, 32)
    nonce = labeled_expand(SUITE, secret, b"base_nonce", context, 12)
    try:
        return AESGCM(key).decrypt(nonce, sealed[ENCAPSULATED:], bound)
    except InvalidTag:
        raise Refused("does not open") from None
