#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the package manifests, as far as possible without building for another platform:

- the core package has no target or product with a name that programs are likely to use, and no dependency that only the wrappers need;
- what only a trait needs is a dependency only with that trait;
- both manifests are the same on every host: platform differences are conditions or in the sources;
- modules with Apple's names, and those that exist for Linux only, are dependencies only on Linux;
- no source asks whether one of our modules can be imported, since an incremental build could find an old one;
- warnings are errors only with KEYCHAIN_CHECK;
- the build with KEYCHAIN_SANITIZED has every test of the vault that `make sanitize` is to run;
- each file imports only what its target depends on;
- each module depends only on modules below it in the manifest, and the table of modules in Docs/Architecture.md has the same
  modules, in the same order, with the same dependencies.

    check-manifest.py [ROOT]        checks the project in ROOT; without it, this project
    check-manifest.py --self-test   tests this check: it must find wrong manifests and sources
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Target names that other packages also use; see Docs/Decisions/0020.
WRAPPERS = {"JSKeychain", "Keychain", "KeychainClient", "LGTVControl", "SecureStorage", "Valet"}
# Those of packages that programs for Apple's platforms use.
USED_ELSEWHERE = {
    "KeychainAccess", "KeychainHelper", "KeychainStored", "KeychainSwift", "KeychainWrapper", "Locksmith", "SAMKeychain", "SimpleKeychain",
    "Strongbox", "SwiftKeychainWrapper", "SwiftSecurity", "UICKeyChainStore"}
OF_THE_WRAPPERS = {"xctest-dynamic-overlay"}
# Nobody who does not ask for one of these traits builds these packages.
WITH_TRAITS = {
    "async-http-client": {"Etcd"},
    "swift-certificates": {"Certificates"},
    "swift-nio": {"Etcd", "NIOSSL"},
    "swift-nio-ssl": {"Etcd", "NIOSSL"},
}
APPLES_NAMES = {"Security", "LocalAuthentication", "KeychainServices"}
# What these depend on only on Linux.
ONLY_FOR_LINUX = {"KeychainKit": {"KeychainVault", "KeychainAuthenticators"}, "Security": {"KeychainTrust"}}
# Elsewhere it re-exports Apple's frameworks.
EMPTY_ELSEWHERE = "KeychainServices"
# Only on Linux are these ours.
OF_APPLE = {"Security", "LocalAuthentication"}
ARCHITECTURE = "Docs/Architecture.md"
IMPORT = re.compile(
    r"^[ \t]*(?:@\w+(?:\(\w+\))? +)*(?:(?:public|package|internal|private|fileprivate) +)?"
    r"import +(?:(?:struct|class|enum|func|protocol|typealias|var|let) +)?(\w+)", re.MULTILINE)


def main():
    if "--self-test" in sys.argv:
        self_test()
        return
    problems = check(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{len(problems)} problem(s) in the package manifests.")
    print("The package manifests are correct.")


def check(root):
    core, wrappers = manifest(root), manifest(root / "Wrappers")
    return [
        *of_core(core),
        *upward_dependencies(core),
        *differences_from_table(core, (root / ARCHITECTURE).read_text(encoding="utf-8")),
        *of_wrappers(wrappers),
        *differences_by_host(root, "Package.swift"),
        *differences_by_host(root, "Wrappers/Package.swift"),
        *warnings("Package.swift", core, manifest(root, "KEYCHAIN_CHECK")),
        *warnings("Wrappers/Package.swift", wrappers, manifest(root / "Wrappers", "KEYCHAIN_CHECK")),
        *not_sanitized(root, manifest(root, "KEYCHAIN_SANITIZED")),
        *of_sources(root, root, core, core),
        *of_sources(root, root / "Wrappers", wrappers, core),
    ]


def manifest(folder, variable=None):
    """The manifest as SwiftPM reads it. A cached manifest would ignore a changed environment."""
    key = ((folder / "Package.swift").read_text(encoding="utf-8"), variable)
    if key not in manifests:
        environment = {name: value for name, value in os.environ.items() if name not in {"KEYCHAIN_CHECK", "KEYCHAIN_SANITIZED", "KEYCHAIN_FUZZED"}}
        if variable:
            environment[variable] = "1"
        command = ["swift", "package", "--manifest-cache", "none", "--package-path", str(folder), "dump-package"]
        manifests[key] = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    return manifests[key]


manifests = {}


def of_core(package):
    targets = {target["name"]: target for target in package["targets"]}
    products = {product["name"] for product in package["products"]}
    for name in sorted((WRAPPERS | USED_ELSEWHERE) & (targets.keys() | products)):
        yield f"Package.swift: '{name}' is a name that programs are likely to use"
    for name in sorted(OF_THE_WRAPPERS & set(dependencies(package))):
        yield f"Package.swift: depends on {name}, which only the wrappers need"
    for target in package["targets"]:
        for dependency in target["dependencies"]:
            (values,) = dependency.values()
            allowed, traits = WITH_TRAITS.get(name_of(dependency)), set((values[-1] or {}).get("traits") or [])
            if allowed and not (traits and traits <= allowed):
                yield f"Package.swift: '{target['name']}' depends on {name_of(dependency)} without the trait {' or '.join(sorted(allowed))}"
    for name in sorted(APPLES_NAMES - products):
        yield f"Package.swift: the product '{name}' is missing"
    for target in package["targets"]:
        name = target["name"]
        only = OF_APPLE | (targets.keys() if name == EMPTY_ELSEWHERE else ONLY_FOR_LINUX.get(name, set()))
        for dependency in target["dependencies"]:
            (values,) = dependency.values()
            if name_of(dependency) in only and (values[-1] or {}).get("platformNames") != ["linux"]:
                yield f"Package.swift: '{name}' depends on {name_of(dependency)} outside of Linux, too"


def of_wrappers(package):
    missing = WRAPPERS - {product["name"] for product in package["products"]}
    for name in sorted(missing):
        yield f"Wrappers/Package.swift: the product '{name}' is missing"


def modules(package):
    """Each module in Sources with its dependencies: targets, and packages instead of their products."""
    for target in package["targets"]:
        if target["type"] != "test" and target.get("path") is None:
            yield target["name"], {name_of(dependency) for dependency in target["dependencies"]}


def name_of(dependency):
    ((kind, values),) = dependency.items()
    return values[1] if kind == "product" else values[0]


def upward_dependencies(package):
    order = {name: rank for rank, (name, _) in enumerate(modules(package))}
    for name, needed in modules(package):
        for other in sorted(needed & order.keys()):
            if order[other] < order[name]:
                yield f"Package.swift: '{name}' depends on '{other}', which is above it. Move one of them"


def differences_from_table(package, text):
    """Compares the names in the table that are targets or packages, so that the table may explain them."""
    expected = dict(modules(package))
    known = expected.keys() | set(dependencies(package))
    table = re.search(r"^\| Module \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    if not table:
        yield f"{ARCHITECTURE}: the table of modules is missing"
        return
    listed = {}
    for row in table[1].splitlines():
        names, _, needed = row.strip("|").split("|")
        for name in re.findall(r"`(\w+)`", names):
            listed[name] = set(re.findall(r"[\w-]+", needed)) & known
    if list(listed) != list(expected):
        yield f"{ARCHITECTURE}: the table must list the modules in the order of Package.swift: {', '.join(expected)}"
    for name in listed.keys() & expected.keys():
        if listed[name] != expected[name]:
            yield (f"{ARCHITECTURE}: '{name}' depends on {', '.join(sorted(expected[name])) or 'nothing'} in Package.swift, "
                   f"but on {', '.join(sorted(listed[name])) or 'nothing'} in the table")


def dependencies(package):
    for dependency in package["dependencies"]:
        for values in dependency.values():
            yield values[0]["identity"]


def of_sources(root, folder, package, core):
    """Imports of modules that the target does not depend on: they are there only if something else happens to be built before."""
    ours = {target["name"] for target in core["targets"] + package["targets"]}
    known = ours | {
        values[0] for target in core["targets"] + package["targets"] for values in products_of(target)}
    for target in package["targets"]:
        place = folder / (target.get("path") or f"{'Tests' if target['type'] == 'test' else 'Sources'}/{target['name']}")
        needed = {target["name"]} | {next(iter(dependency.values()))[0] for dependency in target["dependencies"]}
        left_out = [place / path for path in target.get("exclude", [])]
        for file in sorted(place.rglob("*.swift")):
            if any(file == path or path in file.parents for path in left_out):
                continue
            text = file.read_text(encoding="utf-8")
            for match in IMPORT.finditer(text):
                # On Apple's platforms they are Apple's.
                if match[1] in known - needed - OF_APPLE:
                    yield f"{place_in(root, file, text, match)}: '{target['name']}' does not depend on {match[1]}"
            for match in re.finditer(r"canImport\((\w+)\)", text):
                if match[1] in ours:
                    yield f"{place_in(root, file, text, match)}: tests for a module of ours; use #if os(Linux)"


def products_of(target):
    return [values for dependency in target["dependencies"] for kind, values in dependency.items() if kind == "product"]


def place_in(root, file, text, match):
    return f"{file.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}"


def not_sanitized(root, package):
    """Tests that the thread sanitizer is to run, in files that its build leaves out."""
    wanted = re.compile("|".join(re.findall(r"^THREAD_SUITES := (?:\$\(THREAD_SUITES\)\|)?(.*)", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)))
    (target,) = (target for target in package["targets"] if target["name"] == "KeychainVaultTests")
    folder = root / "Tests" / target["name"]
    built = [folder / source for source in target["sources"]]
    for file in sorted(folder.rglob("*.swift")):
        if any(file == source or source in file.parents for source in built):
            continue
        for name in re.findall(r"\b(?:struct|class|func) (\w+)", file.read_text(encoding="utf-8")):
            if wanted.search(f"{target['name']}.{name}/"):
                yield f"Package.swift: KEYCHAIN_SANITIZED leaves out '{name}' in {file.relative_to(root)}"


def differences_by_host(root, path):
    """A manifest runs on the host. All that it may ask is whether the project checks itself."""
    text = (root / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#if"):
            yield f"{path}:{number}: '#if' tests the host, not the target platform"
        for name in IMPORT.findall(line):
            if name != "PackageDescription":
                yield f"{path}:{number}: with {name}, a manifest can test the host"
    for name in re.findall(r"Context\.\w+(?:\[\"\w+\"\])?", text):
        if not re.fullmatch(r'Context\.environment\["KEYCHAIN_\w+"\]', name):
            yield f"{path}: {name} may differ between hosts"


def warnings(path, package, checked):
    if errors_of(package):
        yield f"{path}: warnings are errors without KEYCHAIN_CHECK"
    if not errors_of(checked):
        yield f"{path}: KEYCHAIN_CHECK does not make warnings errors"


def errors_of(package):
    return [target["name"] for target in package["targets"] if "treatAllWarnings" in json.dumps(target["settings"])]


# What each of them changes, and what must be said of it.
MUTANTS = [
    ("Package.swift", '.target(name: "KeychainVault", condition: .when(platforms: [.linux]))', '.target(name: "KeychainVault")',
     "'KeychainKit' depends on KeychainVault outside of Linux"),
    ("Package.swift", '.target(name: "KeychainTrust", condition: .when(platforms: [.linux], traits: ["Certificates"]))',
     '.target(name: "KeychainTrust", condition: .when(traits: ["Certificates"]))', "'Security' depends on KeychainTrust outside of Linux"),
    ("Package.swift", '"SecItemDemo", dependencies: [ofApple("Security")]', '"SecItemDemo", dependencies: ["Security"]',
     "'SecItemDemo' depends on Security outside of Linux"),
    ("Package.swift", "let isChecked = Context.environment[\"KEYCHAIN_CHECK\"] != nil", "let isChecked = true",
     "Package.swift: warnings are errors without KEYCHAIN_CHECK"),
    ("Wrappers/Package.swift", "let isChecked = Context.environment[\"KEYCHAIN_CHECK\"] != nil", "let isChecked = true",
     "Wrappers/Package.swift: warnings are errors without KEYCHAIN_CHECK"),
    ("Package.swift", "import PackageDescription", "import Foundation\nimport PackageDescription", "with Foundation, a manifest can test"),
    ("Package.swift", "let isChecked =", "let home = Context.packageDirectory\nlet isChecked =", "Context.packageDirectory may differ"),
    ("Package.swift", "    // Stores\n", '    .target(name: "KeychainSwift", path: "Sources/KeychainVault/Changes"),\n',
     "'KeychainSwift' is a name that programs are likely to use"),
    ("Sources/SecretMemory/SecretBytes.swift", "#if canImport(Darwin)", "#if canImport(KeychainVault)", "use #if os(Linux)"),
    ("Sources/KeychainVault/Changes/VaultChanges.swift", "import KeychainEngine", "import KeychainEngine\nimport KeychainSync",
     "'KeychainVault' does not depend on KeychainSync"),
]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "swift-keychain"
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".git", ".build", "Fuzz", "*.md.lock"), symlinks=True)
        for path, old, new, expected in MUTANTS:
            text = (root / path).read_text(encoding="utf-8")
            if old not in text:
                sys.exit(f"The self-test does not find in {path}: {old}")
            (root / path).write_text(text.replace(old, new, 1), encoding="utf-8")
            found = check(root)
            if not any(expected in problem for problem in found):
                sys.exit(f"The manifest check fails its self-test.\nexpected: {expected}\nfound:    {found}")
            (root / path).write_text(text, encoding="utf-8")
        if found := check(root):
            sys.exit(f"The manifest check fails its self-test.\nexpected nothing\nfound:    {found}")
    print(f"The manifest check passes its self-test of {len(MUTANTS)} mutants.")


if __name__ == "__main__":
    main()
