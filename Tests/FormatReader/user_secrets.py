# SPDX-License-Identifier: Apache-2.0
# Passphrases, recovery keys and the user key, as specified in Docs/FORMAT.md.

import hashlib
import unicodedata

import hpke

USER_KEY_INFO = b"swift-keychain/1 user key seal\0"
RECOVERY_LABEL = b"swift-keychain/1 recovery key"
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Unusable(Exception):
    """Input that does not lead to a key."""


def need(condition, what):
    if not condition:
        raise Unusable(what)


def open_user_sealed(key, sealed, bound):
    need(len(sealed) == 80, "has a wrong length")
    try:
        return hpke.open_sealed(key, sealed, USER_KEY_INFO, bound)
    except hpke.Refused as refusal:
        raise Unusable(str(refusal)) from None


def normalised(passphrase):
    try:
        text = unicodedata.normalize("NFC", passphrase.decode("utf-8")).encode("utf-8")
    except UnicodeDecodeError:
        raise Unusable("is not text") from None
    need(1 <= len(text) <= 1024, "has a wrong length")
    return text


def scrypt_cost(rounds, block_size, parallelism):
    """Whether numbers from a file may be used. Others could take all memory, or hours."""
    return rounds in {1 << power for power in range(15, 20)} and block_size == 8 and 1 <= parallelism <= 4


def stretched(secret, salt, rounds, block_size, parallelism):
    # The acceptable numbers need at most 512 MiB and some overhead.
    keys = hashlib.scrypt(secret, salt=salt, n=rounds, r=block_size, p=parallelism, maxmem=520 << 20, dklen=64)
    return {"wrapping": keys[:32], "commitment": keys[32:]}


def passphrase_keys(passphrase, salt, rounds, block_size, parallelism):
    need(scrypt_cost(rounds, block_size, parallelism), "has unacceptable scrypt numbers")
    need(len(salt) >= 16, "has too short a salt")
    return stretched(normalised(passphrase), salt, rounds, block_size, parallelism)


def application_key(password, vault):
    """The password's bytes are used unchanged. The numbers are fixed by the format."""
    need(1 <= len(password) <= 1024, "has a wrong length")
    return stretched(password, vault, 1 << 17, 8, 1)["wrapping"]


def recovery_check(key):
    return int.from_bytes(hashlib.sha256(RECOVERY_LABEL + key).digest()[:3], "big") >> 4


def recovery_text(key):
    """Four zero bits follow the key, so that its last symbol is complete."""
    number = int.from_bytes(key, "big") << 24 | recovery_check(key)
    symbols = "".join(ALPHABET[number >> 5 * (55 - place) & 31] for place in range(56))
    return "-".join(symbols[start:start + 4] for start in range(0, 56, 4))


def read_recovery(text):
    symbols = text.translate(str.maketrans("", "", "- \t\r\n"))
    need(len(symbols) == 56 and symbols.isascii() and symbols.isalnum(), "does not look like a recovery key")
    symbols = symbols.upper().translate(str.maketrans("OIL", "011"))
    if not set(symbols) <= set(ALPHABET):
        return "mistyped"
    number = 0
    for symbol in symbols:
        number = number << 5 | ALPHABET.index(symbol)
    key = (number >> 24).to_bytes(32, "big")
    return {"key": key} if number & 0xFFFFFF == recovery_check(key) else "mistyped"
