#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replaces a section of a document with a section that a command has written.

usage: evidence.py DOCUMENT TITLE SECTION-FILE
       evidence.py DOCUMENT TITLE                  prints the current section
"""

import re
import sys


def main() -> None:
    document, title = sys.argv[1:3]
    with open(document, encoding="utf-8") as file:
        parts = re.split(r"(?m)^(?=## )", file.read())
    if len(sys.argv) == 3:
        print("".join(part for part in parts if part.startswith(f"## {title}\n")), end="")
        return
    section = sys.argv[3]
    with open(section, encoding="utf-8") as file:
        new = file.read().rstrip("\n") + "\n"
    places = [number for number, part in enumerate(parts) if part.startswith(f"## {title}\n")]
    if places:
        parts[places[0]] = new
    else:
        parts.append(new)
    with open(document, "w", encoding="utf-8") as file:
        file.write("\n".join(part.rstrip("\n") + "\n" for part in parts))


main()
