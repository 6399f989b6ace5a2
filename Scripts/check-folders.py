#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the order of the folders in each module: a file uses only declarations of its own folder and of the folders below it.

A module with folders states their order in a comment in one of its files:

    // Folders, from top to bottom:
    //
    // - Upper: what it is for
    // - Lower: what it is for

`.` means the files beside the folders. Declarations are those outside of functions that are not private. A declaration outside of
types is used by its bare name, a type in a type or an extension by its name, and another member as `.name` or `name(`.

Names are not resolved, so the check ignores names that several folders declare. Of members and of types in types it also ignores the
names that the using file or an imported module of ours declares, and NAMES_OF_OTHERS.

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
    r"(?:(?:@\w+(?:\([^)]*\))?|public|package|internal|open|final|indirect|nonisolated|static|class|override|mutating|lazy|weak"
    r"|unowned|borrowing|consuming|required|convenience|private\(set\)|(private|fileprivate))(?:\([\w ,]+\))? +)*"
    r"(struct|class|enum|actor|protocol|extension|typealias|func|let|var|case|init|deinit|subscript)\b *`?(\w*)(.*)")
TYPES = {"struct", "class", "enum", "actor", "protocol"}
# What the use of a NAME looks like that is declared outside of types, of a type in a type, and of another member.
OUTSIDE = (r"(?<![.\w])NAME\b(?!:)", r"(?<!\.)\bNAME\b")
NESTED = r"\bNAME\b"
MEMBER = r"(?<!\.)\.NAME\b|(?<![.\w])NAME\("
IMPORT = re.compile(r"\bimport (\w+)$", re.M)
# What a case carries.
CARRIED = re.compile(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)?")
# Names of Swift, Foundation and the C library that members or types of ours have too.
NAMES_OF_OTHERS = set("""
    Set contains filter first get insert inserted isEmpty keys last load merge private rawValue removeAll resume success valid values
    """.split())
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
    found = {folder.name: Module(root, folder) for folder in modules(root)}
    return [problem for module in found.values() for problem in module.problems(found)]


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
        # Each name with the folders that declare it, and what its use looks like.
        self.names = collections.defaultdict(set)
        for path, code in self.code.items():
            for use, name in declarations(code):
                self.names[name].add((self.room(path), use))

    def room(self, path: pathlib.Path) -> str:
        parts = path.relative_to(self.folder).parts
        return parts[0] if len(parts) > 1 else "."

    def problems(self, modules: dict[str, "Module"]) -> list[str]:
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
        imported = {name for code in self.code.values() for name in IMPORT.findall(code)} & modules.keys()
        ignored = NAMES_OF_OTHERS.union(*(modules[name].names for name in imported))
        return self.uses_upwards({room: rank for rank, room in enumerate(order)}, ignored)

    def uses_upwards(self, rank: dict[str, int], ignored: set[str]) -> list[str]:
        needs = {name: self.needs(name, name in ignored) for name in self.names}
        problems = set()
        for path, code in self.code.items():
            own = rank[self.room(path)]
            for name in needs.keys() & set(re.findall(r"\w+", code)):
                for room, use in needs[name]:
                    if rank[room] < own and (use in OUTSIDE or not declares(code, name)):
                        problems |= {(path, line(code, match.end()), name, room)
                                     for match in re.finditer(use.replace("NAME", name), code)}
        return [f"{self.name(path)}:{number}: {name} is declared above, in {room}" for path, number, name, room in sorted(problems)]

    def needs(self, name: str, is_ignored: bool) -> list[tuple[str, str]]:
        """The folder that a use of a name needs, with what such a use looks like."""
        declared = self.names[name]
        outside, rooms = {room for room, kind in declared if kind in OUTSIDE}, {room for room, _ in declared}
        needs = [(room, OUTSIDE[name[0].isupper()]) for room in outside if len(outside) == 1]
        if len(rooms) == 1 and not is_ignored:
            needs += [(room, kind) for room, kind in declared if kind not in OUTSIDE]
        return needs

    def name(self, path: pathlib.Path) -> str:
        return str(path.relative_to(self.root))


def declarations(code: str):
    """The names outside of functions that are not private, each with what its use looks like."""
    # For each open brace, whether declarations follow.
    braces, opens_type = [], False
    for text in code.splitlines():
        if all(braces) and (match := DECLARATION.match(text.lstrip())):
            private, keyword, name, rest = match.groups()
            opens_type = not private and keyword in TYPES | {"extension"}
            if name and not private and keyword != "extension":
                use = OUTSIDE[name[0].isupper()] if not braces else NESTED if keyword in TYPES | {"typealias"} else MEMBER
                yield from ((use, each) for each in [name, *(further_cases(rest) if keyword == "case" else [])])
        for brace in re.findall("[{}]", text):
            if brace == "{":
                braces.append(opens_type)
                opens_type = False
            elif braces:
                braces.pop()


def declares(code: str, name: str) -> bool:
    """Whether a file declares the name itself, also in a function, or as a parameter."""
    return re.search(rf"\b(?:struct|class|enum|typealias|func|let|var|case(?: `?\w+`?,)*) +`?{name}\b|<{name}\b|\b_ {name}:",
                     code) is not None


def further_cases(rest: str) -> list[str]:
    """The names after the first of `case one, two(Int)`."""
    return re.findall(r", *`?(\w+)", CARRIED.sub("", rest))


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
    nested = {**good, "Upper/Roof.swift": order + "extension Cellar {\n    struct Tile {\n        let width: Int\n    }\n}\n",
              "Lower/Stairs.swift": "struct Stairs {\n    let end: Cellar.Tile\n}\n"}
    members = {**good, "Upper/Errors.swift": "extension Cellar {\n    static let tooWet = 1\n    func flood() {}\n}\n"
                                             "enum Damage {\n    case rain(Int), hail\n}\n",
               "Lower/Stairs.swift": "func climb() {\n    fail(.tooWet)\n    cellar\n        .flood()\n    fail(.hail)\n}\n"
                                     "extension Cellar {\n    func soak() { flood() }\n}\n"}
    # Names that are private, that two folders declare, of the same file, of an imported module, and of Swift.
    other_names = {**good, "Upper/Roof.swift": order + "struct Roof {\n    private let tile = 1\n    var wood = 1, first = 2\n}\n"
                                               "private extension Cellar {\n    func beam() {}\n}\n"
                                               "extension Cellar {\n    func fill() {}\n    var lamp: Int { 1 }\n}\n",
                   "Lower/Wood.swift": "struct Wood {\n    let wood: Int\n}\n",
                   "Lower/Stairs.swift": "import Tools\n\nfunc climb(_ fill: () -> Void) {\n    fill()\n    use(x.tile, y.wood, z.lamp)\n"
                                         "    all.first.beam()\n}\n",
                   "../Tools/Lamp.swift": "public struct Lamp {\n    public let lamp = 1\n}\n"}
    unlisted = {**good, "Middle/Floor.swift": "struct Floor {}\n"}
    unordered = {"Upper/Roof.swift": "struct Roof {}\n", "Lower/Cellar.swift": "struct Cellar {}\n"}
    expect(good, [])
    expect(upwards, ["Sources/House/Lower/Stairs.swift:2: Roof is declared above, in Upper"])
    expect(calling, ["Sources/House/Lower/Stairs.swift:2: build is declared above, in Upper"])
    expect(nested, ["Sources/House/Lower/Stairs.swift:2: Tile is declared above, in Upper"])
    expect(members, ["Sources/House/Lower/Stairs.swift:2: tooWet is declared above, in Upper",
                     "Sources/House/Lower/Stairs.swift:4: flood is declared above, in Upper",
                     "Sources/House/Lower/Stairs.swift:5: hail is declared above, in Upper",
                     "Sources/House/Lower/Stairs.swift:8: flood is declared above, in Upper"])
    expect(other_names, [])
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
