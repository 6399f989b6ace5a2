# SPDX-License-Identifier: Apache-2.0
"""The command lines of the tools: their arguments and standard input for each operation. A secret is never an argument."""

import itertools

from names import SECRETS, account, service

counter = itertools.count()


def secret_of(operation):
    return SECRETS[next(counter) % 2 if operation == "update" else 0]


def keychainctl(program):
    def words(operation, index):
        item = ["-s", service(index), "-a", account(index)]
        return {
            "read": ([program, "get", *item], b""),
            "add": ([program, "set", *item], secret_of(operation).encode()),
            "update": ([program, "set", *item], secret_of(operation).encode()),
            "delete": ([program, "delete", *item], b""),
            "list": ([program, "list", "-s", service(index)], b""),
        }[operation]

    return words


def secret_tool(operation, index):
    item = ["service", service(index), "username", account(index), "application", "Python keyring library"]
    store = ["secret-tool", "store", f"--label={account(index)}", *item]
    return {
        "read": (["secret-tool", "lookup", *item], b""),
        "add": (store, secret_of(operation).encode()),
        "update": (store, secret_of(operation).encode()),
        "delete": (["secret-tool", "clear", *item], b""),
        "list": (["secret-tool", "search", "--all", "service", service(index)], b""),
    }[operation]


def password_store(program):
    """`pass` reads a secret once, the `gopass` of Debian 12 twice."""

    def words(operation, index):
        name = f"{service(index)}/{account(index)}"
        insert, times = ([program, "insert", "-m", "-f", name], 1) if program == "pass" else ([program, "insert", "-f", name], 2)
        return {
            "read": ([program, "show", name], b""),
            "add": (insert, f"{secret_of(operation)}\n".encode() * times),
            "update": (insert, f"{secret_of(operation)}\n".encode() * times),
            "delete": ([program, "rm", "-f", name], b""),
            "list": ([program, "ls", service(index)], b""),
        }[operation]

    return words
