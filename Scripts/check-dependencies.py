#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Docs/Dependencies.md with the package versions that were resolved for this build.

Without arguments: prints each difference and exits with 1 if there is any. With --write: writes the file again. Packages may
resolve to any version with the same major version, so that programs can share them. The file records the versions that the
tests have run with.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESOLVED = [ROOT / "Package.resolved", ROOT / "Wrappers" / "Package.resolved"]
RECORD = ROOT / "Docs" / "Dependencies.md"
RENEW = "Scripts/check-dependencies.py --write"

HEAD = f"""# Dependencies

The versions that the tests of this commit have run with, with all traits enabled, including the dependencies of `Wrappers`. Each `Package.swift` requires these or newer versions with the same major
version, so that programs can choose. To build with exactly these versions, pin them (`swift package resolve NAME --version VERSION`).
`{RENEW}` writes this file, and `.ci/run` fails if it differs from the resolved versions.

| Package | Version | From |
|---|---|---|
"""

TAIL = """
The package also depends on SQLite (the system's `libsqlite3`, {sqlite} when this file was written), for `keychainctl` on the system's zlib, and on Swift ({swift}). None is pinned: the system's security updates
replace both, and the tests run with the installed versions.
"""


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(f"usage: {sys.argv[0]} [--write]")
    for path in RESOLVED:
        if not path.is_file():
            sys.exit(f"{path.relative_to(ROOT)} is missing. Build first: make test")
    pins = resolved()
    if sys.argv[1:]:
        RECORD.write_text(document(pins), encoding="utf-8")
        print(f"{RECORD.relative_to(ROOT)} lists {len(pins)} packages.")
        return
    differences = list(compare(recorded(), {name: pin[0] for name, pin in pins.items()}))
    for difference in differences:
        print(difference, file=sys.stderr)
    if differences:
        sys.exit(f"{RECORD.relative_to(ROOT)} is out of date. After the tests have passed, update it: {RENEW}")
    print(f"All {len(pins)} packages have the recorded versions.")


def resolved():
    """By name: version, URL."""
    pins = {}
    for path in RESOLVED:
        for pin in json.loads(path.read_text(encoding="utf-8"))["pins"]:
            state = pin["state"]
            found = (state.get("version") or state.get("branch") or "-", pin["location"])
            other = pins.setdefault(pin["identity"], found)
            if other[0] != found[0]:
                sys.exit(f"{pin['identity']}: the two packages were built with {other[0]} and {found[0]}")
    return pins


def recorded():
    if not RECORD.is_file():
        return {}
    rows = [line.split("|") for line in RECORD.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {row[1].strip(" `"): row[2].strip() for row in rows}


def compare(old, new):
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield f"{name}: recorded {old.get(name, 'nothing')}, resolved {new.get(name, 'nothing')}"


def document(pins):
    rows = [f"| `{name}` | {pin[0]} | <{pin[1]}> |\n" for name, pin in sorted(pins.items())]
    return HEAD + "".join(rows) + TAIL.format(sqlite=sqlite(), swift=swift())


def sqlite():
    # Not the version in Python's sqlite3 module, which may use another library.
    code = 'import ctypes; f = ctypes.CDLL("libsqlite3.so.0").sqlite3_libversion; f.restype = ctypes.c_char_p; print(f().decode())'
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return result.stdout.strip() or "unknown"


def swift():
    text = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout
    words = text.split("Swift version ", 1)
    return words[1].split()[0] if len(words) == 2 else "unknown"


if __name__ == "__main__":
    main()
