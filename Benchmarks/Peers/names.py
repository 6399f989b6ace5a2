# SPDX-License-Identifier: Apache-2.0
"""The items: the same names and secrets for all contenders."""

SECRETS = ("a token of about forty characters, say.", "another of about forty characters, yes.")
# An item's service has the number of its thousand, so that 1,000 items can be listed in a store of any size.
ITEMS_PER_SERVICE = 1000


def service(index):
    return f"com.example.service-{index // ITEMS_PER_SERVICE}"


def account(index):
    return f"account-{index}"
