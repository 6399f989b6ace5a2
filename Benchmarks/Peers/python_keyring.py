# SPDX-License-Identifier: Apache-2.0
"""Python's keyring with SecretStorage as a contender; takes the commands of contender.h.

keyring itself cannot list, so that is a search of SecretStorage.
"""

import sys
import time

import secretstorage
from keyring.backends.SecretService import Keyring

from names import SECRET_LENGTH, account, new_secret, service

keyring = Keyring()


def perform(operation, index):
    if operation in ("read", "again"):
        if len(keyring.get_password(service(index), account(index)) or "") != SECRET_LENGTH:
            raise KeyError(f"item {index} is not there")
    elif operation in ("add", "update"):
        keyring.set_password(service(index), account(index), new_secret())
    elif operation == "delete":
        keyring.delete_password(service(index), account(index))
    elif operation == "list":
        bus = secretstorage.dbus_init()
        items = secretstorage.search_items(bus, {"service": service(index)})
        if sum("username" in item.get_attributes() for item in items) < 100:
            raise KeyError("fewer than 100 items were listed")
        bus.close()
    else:
        raise ValueError(f"there is no operation '{operation}'")


def run(operation, first, size, seconds):
    start, count = time.perf_counter_ns(), 0
    while time.perf_counter_ns() < start + seconds * 1e9:
        perform(operation, (first + count * 7919) % size)
        count += 1
    return f"{time.perf_counter_ns() - start} {count}"


def answer(words):
    if words[0] == "run":
        return run(words[1], int(words[2]), int(words[3]), float(words[4]))
    start = time.perf_counter_ns()
    perform(words[0], int(words[1]))
    return str(time.perf_counter_ns() - start)


def main():
    if len(sys.argv) > 1:
        perform("read", int(sys.argv[1]))
        return
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            print("ok", answer(line.split()), flush=True)
        except Exception as error:  # whatever a peer raises is the answer
            print("error", type(error).__name__, str(error).replace("\n", " "), flush=True)


main()
