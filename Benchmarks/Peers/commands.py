# SPDX-License-Identifier: Apache-2.0
"""The command lines of the tools: their arguments and standard input for each operation. A secret is never an argument."""

from names import account, new_secret, service


def keychainctl(program):
    def words(operation, index):
        item = ["-s", service(index), "-a", account(index)]
        return {
            "read": ([program, "get", *item], b""),
            "add": ([program, "set", *item], new_secret().encode()),
            "update": ([program, "set", *item], new_secret().encode()),
            "delete": ([program, "delete", *item], b""),
            "list": ([program, "list", "-s", service(index)], b""),
        }[operation]

    return words


def secret_tool(operation, index):
    item = ["service", service(index), "username", account(index), "application", "Python keyring library"]
    store = ["secret-tool", "store", f"--label={account(index)}", *item]
    return {
        "read": (["secret-tool", "lookup", *item], b""),
        "add": (store, new_secret().encode()),
        "update": (store, new_secret().encode()),
        "delete": (["secret-tool", "clear", *item], b""),
        "list": (["secret-tool", "search", "--all", "service", service(index)], b""),
    }[operation]


def password_store(program):
    """The `gopass` of Debian 12 reads a secret only from a terminal or with an editor, which here copies standard input."""

    def words(operation, index):
        name = f"{service(index)}/{account(index)}"
        insert = ([program, "insert", "-m", "-f", name], f"{new_secret()}\n".encode())
        return {
            "read": ([program, "show", name], b""),
            "add": insert,
            "update": insert,
            "delete": ([program, "rm", "-f", name], b""),
            "list": ([program, "ls", service(index)], b""),
        }[operation]

    return words
