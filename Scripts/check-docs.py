#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what is written is true, as far as a program can tell:

- every relative link leads to a file, and to a heading if it names one;
- the tests that the documents name exist;
- the Swift code in the README is part of an example, which is compiled and run;
- the Swift code in comments and articles of the modules below is part of a test or an example;
- no file has a path of somebody's machine in it, or a note of something left to do.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# These name the test of each rule in backticks.
DOCUMENTS_WITH_TESTS = ["Docs/SEMANTICS.md", "Docs/THREATS.md", "Docs/Seeds.md"]
# The Swift code in their comments and articles has to be, indentation aside, part of the code below.
FOLDERS_WITH_EXAMPLES = [
    "Sources/KeychainKit",
    "Sources/KeychainConfiguration",
    "Sources/KeychainTesting",
    "Sources/KeychainSecItem",
    "Sources/Wrappers",
]
CODE_THAT_RUNS = [
    "Tests/KeychainKitTests/Examples",
    "Tests/KeychainConfigurationTests",
    "Tests/KeychainTestingTests/Examples",
    "Tests/KeychainSecItemTests/Examples",
    "Tests/Wrappers",
    "Examples",
]
# Brackets keep the pattern from finding itself.
LEFTOVER = re.compile(r"/(?:work|opt|root|home)[/]|\b(?:TO[D]O|FIX[M]E)\b")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main():
    texts = dict(read(path) for path in listed_files())
    documents = {path: text for path, text in texts.items() if path.suffix == ".md"}
    problems = [
        *broken_links(documents),
        *missing_tests(texts),
        *code_that_is_no_example(texts),
        *examples_that_do_not_run(texts),
        *leftovers(texts),
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{len(problems)} problem(s) in the documents.")
    print(f"{len(documents)} documents are in order.")


def listed_files():
    """What git knows, and what it would be told of by `git add --all`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = (pathlib.Path(name) for name in output.split("\0") if name)
    return [path for path in paths if (ROOT / path).is_file()]


def read(path):
    return path, (ROOT / path).read_text(encoding="utf-8", errors="replace")


def broken_links(documents):
    for path, text in documents.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", text)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (ROOT / path.parent / name).resolve() if name else ROOT / path
            if not file.exists():
                yield f"{path}: {target} leads nowhere"
            elif anchor and anchor not in anchors(file):
                yield f"{path}: {target} names no heading"


def anchors(file):
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", file.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def missing_tests(texts):
    code = "\n".join(text for path, text in texts.items() if path.parts[0] == "Tests")
    tests = set(re.findall(r"\bfunc (\w+)", code))
    for document in DOCUMENTS_WITH_TESTS:
        named = set(re.findall(r"`([a-z]\w*_\w+)`", texts[pathlib.Path(document)]))
        if not named:
            yield f"{document}: names no test"
        yield from (f"{document}: there is no test {name}" for name in sorted(named - tests))


def code_that_is_no_example(texts):
    """Code that sets up a package is checked by check-readme.sh, which builds that package."""
    examples = [text for path, text in texts.items() if path.parts[0] == "Examples"]
    for language, code in FENCE.findall(texts[pathlib.Path("README.md")]):
        if language == "swift" and ".package(" not in code and not any(code in text for text in examples):
            yield f"README.md: this Swift code is in no example:\n{code}"


def examples_that_do_not_run(texts):
    running = [outline(text) for path, text in texts.items() if is_in(path, CODE_THAT_RUNS)]
    for path, text in texts.items():
        if not is_in(path, FOLDERS_WITH_EXAMPLES):
            continue
        for language, code in FENCE.findall(comments(text) if path.suffix == ".swift" else text):
            if language == "swift" and not any(outline(code) in text for text in running):
                yield f"{path}: this Swift code is run by no test or example:\n{code}"


def is_in(path, folders):
    return any(pathlib.Path(folder) in path.parents for folder in folders)


def comments(code):
    """The text of all documentation comments, with an empty line for each line of code."""
    return "".join(match[1] + "\n" if (match := re.match(r"\s*/// ?(.*)", line)) else "\n" for line in code.splitlines())


def outline(code):
    """Whole lines without their indentation."""
    return "\n" + "".join(line.strip() + "\n" for line in code.splitlines())


def leftovers(texts):
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if found := LEFTOVER.search(line):
                yield f"{path}:{number}: {found.group()!r} has no place in the project"


if __name__ == "__main__":
    main()
