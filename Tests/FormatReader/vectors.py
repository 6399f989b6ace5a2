# SPDX-License-Identifier: Apache-2.0
# The primitives of the format by name. The tests compare their results with Tests/Vectors.

import json

import head as h
import hpke
import items as i
import keybag as k
import primitives as f
import rows as r
import user_secrets as u

PLACE = ("vault", "role", "item", "version", "keyClass", "generation")
HEX_INPUTS = {"vault", "item", "secret", "salt", "context", "key", "sealed", "encoding", "random", "identity",
              "padded", "bytes", "keybag", "deviceKey", "publicKey", "wrapped", "userKey", "applicationKey", "valueKey",
              "password", "index", "digest"}


def plain(value):
    """A value as in the vector files: bytes as hexadecimal text, typed values as objects."""
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
    major, minor, scope, lookups = i.digests(given["key"], i.decode_item(given["encoding"]))
    return {"major": major, "minor": minor, "scope": scope, "lookups": sorted(lookups)}


def device_key(given):
    key_id, key = k.device_key(given["bytes"])
    return {"id": key_id, "key": key}


def keybag(given):
    bag = k.decode_keybag(given["bytes"])
    slots = [{name: slot[name] for name in ("kind", "id", "created", "parameters", "commitment", "wrapped")}
             for slot in bag["slots"]]
    keys = [{"keyClass": number, "generation": generation, "created": created, "wrapped": wrapped}
            for number, generation, created, wrapped in bag["keys"]]
    sections = {"userKey": bag["userKey"], "always": bag["always"]} if bag["format"] == 2 else {}
    return {"vault": bag["vault"], "sequence": bag["sequence"], "slots": slots, "keys": keys} | sections


def opened_keybag(given):
    device = k.device_key(given["deviceKey"])
    return k.open_keybag(given["keybag"], k.DEVICE_KEY, device, device)


def open_keybag(given):
    """Compares the index and reference keys by their outputs: the other implementation does not expose them."""
    bag = opened_keybag(given)
    pairs = {f"{number}.{generation}": keys for (number, generation), keys in bag["pairs"].items()}
    return {"pairs": pairs, "index": f.digest(bag["index"], b"vector"),
            "reference": f.block(bag["reference"], bytes(16), forward=True)}


def unlock(given):
    """What a secret opens. A passphrase or a recovery key is given as typed, other secrets as bytes."""
    bag, secret = k.decode_keybag(given["keybag"]), given["secret"]
    if given["kind"] == k.RECOVERY_KEY:
        secret = u.read_recovery(secret.decode())
        u.need(secret != "mistyped", "mistyped")
        secret = secret["key"]
    elif given["kind"] == k.PASSPHRASE:
        secret = u.normalised(secret)
    else:
        u.need(32 <= len(secret) <= 4096, "has a wrong length")
    opened = k.open_root(bag, given["kind"], secret)
    device = k.device_key(given["deviceKey"]) if given["deviceKey"] else None
    bound = device if k.is_bound(bag, device) else None
    pairs = k.open_keys(bag, k.wrapping_keys(opened["root"], bag["vault"], bound))["pairs"]
    return {"slot": opened["slot"], "root": opened["root"], "user": opened["user"],
            "open": sorted(f"{number}.{generation}" for number, generation in pairs)}


def always(given):
    keys = k.always_keys(k.decode_keybag(given["keybag"]), k.device_key(given["deviceKey"]))
    return b"".join(bytes([number]) + key for number, key in keys.items())


def user_root(given):
    return k.root_under_user_key(given, given["userKey"], given["vault"])


def constrained(given):
    def at(role, generation=given["generation"]):
        return place(given | {"generation": generation}, role)
    proofs = {r.USER: given.get("userKey"), r.PASSWORD: given.get("applicationKey")}
    return r.open_constrained(given["sealed"], given["valueKey"], at, given["needs"], proofs, given["publicKey"])


def row(given):
    columns = {name: bytes.fromhex(part) if isinstance(part, str) else part for name, part in given["row"].items()}
    proofs = {r.USER: given.get("userKey"), r.PASSWORD: given.get("applicationKey")}
    return r.open_row(opened_keybag(given), columns, proofs)


def item_digest(given):
    columns = {name: bytes.fromhex(part) if isinstance(part, str) else part for name, part in given["row"].items()}
    return h.row_digest(h.row_key(given["index"], given["vault"]), h.item_message(columns))


def lookup_digest(given):
    return h.row_digest(h.row_key(given["index"], given["vault"]), h.lookup_message(given["row"], given["digest"]))


def set_sum(given):
    return h.total(*([bytes.fromhex(part) for part in given[name]] for name in ("of", "without")))


PRIMITIVES = {
    "associatedData": place,
    "derive": lambda g: f.derive(g["secret"], g["salt"], g["purpose"], g["context"]),
    "context": lambda g: f.group_context(g["keyClass"], g["generation"], g["accessGroup"]),
    "comparison": lambda g: i.comparison_bytes(g["kind"] == "number", typed(g["value"])),
    "digests": digests,
    "identity": lambda g: f.block(g["key"], g["rowID"].to_bytes(8, "big", signed=True) + g["random"], forward=True),
    "rowID": lambda g: int.from_bytes(f.block(g["key"], g["identity"])[:8], "big", signed=True),
    "bucket": lambda g: i.bucket(g["length"], g["content"] == "value"),
    "unpad": lambda g: i.unpad(g["padded"], g["content"] == "value"),
    "item": lambda g: i.decode_item(g["encoding"]),
    "deviceKey": device_key,
    "keybag": keybag,
    "openKeybag": open_keybag,
    "open": lambda g: f.open_sealed(g["sealed"], g["key"], place(g)),
    "openOneTime": lambda g: r.open_value(g["sealed"], g["key"], lambda role: place(g, role)),
    "row": row,
    "itemDigest": item_digest,
    "lookupDigest": lookup_digest,
    "setSum": set_sum,
    "head": lambda g: h.open_head(g["sealed"], g["index"], g["vault"]),
    "unlock": unlock,
    "always": always,
    "userRoot": user_root,
    "constrained": constrained,
    "applicationKey": lambda g: u.application_key(g["password"], g["vault"]),
    "userPublicKey": lambda g: hpke.public_key(g["key"]),
    "openUserKey": lambda g: u.open_user_sealed(g["key"], g["sealed"], g["context"]),
    "normalised": lambda g: u.normalised(g["secret"]),
    "passphraseKeys": lambda g: u.passphrase_keys(
        *(g[name] for name in ("secret", "salt", "rounds", "blockSize", "parallelism"))),
    "recoveryText": lambda g: u.recovery_text(g["key"]),
    "readRecovery": lambda g: u.read_recovery(g["text"]),
}


FAILURES = {f.Damaged: "damaged", f.Refused: "not mine", u.Unusable: "unusable", r.Wrong: "wrong"}


def result(primitive, given, names_failures):
    values = {name: bytes.fromhex(part) if name in HEX_INPUTS else part for name, part in given.items()}
    try:
        return plain(PRIMITIVES[primitive](values))
    except tuple(FAILURES) as failure:
        kind = FAILURES[type(failure)]
        return {"failure": f"wrong {failure}" if kind == "wrong" else kind} if names_failures else None


def results(path):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    for vector in content["vectors"]:
        given = content.get("common", {}) | vector["input"]
        yield vector["name"], result(vector["primitive"], given, content.get("namesFailures", False))
