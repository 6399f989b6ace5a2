#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the package manifests, as far as possible without building for another platform:

- the core package has no target or product with a name that programs are likely to use, and no dependency that only the wrappers need;
- what only a trait needs is a dependency only with that trait;
- both manifests are the same on every host: platform differences are conditions or in the sources;
- warnings are errors only with KEYCHAIN_CHECK;
- the build with KEYCHAIN_SANITIZED has every test of the vault that `make sanitize` is to run;
- each module depends only on modules below it in the manifest, and the table of modules in Docs/Architecture.md has the same
  modules, in the same order, with the same dependencies.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Target names that other packages also use; see Docs/Decisions/0020.
WRAPPERS = {"JSKeychain", "Keychain", "KeychainClient", "LGTVControl", "SecureStorage", "Valet"}
OF_THE_WRAPPERS = {"xctest-dynamic-overlay"}
# Nobody who does not ask for one of these traits builds these packages.
WITH_TRAITS = {
    "async-http-client": {"Etcd"},
    "swift-certificates": {"Certificates"},
    "swift-nio": {"Etcd", "NIOSSL"},
    "swift-nio-ssl": {"Etcd", "NIOSSL"},
}
APPLES_NAMES = {"Security", "LocalAuthentication", "KeychainServices"}
# The target behind the modules with Apple's names, on platforms where Apple does not ship them.
ONLY_FOR_LINUX = {"KeychainServices"}
ARCHITECTURE = "Docs/Architecture.md"


def main():
    core, wrappers = manifest("."), manifest("Wrappers")
    problems = [
        *of_core(core),
        *upward_dependencies(core),
        *differences_from_table(core, (ROOT / ARCHITECTURE).read_text(encoding="utf-8")),
        *of_wrappers(wrappers),
        *differences_by_host("Package.swift"),
        *differences_by_host("Wrappers/Package.swift"),
        *warnings(core, manifest(".", "KEYCHAIN_CHECK")),
        *not_sanitized(manifest(".", "KEYCHAIN_SANITIZED")),
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{len(problems)} problem(s) in the package manifests.")
    print("The package manifests are correct.")


def manifest(folder, variable=None):
    """The manifest as SwiftPM reads it. A cached manifest would ignore a changed environment."""
    environment = {name: value for name, value in os.environ.items() if name not in {"KEYCHAIN_CHECK", "KEYCHAIN_SANITIZED", "KEYCHAIN_FUZZED"}}
    if variable:
        environment[variable] = "1"
    command = ["swift", "package", "--manifest-cache", "none", "--package-path", str(ROOT / folder), "dump-package"]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def of_core(package):
    targets = {target["name"]: target for target in package["targets"]}
    products = {product["name"] for product in package["products"]}
    for name in sorted(WRAPPERS & (targets.keys() | products)):
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
    for name in sorted(ONLY_FOR_LINUX):
        for dependency in targets[name]["dependencies"]:
            _, condition = next(iter(dependency.values()))
            if not condition or condition.get("platformNames") != ["linux"]:
                yield f"Package.swift: a dependency of '{name}' is not restricted to Linux"


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


def not_sanitized(package):
    """Tests that the thread sanitizer is to run, in files that its build leaves out."""
    wanted = re.compile("|".join(re.findall(r"^THREAD_SUITES := (?:\$\(THREAD_SUITES\)\|)?(.*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)))
    (target,) = (target for target in package["targets"] if target["name"] == "KeychainVaultTests")
    folder = ROOT / "Tests" / target["name"]
    built = [folder / source for source in target["sources"]]
    for file in sorted(folder.rglob("*.swift")):
        if any(file == source or source in file.parents for source in built):
            continue
        for name in re.findall(r"\b(?:struct|class|func) (\w+)", file.read_text(encoding="utf-8")):
            if wanted.search(f"{target['name']}.{name}/"):
                yield f"Package.swift: KEYCHAIN_SANITIZED leaves out '{name}' in {file.relative_to(ROOT)}"


def differences_by_host(path):
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("#if"):
            yield f"{path}:{number}: '#if' tests the host, not the target platform"


def warnings(package, checked):
    if errors_of(package):
        yield "Package.swift: warnings are errors without KEYCHAIN_CHECK"
    if not errors_of(checked):
        yield "Package.swift: KEYCHAIN_CHECK does not make warnings errors"


def errors_of(package):
    return [target["name"] for target in package["targets"] if "treatAllWarnings" in json.dumps(target["settings"])]


if __name__ == "__main__":
    main()
