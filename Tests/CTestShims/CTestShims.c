// SPDX-License-Identifier: Apache-2.0
// fork, and parts of keyctl that only tests need.

#define _GNU_SOURCE
#include "CTestShims.h"

#include <sys/resource.h>
#include <unistd.h>

pid_t test_fork(void) { return fork(); }

long long test_core_dump_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) == 0 ? (long long)limit.rlim_max : -1;
}

#ifdef __linux__

#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

long test_join_new_session_keyring(void) { return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL); }

long test_unlink_from_user_keyring(int serial) {
    return syscall(SYS_keyctl, KEYCTL_UNLINK, serial, KEY_SPEC_USER_KEYRING);
}

int test_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

#else

long test_join_new_session_keyring(void) { return -1; }

long test_unlink_from_user_keyring(int serial) {
    (void)serial;
    return -1;
}

int test_is_dumpable(void) { return -1; }

#endif
