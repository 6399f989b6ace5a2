#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A second implementation, written only from Docs/FORMAT.md. The tests compare the package with it.
"""Prints one JSON object. Exit codes: 0 no problem, 1 something is damaged, 2 the vault cannot be opened."""

import argparse
import base64
import json
import os
import sqlite3
import sys
from collections import defaultdict
from pathlib import Path

sys.dont_write_bytecode = True  # Keep the source folder unchanged.

import keybag
from head import check_head
from items import digests
from primitives import Damaged, Refused, need
from rows import PASSWORD, USER, Closed, Wrong, open_row
from user_secrets import Unusable, application_key, read_recovery

ROW_COLUMNS = ("id INTEGER PRIMARY KEY, uuid BLOB NOT NULL, version INTEGER NOT NULL, class INTEGER NOT NULL, "
               "generation INTEGER NOT NULL, major BLOB NOT NULL, minor BLOB NOT NULL, scope BLOB NOT NULL, "
               "metadata BLOB NOT NULL, value BLOB NOT NULL")
TABLES = {
    "CREATE TABLE keybag (id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL) STRICT",
    "CREATE TABLE keybag_copy (id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL) STRICT",
    f"CREATE TABLE item ({ROW_COLUMNS}) STRICT",
    "CREATE UNIQUE INDEX item_key ON item (major, minor, scope)",
    "CREATE TABLE lookup (digest BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (digest, item)) "
    "STRICT, WITHOUT ROWID",
    f"CREATE TABLE quarantine ({ROW_COLUMNS}, set_aside REAL NOT NULL) STRICT",
}
TABLES_WITH_HEAD = TABLES | {
    "CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL) STRICT"}
TABLES_WITH_INDEX = TABLES_WITH_HEAD | {"CREATE INDEX item_minor ON item (minor)"}
TABLES_IN_RING = TABLES_WITH_INDEX | {
    "CREATE TABLE sync_item (item INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE) STRICT",
    "CREATE TABLE sync_outbox (number INTEGER PRIMARY KEY, change INTEGER NOT NULL, time INTEGER NOT NULL, "
    "item INTEGER UNIQUE, id BLOB UNIQUE, CHECK ((item IS NULL) <> (id IS NULL))) STRICT",
    "CREATE TABLE sync_state (name BLOB PRIMARY KEY, bytes BLOB NOT NULL) STRICT, WITHOUT ROWID"}
FORMATS = {3: TABLES_WITH_HEAD, 4: TABLES_WITH_INDEX, 5: TABLES_IN_RING}
COLUMNS = "id uuid version class generation major minor scope metadata value".split()


def connect(folder):
    path = Path(folder, "vault.db").resolve()
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    for setting in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
        database.execute(f"PRAGMA {setting}")
    database.execute("BEGIN")
    return database


def check_schema(database):
    if database.execute("PRAGMA application_id").fetchone()[0] != 0x4B564C54:
        raise Refused("the database is not a vault")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > 5:
        raise Refused(f"the vault has format {version}, but this program only knows formats 1 to 5")
    statements = {sql for (sql,) in database.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}
    if version < 1 or statements != FORMATS.get(version, TABLES):
        raise Refused("the tables are not those of a vault")
    return version


def keybag_copies(database):
    for table in ("keybag", "keybag_copy"):
        row = database.execute(f"SELECT bytes FROM {table} WHERE id = 1").fetchone()
        yield row[0] if row else None


def open_copy(data, secret, device):
    """Opens a copy with the given secret. Without one, opens as much as the device key alone opens."""
    if secret:
        return keybag.open_keybag(data, *secret, device)
    if not device:
        raise Refused("neither a secret nor a device key was given")
    try:
        return keybag.open_keybag(data, keybag.DEVICE_KEY, device, device)
    except Refused:
        section = keybag.decode_keybag(data)["always"]
        if not section or section["device"] != device[0]:
            raise
        return keybag.open_always(data, device)


def open_best(copies, secret, device):
    """The newest keybag that opens, and the state of each copy."""
    opened, failures = [], []
    for data in copies:
        try:
            opened.append(open_copy(data, secret, device) | {"data": data})
        except (Damaged, Refused) as failure:
            failures.append(failure)
    if not opened:
        misfits = [failure for failure in failures if isinstance(failure, Refused)]
        raise misfits[0] if misfits else Refused("both copies of the keybag are damaged")
    best = max(opened, key=lambda bag: bag["sequence"])
    known = {bag["data"] for bag in opened}
    return best, ["good" if data == best["data"] else "behind" if data in known else "damaged" for data in copies]


def check_types(row):
    for name, value in row.items():
        wanted = int if name in ("id", "version", "class", "generation") else bytes
        need(isinstance(value, wanted), f"has a {name} that is not of type {wanted.__name__}")


def read_items(database, bag, proofs):
    items, damaged, locked, lookups = [], [], [], defaultdict(set)
    for digest, row_id in database.execute("SELECT digest, item FROM lookup"):
        lookups[row_id].add(digest)
    for values in database.execute(f"SELECT {', '.join(COLUMNS)} FROM item ORDER BY id"):
        row = dict(zip(COLUMNS, values))
        stored = lookups.pop(row["id"], set())
        try:
            check_types(row)
            item = open_row(bag, row, proofs)
            need(digests(bag["index"], item)[3] == stored, "has wrong rows in lookup")
            items.append(item | {"row": row["id"]})
        except Closed:
            locked.append(row["id"])
        except Wrong as wrong:
            raise Refused(f"the given secret ({wrong}) is not the one of row {row['id']}") from None
        except Damaged as failure:
            damaged.append({"row": row["id"], "reason": str(failure)})
    damaged += [{"row": row_id, "reason": "has rows in lookup but does not exist"} for row_id in sorted(lookups)]
    return {"items": items, "damaged": damaged, "locked": locked}


def read_head(database, bag):
    """The content of the head, and the differences from it."""
    row = database.execute("SELECT bytes FROM head WHERE id = 1").fetchone()
    rows = [dict(zip(COLUMNS, values)) for values in database.execute(f"SELECT {', '.join(COLUMNS)} FROM item")]
    lookups = database.execute("SELECT digest, item FROM lookup").fetchall()
    quarantined = database.execute("SELECT count(*) FROM quarantine").fetchone()[0]
    return check_head(row[0] if row else None, bag, rows, lookups, quarantined, read_ring(database))


def read_ring(database):
    """The rows that only a vault in a ring has; None without its tables."""
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not {"sync_item", "sync_outbox", "sync_state"} <= tables:
        return None
    return {"outbox": database.execute("SELECT item, id, time FROM sync_outbox").fetchall(),
            "names": database.execute("SELECT item, id FROM sync_item").fetchall(),
            "state": database.execute("SELECT name, bytes FROM sync_state").fetchall()}


def plain(value):
    """A value for JSON: bytes as base64, typed values as objects."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, tuple):
        return {"type": value[0], "value": plain(value[1])}
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return value


def printable(item):
    return plain(item) | {"reference": item["reference"].hex()}


def load_device_key(path):
    try:
        return keybag.device_key(Path(path).read_bytes())
    except Damaged as failure:
        raise Refused(f"the device key file {failure}") from None


def from_descriptor(number):
    """Reads one line and nothing after it, so that one descriptor may contain several secrets."""
    line = b""
    while len(line) <= 8192:
        byte = os.read(number, 1)
        if byte in (b"", b"\n"):
            return line
        line += byte
    raise Refused("a secret must have at most 8192 bytes")


def key_file(path):
    content = Path(path).read_bytes()
    if not 32 <= len(content) <= 4096:
        raise Refused("a key file must have 32 to 4096 bytes")
    return content


def recovery_key(text):
    read = read_recovery(text.decode("utf-8", "replace"))
    if read == "mistyped":
        raise Refused("the recovery key is mistyped")
    return read["key"]


def given_secret(options):
    """The kind number and the secret; None to open the vault with the device key."""
    if options.passphrase_fd is not None:
        return keybag.PASSPHRASE, from_descriptor(options.passphrase_fd)
    if options.recovery_key_fd is not None:
        return keybag.RECOVERY_KEY, recovery_key(from_descriptor(options.recovery_key_fd))
    if options.credential:
        return keybag.CREDENTIAL, key_file(options.credential)
    if options.tpm_secret:
        return keybag.TPM, key_file(options.tpm_secret)
    return (keybag.KEY_FILE, key_file(options.key_file)) if options.key_file else None


def read_vault(options):
    database = connect(options.folder)
    version = check_schema(database)
    device = None if options.device_key == "-" else load_device_key(options.device_key)
    bag, states = open_best(list(keybag_copies(database)), given_secret(options), device)
    proofs = {USER: bag["user"]}
    if options.application_password_fd is not None:
        proofs[PASSWORD] = application_key(from_descriptor(options.application_password_fd), bag["vault"])
    found = read_items(database, bag, proofs)
    slots = [{"kind": slot["kind"], "id": slot["id"].hex(), "created": slot["created"]} for slot in bag["slots"]]
    quarantined = database.execute("SELECT count(*) FROM quarantine").fetchone()[0]
    head = read_head(database, bag) if version >= 3 else None
    return {"vault": bag["vault"].hex(), "head": head, "slots": slots, "keybag": states, "quarantined": quarantined,
            **found, "items": [printable(item) for item in found["items"]]}


def parsed(arguments):
    parser = argparse.ArgumentParser(description="Reads a vault as Docs/FORMAT.md specifies it.")
    parser.add_argument("folder", metavar="VAULT_FOLDER")
    parser.add_argument("device_key", metavar="DEVICE_KEY_FILE", help="- if there is none")
    secrets = parser.add_mutually_exclusive_group()
    for name in ("--passphrase-fd", "--recovery-key-fd"):
        secrets.add_argument(name, type=int, metavar="NUMBER", help="a descriptor that contains it as one line")
    for name in ("--key-file", "--credential"):
        secrets.add_argument(name, metavar="FILE")
    secrets.add_argument("--tpm-secret", metavar="FILE", help="what the TPM has sealed in the slot")
    parser.add_argument("--application-password-fd", type=int, metavar="NUMBER")
    return parser.parse_args(arguments)


def main(arguments):
    if arguments[:1] == ["--vectors"]:
        from vectors import results
        print(json.dumps({name: result for path in arguments[1:] for name, result in results(path)}))
        return 0
    try:
        found = read_vault(parsed(arguments))
    except (Refused, Unusable, OSError, sqlite3.Error) as failure:
        print(f"cannot open: {failure}", file=sys.stderr)
        return 2
    print(json.dumps(found))
    has_other_head = found["head"] is not None and found["head"]["differs"]
    return 1 if found["damaged"] or has_other_head or found["keybag"] != ["good", "good"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
