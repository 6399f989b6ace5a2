# SPDX-License-Identifier: Apache-2.0
# The primitives of the format by name, for comparison with Tests/Vectors.

import json

import hpke
import user_secrets as u
import vault_format as f

PLACE = ("vault", "role", "item", "version", "keyClass", "generation")
HEX_INPUTS = {"vault", "item", "secret", "salt", "context", "key", "sealed", "encoding", "random", "identity",
              "padded", "bytes", "keybag", "deviceKey"}


def plain(value):
    """What the vector files hold: bytes as hexadecimal text, typed values as objects."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return {"type": value[0], "value": plain(value[1])}
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


def typed(value):
    content = value["value"]
    return value["type"], bytes.fromhex(content) if value["type"] == "data" else content


def place(given, role=None):
    named = given | ({"role": role} if role else {})
    return f.associated(*(named[name] for name in PLACE))


def digests(given):
    major, minor, scope, lookups = f.digests(given["key"], f.decode_item(given["encoding"]))
    return {"major": major, "minor": minor, "scope": scope, "lookups": sorted(lookups)}


def device_key(given):
    key_id, key = f.device_key(given["bytes"])
    return {"id": key_id, "key": key}


def keybag(given):
    bag = f.decode_keybag(given["bytes"])
    slots = [{name: slot[name] for name in ("kind", "id", "created", "parameters", "commitment", "wrapped")}
             for slot in bag["slots"]]
    keys = [{"keyClass": number, "generation": generation, "created": created, "wrapped": wrapped}
            for number, generation, created, wrapped in bag["keys"]]
    return {"vault": bag["vault"], "sequence": bag["sequence"], "slots": slots, "keys": keys}


def open_keybag(given):
    """The index and reference keys show by what they make, since the other implementation does not show them."""
    bag = f.open_keybag(given["keybag"], *f.device_key(given["deviceKey"]))
    pairs = {f"{number}.{generation}": keys for (number, generation), keys in bag["pairs"].items()}
    return {"pairs": pairs, "index": f.digest(bag["index"], b"vector"),
            "reference": f.block(bag["reference"], bytes(16), forward=True)}


def row(given):
    columns = {name: bytes.fromhex(part) if isinstance(part, str) else part for name, part in given["row"].items()}
    return f.open_row(f.open_keybag(given["keybag"], *f.device_key(given["deviceKey"])), columns)


PRIMITIVES = {
    "associatedData": place,
    "derive": lambda g: f.derive(g["secret"], g["salt"], g["purpose"], g["context"]),
    "context": lambda g: f.group_context(g["keyClass"], g["generation"], g["accessGroup"]),
    "comparison": lambda g: f.comparison_bytes(g["kind"] == "number", typed(g["value"])),
    "digests": digests,
    "identity": lambda g: f.block(g["key"], g["rowID"].to_bytes(8, "big", signed=True) + g["random"], forward=True),
    "rowID": lambda g: int.from_bytes(f.block(g["key"], g["identity"])[:8], "big", signed=True),
    "bucket": lambda g: f.bucket(g["length"], g["content"] == "value"),
    "unpad": lambda g: f.unpad(g["padded"], g["content"] == "value"),
    "item": lambda g: f.decode_item(g["encoding"]),
    "deviceKey": device_key,
    "keybag": keybag,
    "openKeybag": open_keybag,
    "open": lambda g: f.open_sealed(g["sealed"], g["key"], place(g)),
    "openOneTime": lambda g: f.open_value(g["sealed"], g["key"], lambda role: place(g, role)),
    "row": row,
    "userPublicKey": lambda g: hpke.public_key(g["key"]),
    "openUserKey": lambda g: u.open_user_sealed(g["key"], g["sealed"], g["context"]),
    "normalised": lambda g: u.normalised(g["secret"]),
    "passphraseKeys": lambda g: u.passphrase_keys(
        *(g[name] for name in ("secret", "salt", "rounds", "blockSize", "parallelism"))),
    "recoveryText": lambda g: u.recovery_text(g["key"]),
    "readRecovery": lambda g: u.read_recovery(g["text"]),
}


def result(primitive, given):
    values = {name: bytes.fromhex(part) if name in HEX_INPUTS else part for name, part in given.items()}
    try:
        return plain(PRIMITIVES[primitive](values))
    except (f.Damaged, f.Refused, u.Unusable):
        return None


def results(path):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    for vector in content["vectors"]:
        yield vector["name"], result(vector["primitive"], content.get("common", {}) | vector["input"])
