#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Reads a vault by Docs/FORMAT.md alone, to check the package against a second implementation.
"""Usage: read_vault.py VAULT_FOLDER DEVICE_KEY_FILE | read_vault.py --vectors FILE...

Prints one JSON object. Exit code: 0 all is well, 1 something is damaged, 2 the vault cannot be opened."""

import base64
import json
import sqlite3
import sys
from collections import defaultdict
from pathlib import Path

sys.dont_write_bytecode = True  # The folder of the sources stays as it is.

from vault_format import Damaged, Refused, device_key, digests, need, open_keybag, open_row

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
    if version > 1:
        raise Refused(f"the vault has format {version}, and this program knows format 1")
    statements = {sql for (sql,) in database.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}
    if version != 1 or statements != TABLES:
        raise Refused("the tables are not those of a vault")


def keybag_copies(database):
    for table in ("keybag", "keybag_copy"):
        row = database.execute(f"SELECT bytes FROM {table} WHERE id = 1").fetchone()
        yield row[0] if row else None


def open_best(copies, key):
    """The newest keybag that opens, and what is to be said of each copy."""
    opened, failures = [], []
    for data in copies:
        try:
            opened.append(open_keybag(data, *key) | {"data": data})
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
        need(isinstance(value, wanted), f"has no {wanted.__name__} as {name}")


def read_items(database, bag):
    items, damaged, lookups = [], [], defaultdict(set)
    for digest, row_id in database.execute("SELECT digest, item FROM lookup"):
        lookups[row_id].add(digest)
    for values in database.execute(f"SELECT {', '.join(COLUMNS)} FROM item ORDER BY id"):
        row = dict(zip(COLUMNS, values))
        filed = lookups.pop(row["id"], set())
        try:
            check_types(row)
            item = open_row(bag, row)
            need(digests(bag["index"], item)[3] == filed, "is looked up by other digests than its own")
            items.append(item | {"row": row["id"]})
        except Damaged as failure:
            damaged.append({"row": row["id"], "reason": str(failure)})
    damaged += [{"row": row_id, "reason": "is looked up and not there"} for row_id in sorted(lookups)]
    return items, damaged


def plain(value):
    """What JSON can hold: bytes as base64, typed values as objects."""
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
        return device_key(Path(path).read_bytes())
    except Damaged as failure:
        raise Refused(f"the device key file {failure}") from None


def read_vault(folder, key_file):
    database = connect(folder)
    check_schema(database)
    copies = list(keybag_copies(database))
    bag, states = open_best(copies, load_device_key(key_file))
    items, damaged = read_items(database, bag)
    slots = [{"kind": slot["kind"], "id": slot["id"].hex(), "created": slot["created"]} for slot in bag["slots"]]
    quarantined = database.execute("SELECT count(*) FROM quarantine").fetchone()[0]
    return {"vault": bag["vault"].hex(), "slots": slots, "keybag": states, "quarantined": quarantined,
            "items": [printable(item) for item in items], "damaged": damaged}


def main(arguments):
    if arguments[:1] == ["--vectors"]:
        from vectors import results
        print(json.dumps({name: result for path in arguments[1:] for name, result in results(path)}))
        return 0
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        found = read_vault(*arguments)
    except (Refused, OSError, sqlite3.Error) as failure:
        print(f"cannot open: {failure}", file=sys.stderr)
        return 2
    print(json.dumps(found))
    return 1 if found["damaged"] or found["keybag"] != ["good", "good"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
