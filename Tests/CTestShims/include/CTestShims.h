// SPDX-License-Identifier: Apache-2.0
// What tests need from the system and Swift does not offer.

#ifndef CTEST_SHIMS_H
#define CTEST_SHIMS_H

#include <stddef.h>
#include <sys/types.h>

/// fork(): 0 in the child.
pid_t test_fork(void);

/// Gives the process its own session keyring, from which the user's keyring cannot be reached, as for services. -1 if
/// there is none.
long test_join_new_session_keyring(void);

/// Takes a key out of the user's keyring, as `keyctl unlink` does.
long test_unlink_from_user_keyring(int serial);

/// Ends a key as `keyctl revoke` does. The caller must possess the key.
long test_revoke_key(int serial);

/// The most bytes that a core dump of this process may have; -1 if it cannot be told.
long long test_core_dump_limit(void);

/// 1 if the process may leave core dumps and be read by others of the user; -1 where there is no such question.
int test_is_dumpable(void);

/// Has the kernel refuse this process memfd_secret from now on; -1 if it does not take the order.
int test_refuse_secret_memory(void);

/// Has the kernel kill this process when it sets the timeout of a key; -1 if it does not take the order.
int test_kill_at_key_timeout(void);

/// Overwrites what earlier calls left in 64 KiB of the stack below the caller.
void test_overwrite_stack(void);

/// Copies the vector registers, as they are left by what was called before, into `bytes` of 2 KiB, and returns how many
/// bytes they have.
size_t test_vector_registers(unsigned char *bytes);

/// Counts the places of each of `count` windows of `width` bytes, at least eight, in one pass, and returns how many places
/// there are. No window may begin with two zero bytes.
size_t test_find_windows(const unsigned char *bytes, size_t length, const unsigned char *windows, size_t count,
                         size_t width, unsigned int *hits);

#endif
