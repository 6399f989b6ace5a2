#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Docs/Dependencies.md with what was resolved for this build, and with the system's own libraries.

Without arguments: prints each difference and ends with 1 if there is one. With --write: writes the file anew. Packages float
within their major version, so that programs can share them; the file says which versions the tests have run with.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESOLVED = ROOT / "Package.resolved"
RECORD = ROOT / "Docs" / "Dependencies.md"
RENEW = "Scripts/check-dependencies.py --write"

HEAD = f"""# Dependencies

The versions that the tests of this commit have run with, all traits on. `Package.swift` asks for these or newer ones of the same major
version, so that a program can have its own choice; to build with exactly these, pin them (`swift package resolve NAME --version VERSION`).
`{RENEW}` writes this file, and `.ci/run` fails where it differs from what was resolved.

| Package | Version | Revision | From |
|---|---|---|---|
"""

TAIL = """
Beside these: SQLite, the system's own `libsqlite3` ({sqlite} when this file was written), and Swift ({swift}). Neither is pinned: both come with security updates
of the system, and the tests run with whatever is there.
"""


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(f"usage: {sys.argv[0]} [--write]")
    if not RESOLVED.is_file():
        sys.exit("There is no Package.resolved. Build first: swift build --enable-all-traits")
    pins = resolved()
    if sys.argv[1:]:
        RECORD.write_text(document(pins), encoding="utf-8")
        print(f"{RECORD.relative_to(ROOT)} has {len(pins)} packages.")
        return
    differences = list(compare(recorded(), {name: pin[:2] for name, pin in pins.items()}))
    for difference in differences:
        print(difference, file=sys.stderr)
    if differences:
        sys.exit(f"{RECORD.relative_to(ROOT)} is stale. Renew it once the tests have passed: {RENEW}")
    print(f"{len(pins)} packages are those that are recorded.")


def resolved():
    """Name -> version, revision, address."""
    pins = json.loads(RESOLVED.read_text(encoding="utf-8"))["pins"]
    return {
        pin["identity"]: (
            pin["state"].get("version") or pin["state"].get("branch") or "-", pin["state"]["revision"], pin["location"])
        for pin in pins
    }


def recorded():
    if not RECORD.is_file():
        return {}
    rows = [line.split("|") for line in RECORD.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {row[1].strip(" `"): (row[2].strip(), row[3].strip(" `")) for row in rows}


def compare(old, new):
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield f"{name}: recorded {shown(old.get(name))}, resolved {shown(new.get(name))}"


def shown(pin):
    return f"{pin[0]} ({pin[1][:12]})" if pin else "nothing"


def document(pins):
    rows = [f"| `{name}` | {pin[0]} | `{pin[1]}` | <{pin[2]}> |\n" for name, pin in sorted(pins.items())]
    return HEAD + "".join(rows) + TAIL.format(sqlite=sqlite(), swift=swift())


def sqlite():
    # Not Python's own, which may be another.
    code = 'import ctypes; f = ctypes.CDLL("libsqlite3.so.0").sqlite3_libversion; f.restype = ctypes.c_char_p; print(f().decode())'
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return result.stdout.strip() or "unknown"


def swift():
    text = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout
    words = text.split("Swift version ", 1)
    return words[1].split()[0] if len(words) == 2 else "unknown"


if __name__ == "__main__":
    main()
