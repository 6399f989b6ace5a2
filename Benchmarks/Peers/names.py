# SPDX-License-Identifier: Apache-2.0
"""The items: the same names and secrets for all contenders."""

import time

SECRET_LENGTH = 39
# An item's service has the number of its thousand, so that 1,000 items can be listed in a store of any size.
ITEMS_PER_SERVICE = 1000


def service(index):
    return f"com.example.service-{index // ITEMS_PER_SERVICE}"


def account(index):
    return f"account-{index}"


def new_secret():
    """A secret that no item has yet."""
    return f"a token of about forty bytes: {time.time_ns() % 1_000_000_000:09}"
