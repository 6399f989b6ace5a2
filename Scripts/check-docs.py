#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents, as far as a program can:

- every relative link leads to a file, and to a heading if it names one;
- no link in Wrappers leads out of it by a path, since it is published as a repository of its own;
- the tests that the documents name exist;
- the Swift code in the READMEs, in Docs/Sync.md and in Docs/Tasks.md is part of an example or a test, which is compiled and run,
  unless it needs a package that this project does not depend on;
- the Swift code in comments and articles of the modules below is part of a test or an example;
- the tool, the changelog, and every document that shows how to depend on the package name the same version;
- Markdown and the comments of Swift sources use the standard terms below, and no sentence hides its subject ("Whoever …", "by who …");
- no file contains an absolute path of a developer's machine, or a note about unfinished work.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# These documents name the test of each rule in backticks.
DOCUMENTS_WITH_TESTS = ["Docs/SEMANTICS.md", "Docs/THREATS.md", "Docs/FAULTS.md", "Docs/Seeds.md", "Docs/Security-command.md"]
# The Swift code in their comments and articles must be part of the code below, except for its indentation.
FOLDERS_WITH_EXAMPLES = [
    "Sources/KeychainKit",
    "Sources/KeychainAdoption",
    "Sources/KeychainConfiguration",
    "Sources/KeychainKeyStore",
    "Sources/KeychainNIOSSL",
    "Sources/KeychainTesting",
    "Sources/KeychainSecItem",
    "Sources/KeychainSync/Interface",
    "Sources/KeychainSync/KeychainSync.docc",
    "Wrappers/Sources",
]
CODE_THAT_RUNS = [
    "Tests/KeychainKitTests/Examples",
    "Tests/KeychainConfigurationTests",
    "Tests/KeychainKeyStoreTests",
    "Tests/KeychainNIOSSLTests",
    "Tests/KeychainTestingTests/Examples",
    "Tests/KeychainSecItemTests/Examples",
    "Tests/KeychainSyncTests/Examples",
    "Examples",
    "Wrappers/Tests",
    "Wrappers/Examples",
]
# It is published as a repository of its own.
OWN_REPOSITORY = pathlib.Path("Wrappers")
FOLDERS_OF_TESTS = ["Tests", "Wrappers/Tests"]
READMES = ["README.md", "Wrappers/README.md", "Docs/Sync.md", "Docs/Tasks.md"]
VERSION_FILE = "Sources/keychainctl/Version.swift"
# The brackets prevent the pattern from matching this line.
FORBIDDEN = re.compile(r"/(?:work|opt|root|home)[/]|\b(?:TO[D]O|FIX[M]E)\b")
PACKAGE_CODE = re.compile(r"\.(?:package|product)\(|^import Hummingbird$", re.MULTILINE)
# Words that readers stumble over, and the standard terms for them. Code is not checked: identifiers, and what is in backticks.
PLAIN_TERMS = {
    "lane": "worker queue",
    "sighting": "listing entry, or observation",
    "obstacle": "authentication requirement, or reason",
    "leftovers?": "residue",
    "surroundings": "environment",
    "mend(?:s|ed|ing)?": "repair",
    "sets? aside|setting aside": "quarantine",
    "anew": "again",
    "alarm": "timer",
}
# Beginnings of sentences that hide who does something: name the caller, process, user or attacker.
INVERTED = ["Whoever", "Who has", "Who is", "That there is", "That there are"]
# Where one of these is right: for each file, the pieces of text that the check skips, such as {"Docs/X.md": ["a lane of the road"]}.
RIGHT_WORDS = {}
# A bare "who" inside a sentence: "a machine that", "anyone who".
BARE = re.compile(r"\b(?:by|and) who\b", re.IGNORECASE)
TERM = re.compile(r"\b(?:" + "|".join(f"({term}s?)" for term in PLAIN_TERMS) + r")\b", re.IGNORECASE)
INVERSION = re.compile(r"(?:^|[.:;!?|] |- )\W*(" + "|".join(INVERTED) + r")\b")
COMMENT = re.compile(r"(?:^|\s)//+ ?(.*)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main():
    texts = dict(read(path) for path in listed_files())
    documents = {path: text for path, text in texts.items() if path.suffix == ".md"}
    problems = [
        *broken_links(documents),
        *missing_tests(texts),
        *other_versions(texts, documents),
        *code_that_is_no_example(texts),
        *examples_that_do_not_run(texts),
        *forbidden_text(texts),
        *words_that_are_not_plain(texts),
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{len(problems)} problem(s) in the documents.")
    print(f"{len(documents)} documents have no problems.")


def listed_files():
    """The tracked files, and those that `git add --all` would add."""
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
                yield f"{path}: {target} is a broken link"
            elif leaves_repository(path, file):
                yield f"{path}: {target} leads out of {OWN_REPOSITORY}, which is published alone. Use a URL, or text without a link"
            elif anchor and anchor not in anchors(file):
                yield f"{path}: {target} does not name a heading"


def leaves_repository(document, file):
    return OWN_REPOSITORY in document.parents and not file.is_relative_to(ROOT / OWN_REPOSITORY)


def anchors(file):
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", file.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def missing_tests(texts):
    code = "\n".join(text for path, text in texts.items() if is_in(path, FOLDERS_OF_TESTS))
    tests = set(re.findall(r"\bfunc (\w+)", code))
    for document in DOCUMENTS_WITH_TESTS:
        named = set(re.findall(r"`([a-z]\w*_\w+)`", texts[pathlib.Path(document)]))
        if not named:
            yield f"{document}: does not name any test"
        yield from (f"{document}: the test {name} does not exist" for name in sorted(named - tests))


def code_that_is_no_example(texts):
    """Manifest code is checked by check-readme.sh, which builds the package."""
    running = [outline(text) for path, text in texts.items() if is_in(path, CODE_THAT_RUNS)]
    for readme in READMES:
        for language, code in FENCE.findall(texts[pathlib.Path(readme)]):
            if language == "swift" and not PACKAGE_CODE.search(code) and not any(outline(code) in text for text in running):
                yield f"{readme}: this Swift code is not part of an example:\n{code}"


def other_versions(texts, documents):
    """The version of the tool must be the newest one in the changelog, and the one that the documents name."""
    version = re.search(r'packageVersion = "([^"]+)"', texts[pathlib.Path(VERSION_FILE)])[1]
    newest = re.search(r"^## (\S+)$", texts[pathlib.Path("CHANGELOG.md")], re.MULTILINE)[1]
    if newest != version:
        yield f"CHANGELOG.md: the newest version is {newest}, but {VERSION_FILE} has {version}"
    for path, text in documents.items():
        for asked in re.findall(r'/swift-keychain(?:-wrappers)?(?:\.git)?", from: "([^"]+)"', text):
            if asked != version:
                yield f"{path}: requires version {asked}, but {VERSION_FILE} has {version}"
    if not re.search(r'/swift-keychain", from: "', texts[pathlib.Path("README.md")]):
        yield "README.md: does not name the version to depend on"


def examples_that_do_not_run(texts):
    running = [outline(text) for path, text in texts.items() if is_in(path, CODE_THAT_RUNS)]
    for path, text in texts.items():
        if not is_in(path, FOLDERS_WITH_EXAMPLES):
            continue
        for language, code in FENCE.findall(comments(text) if path.suffix == ".swift" else text):
            if language == "swift" and not any(outline(code) in text for text in running):
                yield f"{path}: this Swift code is not part of a test or an example that runs:\n{code}"


def words_that_are_not_plain(texts):
    for path, text in texts.items():
        if path.suffix not in {".md", ".swift"}:
            continue
        for number, line in prose(text, is_document=path.suffix == ".md"):
            for allowed in RIGHT_WORDS.get(str(path), ()):
                line = line.replace(allowed, "")
            if found := TERM.search(line):
                term = list(PLAIN_TERMS.values())[found.lastindex - 1]
                yield (f"{path}:{number}: write '{term}' instead of '{found.group()}'. If the word is right here, "
                       f"put it in backticks if it is code, or add it to RIGHT_WORDS in Scripts/check-docs.py")
            if found := INVERSION.search(line):
                yield (f"{path}:{number}: the sentence begins with '{found.group(1)}'. Begin it with its subject: "
                       f"the caller, process, user or attacker that does it")
            if found := BARE.search(line):
                yield f"{path}:{number}: '{found.group()}': name the caller, process, user, machine or attacker"


def prose(text, is_document):
    """The numbered lines of a document, or of the comments in Swift code, without code."""
    is_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not is_document:
            comment = COMMENT.search(line)
            line = comment[1] if comment else ""
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif line and not is_code:
            yield number, re.sub(r"(`+).*?\1", "", line)


def is_in(path, folders):
    return any(pathlib.Path(folder) in path.parents for folder in folders)


def comments(code):
    """The text of all documentation comments, with an empty line for each line of code."""
    return "".join(match[1] + "\n" if (match := re.match(r"\s*/// ?(.*)", line)) else "\n" for line in code.splitlines())


def outline(code):
    """Whole lines without their indentation."""
    return "\n" + "".join(line.strip() + "\n" for line in code.splitlines())


def forbidden_text(texts):
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if found := FORBIDDEN.search(line):
                yield f"{path}:{number}: {found.group()!r} must not be in the project"


if __name__ == "__main__":
    main()
