#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the order of the folders in each module: a file uses only declarations of its own folder and of the folders below it.

A module with folders states their order in a comment in one of its files:

    // Folders, from top to bottom:
    //
    // - Upper: what it is for
    // - Lower: what it is for

`.` means the files beside the folders. Declarations are those outside of types that are not private. A use is the bare name.
Members are ignored, and so are names that several folders declare.

    check-folders.py [ROOT]         checks the project in ROOT; without it, this project
    check-folders.py --self-test    tests this check: it must find wrong uses in a small project
"""
import collections
import pathlib
import re
import sys
import tempfile

ORDER = re.compile(r"^// Folders, from top to bottom:\n((?://.*\n)+)", re.M)
ENTRY = re.compile(r"^// - ([\w.]+):", re.M)
DECLARATION = re.compile(
    r"(?:@\w+(?:\([^)]*\))? +)*"
    r"(?:(?:public|package|internal|open|final|indirect|nonisolated)(?:\(\w+\))? +)*"
    r"(?:struct|class|enum|actor|protocol|typealias|func|let|var) +`?(\w+)")
# Comments and strings are blanked before the search for names; line numbers stay the same.
SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|(#*)""".*?"""\1|(#*)"(?:\\.|[^"\\\n])*"\2', re.S)
# The original module, whose layout this one keeps, has circular dependencies.
WITHOUT_ORDER = {"LGTVControl"}


def main() -> None:
    if "--self-test" in sys.argv:
        self_test()
        return
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    problems = check(root)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{len(problems)} problem(s) with the order of folders.")
    print(f"The folders of {len(list(modules(root)))} modules are in order.")


def check(root: pathlib.Path) -> list[str]:
    return [problem for module in modules(root) for problem in Module(root, module).problems()]


def modules(root: pathlib.Path):
    for base in ("Sources", "Sources/Wrappers", "Wrappers/Sources"):
        for folder in sorted((root / base).glob("*/")):
            if folder.name not in WITHOUT_ORDER | {"Wrappers"} and any(folder.rglob("*.swift")):
                yield folder


class Module:
    def __init__(self, root: pathlib.Path, folder: pathlib.Path):
        self.root, self.folder = root, folder
        self.texts = {path: path.read_text() for path in sorted(folder.rglob("*.swift"))}
        self.code = {path: without_comments_and_strings(text) for path, text in self.texts.items()}
        self.rooms = {self.room(path) for path in self.texts}

    def room(self, path: pathlib.Path) -> str:
        parts = path.relative_to(self.folder).parts
        return parts[0] if len(parts) > 1 else "."

    def problems(self) -> list[str]:
        if len(self.rooms) == 1:
            return []
        found = [(path, match) for path, text in self.texts.items() for match in ORDER.finditer(text)]
        if len(found) != 1:
            files = ", ".join(self.name(path) for path, _ in found) or "none"
            return [f"{self.name(self.folder)}: one file must state the order of folders; it is stated in: {files}"]
        ((path, match),) = found
        order = ENTRY.findall(match[1])
        if sorted(order) != sorted(self.rooms):
            return [f"{self.name(path)}:{line(self.texts[path], match.start())}: the order names {', '.join(order)}; "
                    f"there are {', '.join(sorted(self.rooms))}"]
        return self.uses_upwards({room: rank for rank, room in enumerate(order)})

    def uses_upwards(self, rank: dict[str, int]) -> list[str]:
        declared = self.declared()
        problems = []
        for path, code in self.code.items():
            own = rank[self.room(path)]
            for match in re.finditer(r"(?<![.\w])\w+\b(?!:)|(?<!\.)\b[A-Z]\w*", code):
                rooms = declared.get(match[0], ())
                if len(rooms) == 1 and rank[min(rooms)] < own:
                    problems.append(f"{self.name(path)}:{line(code, match.start())}: {match[0]} is declared above, "
                                    f"in {min(rooms)}")
        return problems

    def declared(self) -> dict[str, set[str]]:
        """The folders that declare each name."""
        names = collections.defaultdict(set)
        for path, code in self.code.items():
            # The formatter indents code within `#if` and within types.
            conditions = 0
            for text in code.splitlines():
                stripped = text.lstrip(" ")
                if stripped.startswith("#endif"):
                    conditions -= 1
                match = DECLARATION.match(stripped)
                if match and len(text) - len(stripped) == 4 * conditions:
                    names[match[1]].add(self.room(path))
                if stripped.startswith("#if"):
                    conditions += 1
        return names

    def name(self, path: pathlib.Path) -> str:
        return str(path.relative_to(self.root))


def without_comments_and_strings(text: str) -> str:
    return SKIPPED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def self_test() -> None:
    order = "// Folders, from top to bottom:\n//\n// - Upper: a roof\n// - Lower: a cellar\n\n"
    good = {"Upper/Roof.swift": order + "struct Roof {\n    let cellar: Cellar\n}\n",
            "Lower/Cellar.swift": '/// Below a Roof.\nstruct Cellar {\n    let word = "Roof"\n}\n'}
    upwards = {**good, "Lower/Stairs.swift": "struct Stairs {\n    let end: Roof?\n}\n"}
    calling = {**good, "Upper/Build.swift": "#if os(Linux)\n    func build() {}\n#endif\n",
               "Lower/Stairs.swift": "struct Stairs {\n    init() { build() }\n}\n"}
    unlisted = {**good, "Middle/Floor.swift": "struct Floor {}\n"}
    unordered = {"Upper/Roof.swift": "struct Roof {}\n", "Lower/Cellar.swift": "struct Cellar {}\n"}
    expect(good, [])
    expect(upwards, ["Sources/House/Lower/Stairs.swift:2: Roof is declared above, in Upper"])
    expect(calling, ["Sources/House/Lower/Stairs.swift:2: build is declared above, in Upper"])
    expect(unlisted, ["Sources/House/Upper/Roof.swift:1: the order names Upper, Lower; there are Lower, Middle, Upper"])
    expect(unordered, ["Sources/House: one file must state the order of folders; it is stated in: none"])
    print("The folder check passes its self-test.")


def expect(files: dict[str, str], expected: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / "Sources/House" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = check(root)
    if found != expected:
        sys.exit(f"The folder check fails its self-test.\nexpected: {expected}\nfound:    {found}")


main()
