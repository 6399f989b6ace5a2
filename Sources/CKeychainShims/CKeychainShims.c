// SPDX-License-Identifier: Apache-2.0
// The user's kernel keyring, secret memory and process attributes.

#define _GNU_SOURCE
#include <string.h>
#include "CKeychainShims.h"

#include <errno.h>

#ifdef __linux__

#include <fcntl.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Newer than some libc headers; the number is the same on every architecture.
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

static const char *const key_type = "user";

static long result_or_error(long result) { return result < 0 ? -errno : result; }

long keychain_key_add(const char *description, const void *payload, size_t length) {
    return result_or_error(syscall(SYS_add_key, key_type, description, payload, length, KEY_SPEC_USER_KEYRING));
}

long keychain_key_update(int32_t serial, const void *payload, size_t length) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_UPDATE, serial, payload, length));
}

long keychain_key_link_user_keyring(void) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_PROCESS_KEYRING));
}

long keychain_key_search(const char *description) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, key_type, description, 0));
}

long keychain_key_read(int32_t serial, void *buffer, size_t length) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_READ, serial, buffer, length));
}

// Made to look up a keyring, it looks up any key, and checks its state and that it may be searched for: of all calls
// this one does least besides.
long keychain_key_probe(int32_t serial) {
    long result = result_or_error(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, serial, 0));
    return result < 0 ? result : 0;
}

long keychain_key_set_timeout(int32_t serial, uint32_t seconds) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, serial, seconds));
}

long keychain_key_invalidate(int32_t serial) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_INVALIDATE, serial));
}

long keychain_key_unlink(int32_t serial) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_UNLINK, serial, KEY_SPEC_USER_KEYRING));
}

int keychain_key_is_gone(long result) {
    return result == -ENOKEY || result == -EKEYEXPIRED || result == -EKEYREVOKED;
}

long keychain_secret_memory(void) { return result_or_error(syscall(SYS_memfd_secret, O_CLOEXEC)); }

long keychain_forbid_dumping(void) { return result_or_error(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)); }

#else

long keychain_key_add(const char *description, const void *payload, size_t length) {
    (void)description, (void)payload, (void)length;
    return -ENOSYS;
}

long keychain_key_update(int32_t serial, const void *payload, size_t length) {
    (void)serial, (void)payload, (void)length;
    return -ENOSYS;
}

long keychain_key_link_user_keyring(void) { return -ENOSYS; }

long keychain_key_search(const char *description) {
    (void)description;
    return -ENOSYS;
}

long keychain_key_read(int32_t serial, void *buffer, size_t length) {
    (void)serial, (void)buffer, (void)length;
    return -ENOSYS;
}

long keychain_key_probe(int32_t serial) {
    (void)serial;
    return -ENOSYS;
}

long keychain_key_set_timeout(int32_t serial, uint32_t seconds) {
    (void)serial, (void)seconds;
    return -ENOSYS;
}

long keychain_key_invalidate(int32_t serial) {
    (void)serial;
    return -ENOSYS;
}

long keychain_key_unlink(int32_t serial) {
    (void)serial;
    return -ENOSYS;
}

int keychain_key_is_gone(long result) {
    (void)result;
    return 0;
}

long keychain_secret_memory(void) { return -ENOSYS; }

long keychain_forbid_dumping(void) { return -ENOSYS; }

#endif

// One frame without gaps: in Swift, frames of calls would alternate with what is overwritten.
__attribute__((noinline)) void keychain_scrub_stack(size_t length) {
    void *frame = __builtin_alloca(length);
    memset(frame, 0, length);
    __asm__ volatile("" : : "r"(frame) : "memory");
}
