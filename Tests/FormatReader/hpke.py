# SPDX-License-Identifier: Apache-2.0
# HPKE as specified in RFC 9180: base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, one message.

import hashlib
import hmac
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

KEM, KDF, AEAD = 0x0020, 0x0001, 0x0002
KEM_SUITE = b"KEM" + struct.pack(">H", KEM)
HPKE_SUITE = b"HPKE" + struct.pack(">HHH", KEM, KDF, AEAD)
BASE = b"\0"


class Refused(Exception):
    """Bytes that do not open, or an invalid key."""


def labeled_extract(suite, salt, label, material):
    return hmac.new(salt or bytes(32), b"HPKE-v1" + suite + label + material, hashlib.sha256).digest()


def labeled_expand(suite, secret, label, info, length):
    labeled = struct.pack(">H", length) + b"HPKE-v1" + suite + label + info
    return HKDFExpand(algorithm=hashes.SHA256(), length=length, info=labeled).derive(secret)


def public_key(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def agree(private, public):
    """The library refuses points of small order, as RFC 9180 requires."""
    try:
        return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise Refused("not a usable key") from None


def key_and_nonce(agreed, encapsulated, recipient, info):
    extracted = labeled_extract(KEM_SUITE, b"", b"eae_prk", agreed)
    shared = labeled_expand(KEM_SUITE, extracted, b"shared_secret", encapsulated + recipient, 32)
    context = BASE + labeled_extract(HPKE_SUITE, b"", b"psk_id_hash", b"")
    context += labeled_extract(HPKE_SUITE, b"", b"info_hash", info)
    secret = labeled_extract(HPKE_SUITE, shared, b"secret", b"")
    # The nonce of the first message is the base nonce.
    return labeled_expand(HPKE_SUITE, secret, b"key", context, 32), \
        labeled_expand(HPKE_SUITE, secret, b"base_nonce", context, 12)


def seal(recipient, plaintext, info, bound, ephemeral):
    """encapsulated key, ciphertext, tag; `ephemeral` is a fresh private key."""
    encapsulated = public_key(ephemeral)
    key, nonce = key_and_nonce(agree(ephemeral, recipient), encapsulated, recipient, info)
    return encapsulated + AESGCM(key).encrypt(nonce, plaintext, bound)


def open_sealed(private, sealed, info, bound):
    encapsulated, ciphertext = sealed[:32], sealed[32:]
    if len(ciphertext) < 16:
        raise Refused("too short")
    key, nonce = key_and_nonce(agree(private, encapsulated), encapsulated, public_key(private), info)
    try:
        return AESGCM(key).decrypt(nonce, ciphertext, bound)
    except InvalidTag:
        raise Refused("does not open") from None
