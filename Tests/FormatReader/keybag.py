# SPDX-License-Identifier: Apache-2.0
# The device key, the keybag of both formats, and how it is opened, as specified in Docs/FORMAT.md.

import hashlib
import struct

from primitives import (KEYBAG_KEY, Damaged, Reader, Refused, associated, authenticate, derive, group_context, need,
                        open_sealed)
from user_secrets import passphrase_keys, scrypt_cost

INDEX_KEY = 32
CLASSES = range(6, 13)
BOUND = range(9, 13)
OTHER_DEVICE = 64
ALWAYS = (8, 11, INDEX_KEY)
DEVICE_KEY, PASSPHRASE, RECOVERY_KEY, CREDENTIAL, KEY_FILE, TPM = 1, 2, 3, 4, 5, 6


def row_class(number):
    """The class of the rows that a key with this class number seals."""
    return number - OTHER_DEVICE if number - OTHER_DEVICE in BOUND else number


def device_key(data):
    need(len(data) == 64 and data[:8] == b"KVDK\1\0\0\0", "is not a device key")
    need(hashlib.sha256(data[:56]).digest()[:8] == data[56:], "is a damaged device key")
    return data[8:24], data[24:56]


# Bytes
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


def optional(reader, read):
    mark = reader.number("B")
    need(mark <= 1, "has a section with an invalid presence byte")
    return read(reader) if mark else None


def decode_keybag(data):
    need(isinstance(data, bytes), "is missing")
    reader = Reader(data)
    need(reader.take(4) == b"KBAG", "is not a keybag")
    bag = {"format": reader.number("B"), "userKey": None, "always": None}
    need(bag["format"] in (1, 2) and reader.number("B") == 1, "is a keybag of an unknown format or suite")
    bag |= {"vault": reader.take(16), "sequence": reader.number("Q")}
    bag["slots"] = counted(reader, 64, decode_slot)
    bag["keys"] = counted(reader, 1024, lambda r: (r.number("B"), r.number("I"), r.number("d"), r.take(60)))
    if bag["format"] == 2:
        bag["userKey"] = optional(reader, lambda r: {"publicKey": r.take(32), "wrapped": r.take(60)})
        bag["always"] = optional(reader, lambda r: {"device": r.take(16), "salt": r.take(32), "sealed": r.take(124)})
    bag["authenticated"], bag["authentication"] = data[:reader.at], reader.take(32)
    if bag["format"] == 2:
        checksum = hashlib.sha256(data[:reader.at]).digest()[:8]
        need(reader.take(8) == checksum, "has a wrong checksum")
    reader.end()
    return bag


# Slots
def slot_keys(slot, secret):
    """The commitment key and the wrap key of a secret for a slot of its kind; None if the slot is skipped."""
    parameters = slot["parameters"]
    if slot["kind"] == PASSPHRASE:
        need(len(parameters) == 48, "has a passphrase slot with parameters of a wrong length")
        cost = struct.unpack(">QII", parameters[32:])
        need(scrypt_cost(*cost), "has a passphrase slot with unacceptable scrypt numbers")
        keys = passphrase_keys(secret, parameters[:32], *cost)
        return keys["commitment"], keys["wrapping"]
    if slot["kind"] == DEVICE_KEY:
        if len(parameters) != 48 or parameters[32:] != secret[0]:
            return None
        secret = secret[1]
    elif slot["kind"] == TPM:
        if len(parameters) < 34:
            return None
    elif len(parameters) != 32:
        return None
    return derive(secret, parameters[:32], "slot commitment"), derive(secret, parameters[:32], "slot wrap")


def open_slot(bag, kind, secret):
    """The slot that a secret opens, and the key in it. For the device key, the secret is its id and its key."""
    for slot in bag["slots"]:
        keys = slot_keys(slot, secret) if slot["kind"] == kind else None
        if not keys:
            continue
        context = b"slot" + bag["vault"] + slot["header"]
        try:
            authenticate(keys[0], context, slot["commitment"], "has a damaged slot")
        except Damaged:
            # The id shows that this is the slot of the device key, so the failure means damage and not another secret.
            if kind == DEVICE_KEY:
                raise
            continue
        return slot, open_sealed(slot["wrapped"], keys[1], context)
    if kind == DEVICE_KEY:
        raise Refused("the device key is not the one of this vault")
    raise Refused("the secret opens no slot of this vault")


def root_under_user_key(entry, user_key, vault):
    context = b"user" + vault + entry["publicKey"]
    return open_sealed(entry["wrapped"], derive(user_key, vault, "user root wrap"), context)


def open_root(bag, kind, secret):
    """The root key and, for a user slot, the user key."""
    slot, key = open_slot(bag, kind, secret)
    root, user_key = key, None
    if kind in (PASSPHRASE, RECOVERY_KEY):
        need(bag["userKey"], "has a user slot and no user key")
        root, user_key = root_under_user_key(bag["userKey"], key, bag["vault"]), key
    tag_key = derive(root, bag["vault"], "keybag authentication")
    authenticate(tag_key, bag["authenticated"], bag["authentication"], "was changed")
    return {"slot": slot["id"], "root": root, "user": user_key}


# Class keys
def wrapping_keys(root, vault, device, other=None):
    """The wrapping keys by class; without a device key, only the unbound ones. The vault is not bound to `other`."""
    keys = {}
    for number in (*CLASSES, INDEX_KEY):
        if number not in BOUND:
            keys[number] = derive(root, vault, "keybag wrap", bytes([number]))
        elif device:
            bound = root + derive(device[1], vault, "device binding")
            keys[number] = derive(bound, vault, "keybag wrap", bytes([number]))
        elif other:
            bound = root + derive(other[1], vault, "device binding")
            keys[number + OTHER_DEVICE] = derive(bound, vault, "keybag wrap", bytes([number]))
    return keys


def is_bound(bag, device):
    return device is not None and (not bag["always"] or bag["always"]["device"] == device[0])


def always_keys(bag, device):
    """The wrapping keys that the device key alone opens."""
    section = bag["always"]
    if not section or not device or section["device"] != device[0]:
        raise Refused("the device key alone does not open this vault")
    context = b"always" + bag["vault"] + section["device"] + section["salt"]
    opened = open_sealed(section["sealed"], derive(device[1], section["salt"], "always section"), context)
    return {number: opened[32 * place:32 * place + 32] for place, number in enumerate(ALWAYS)}


def open_keys(bag, wrapping):
    """The item keys by class and generation, and the index keys."""
    vault, pairs, index = bag["vault"], {}, []
    for number, generation, _, wrapped in bag["keys"]:
        if number not in wrapping:
            continue
        name = row_class(number), generation
        try:
            key = open_sealed(wrapped, wrapping[number], associated(vault, KEYBAG_KEY, bytes(16), 0, *name))
        except Damaged:
            if name[0] == number:
                raise
            continue  # Bound to a third device key.
        if number == INDEX_KEY:
            index.append(key)
        else:
            pairs[name] = [derive(key, vault, purpose, group_context(*name)) for purpose in ("metadata", "value")]
    need(index, "has no index key")
    return bag | {"pairs": pairs, "index": index[0], "reference": derive(index[0], vault, "reference"),
                  "wrapping": set(wrapping)}


def open_keybag(data, kind, secret, device):
    bag = decode_keybag(data)
    opened = open_root(bag, kind, secret)
    bound, other = (device, None) if is_bound(bag, device) else (None, device)
    return open_keys(bag, wrapping_keys(opened["root"], bag["vault"], bound, other)) | {"user": opened["user"]}


def open_always(data, device):
    bag = decode_keybag(data)
    return open_keys(bag, always_keys(bag, device)) | {"user": None}
