// SPDX-License-Identifier: Apache-2.0
// The kernel keyring: a key of the type `user` for each item, in a keyring for each service, in the session keyring that the
// comparison has for itself. Nothing is on a disk.

#include "contender.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long keyctl(int command, long second, long third, long fourth, long fifth) {
    return syscall(SYS_keyctl, command, second, third, fourth, fifth);
}

static long add_key(const char *type, const char *name, const char *value, size_t length, long keyring) {
    long key = syscall(SYS_add_key, type, name, value, length, keyring);
    // EDQUOT: /proc/sys/kernel/keys has the number of keys and bytes that a user may have.
    if (key < 0) fail("add_key: %s", errno == EDQUOT ? "the user's quota of keys is used up" : strerror(errno));
    return key;
}

// The keyring of a service, and its number in this process, so that it is searched once.
static long keyring_of(int index, bool creates) {
    static long known[1024];
    static int named[1024];
    int group = index / ITEMS_PER_SERVICE, place = group % 1024;
    if (known[place] > 0 && named[place] == group + 1) return known[place];
    char service[NAME_LENGTH];
    name_service(index, service);
    long keyring = keyctl(KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, (long)"keyring", (long)service, 0);
    if (keyring < 0 && creates) keyring = add_key("keyring", service, NULL, 0, KEY_SPEC_SESSION_KEYRING);
    if (keyring < 0) fail("keyring %s: %s", service, strerror(errno));
    known[place] = keyring;
    named[place] = group + 1;
    return keyring;
}

static long find(int index) {
    char account[NAME_LENGTH];
    name_account(index, account);
    long key = keyctl(KEYCTL_SEARCH, keyring_of(index, false), (long)"user", (long)account, 0);
    if (key < 0) fail("item %d: %s", index, strerror(errno));
    return key;
}

void peer_open(const char *store) { (void)store; }

void peer_read(int index) {
    char value[SECRET_LENGTH];
    if (keyctl(KEYCTL_READ, find(index), (long)value, sizeof value, 0) != SECRET_LENGTH) fail("item %d cannot be read", index);
}

void peer_add(int index) { peer_update(index); }

// A key of the same name is changed in place.
void peer_update(int index) {
    char account[NAME_LENGTH], value[SECRET_LENGTH + 1];
    new_secret(value);
    name_account(index, account);
    add_key("user", account, value, SECRET_LENGTH, keyring_of(index, true));
}

void peer_delete(int index) {
    if (keyctl(KEYCTL_UNLINK, find(index), keyring_of(index, false), 0, 0) < 0) fail("unlink: %s", strerror(errno));
}

int peer_list(int index) {
    static int32_t keys[4 * ITEMS_PER_SERVICE];
    char description[256];
    long size = keyctl(KEYCTL_READ, keyring_of(index, false), (long)keys, sizeof keys, 0);
    int count = 0;
    for (; count < size / (long)sizeof keys[0]; count++)
        if (keyctl(KEYCTL_DESCRIBE, keys[count], (long)description, sizeof description, 0) < 0) fail("describe: %s", strerror(errno));
    return count;
}

void peer_begin(void) {}
void peer_commit(void) {}
