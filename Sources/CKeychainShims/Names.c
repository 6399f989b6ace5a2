// SPDX-License-Identifier: Apache-2.0
// Names of files.

#define _GNU_SOURCE
#include "CKeychainShims.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#if defined(__linux__)

#include <sys/syscall.h>
#include <unistd.h>

// Newer than some libc headers.
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 28)
// Through the C library where it can, so that the tests see the call.
#define HAS_RENAMEAT2 1
#endif
#endif

int keychain_give_unused_name(const char *path, const char *name) {
#ifdef HAS_RENAMEAT2
    long result = renameat2(AT_FDCWD, path, AT_FDCWD, name, RENAME_NOREPLACE);
#else
    long result = syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, name, RENAME_NOREPLACE);
#endif
    return result == 0 ? 0 : errno;
}

#elif defined(__APPLE__)

int keychain_give_unused_name(const char *path, const char *name) {
    return renamex_np(path, name, RENAME_EXCL) == 0 ? 0 : errno;
}

#else

int keychain_give_unused_name(const char *path, const char *name) {
    (void)path, (void)name;
    return ENOSYS;
}

#endif
