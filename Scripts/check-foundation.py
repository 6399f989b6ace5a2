#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the built tool uses no more of Foundation than FoundationEssentials. See Docs/Decisions/0031.

    Scripts/check-foundation.py [FOLDER]    FOLDER has the products of a build; default: .build/release

One call is enough to link 34 MB of ICU's tables: `text.contains("ab")`, `text.range(of: "ab")` or `String(format:)` in a file that
imports Foundation. The source does not show it, because the compiler chooses between the functions of Foundation and of the
standard library by types and imports. So this reads which symbols the object files of the tool need.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = "keychainctl.product/Objects.LinkFileList"
# These modules contain ICU, or need it.
LARGE = re.compile(r"\b(?:Foundation|FoundationInternationalization)\b")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".build/release"
    objects = linked(folder)
    needed = list(symbols(objects))
    names = demangled(sorted({symbol for _, symbol in needed}))
    # Each module of the tool imports Foundation somewhere. Without any symbol of it, this would have read the wrong thing.
    if not any("FoundationEssentials" in name for name in names.values()):
        sys.exit(f"{folder}: no object file of keychainctl uses FoundationEssentials, so this check has not read what it should.")
    problems = sorted({f"{file}: {names[symbol]}" for file, symbol in needed if LARGE.search(names[symbol])})
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"These {len(problems)} use(s) of Foundation link ICU into keychainctl. Use the standard library or "
                 "FoundationEssentials instead: Docs/Decisions/0031.")
    print(f"The {len(objects)} object files of keychainctl use no more of Foundation than FoundationEssentials.")


def linked(folder):
    """The object files from which the tool was linked. Others in the folder may be of files that do not exist any more."""
    file = folder / LIST
    if not file.is_file():
        sys.exit(f"'{file}' is missing. First: make release")
    return [line.strip("'\"").replace("\\", "") for line in file.read_text(encoding="utf-8").splitlines() if line]


def symbols(objects):
    """Each undefined symbol with `Foundation` in its name, and the object file that needs it."""
    if not objects:
        sys.exit(f"'{LIST}' is empty. First: make release")
    command = ["nm", "--undefined-only", "--no-demangle", "--print-file-name", *objects]
    for line in output(command).splitlines():
        file, _, symbol = line.rpartition(" U ")
        if "Foundation" in symbol:
            yield file.rstrip(": "), symbol


def demangled(symbols):
    """The full names: a mangled one does not repeat a word, so the name of a second module may not be in it."""
    lines = output(["swift", "demangle", "--compact"], "".join(symbol + "\n" for symbol in symbols)).splitlines()
    if len(lines) != len(symbols):
        sys.exit(f"'swift demangle' has printed {len(lines)} names for {len(symbols)} symbols.")
    return dict(zip(symbols, lines))


def output(command, text=None):
    try:
        result = subprocess.run(command, input=text, capture_output=True, text=True)
    except FileNotFoundError:
        sys.exit(f"'{command[0]}' is not on the PATH. 'nm' is in the package binutils, 'swift' in the toolchain.")
    if result.returncode:
        sys.exit(f"'{' '.join(command[:2])}' has failed: {result.stderr.strip()}")
    return result.stdout


if __name__ == "__main__":
    main()
