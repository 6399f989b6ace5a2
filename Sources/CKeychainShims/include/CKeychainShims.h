// SPDX-License-Identifier: Apache-2.0
// Kernel calls that Swift cannot make itself, since syscall() and prctl() take variable arguments.
//
// Each returns what the kernel returns, or the negated errno. Where there is no Linux below, each returns -ENOSYS.

#ifndef CKEYCHAIN_SHIMS_H
#define CKEYCHAIN_SHIMS_H

#include <spawn.h>
#include <stddef.h>
#include <stdint.h>

#include "WALHeader.h"
#include "LoginSessions.h"
#include "TerminalGuard.h"

/// Adds a key of the type "user" to the user's keyring, or gives the one of that description a new payload and no
/// time limit. Returns its serial number.
long keychain_key_add(const char *description, const void *payload, size_t length);

/// Gives a key another payload, and lifts the time after which it expires.
long keychain_key_update(int32_t serial, const void *payload, size_t length);

/// Links the user's keyring into the process keyring of the calling thread, which then possesses what is in it.
long keychain_key_link_user_keyring(void);

/// The serial number of the key of the type "user" with that description in the user's keyring.
long keychain_key_search(const char *description);

/// The size of the payload; the payload itself is copied if it fits.
long keychain_key_read(int32_t serial, void *buffer, size_t length);

/// 0 if the key is alive and the caller possesses it. Changes nothing.
long keychain_key_probe(int32_t serial);

/// Sets the time after which the key expires; 0 seconds means never.
long keychain_key_set_timeout(int32_t serial, uint32_t seconds);

/// Ends the key for everyone at once; the kernel takes it out of all keyrings soon after.
long keychain_key_invalidate(int32_t serial);

/// Takes a key of this key's description out of the user's keyring.
long keychain_key_unlink(int32_t serial);

/// Whether a result says that a key is not there any more: not found, expired or revoked.
int keychain_key_is_gone(long result);

/// Makes a pipe whose ends are closed when a program is executed: in one step where the system can do that, else only
/// once the caller sees to it. Returns -1 and sets errno.
int keychain_pipe(int ends[2]);

/// Has a program that is started get no descriptor from `first` on. Returns an errno; ENOSYS if the C library cannot.
int keychain_spawn_close_others(posix_spawn_file_actions_t *actions, int first);

/// Renames a file in one step, unless something has the name already. Returns an errno: EEXIST if something has it;
/// EINVAL, ENOSYS or ENOTSUP if the file system or the system cannot.
int keychain_give_unused_name(const char *path, const char *name);

/// Runs `body(argument)` on a thread of its own, which nobody has to join. Returns an errno; `body` is not run then.
int keychain_thread_start(void *(*body)(void *), void *argument);

/// A descriptor for memory that the kernel itself cannot reach by its own mappings; closed when a program is executed.
long keychain_secret_memory(void);

/// How many forks lie between the first program of this process and this process. Costs no call of the kernel.
uint32_t keychain_fork_count(void);

/// How many children this process has forked, counted before each fork. Costs no call of the kernel.
uint32_t keychain_child_count(void);

/// Whether the process was started with rights that its caller has not: setuid, setgid, file capabilities (AT_SECURE).
int keychain_is_privileged(void);

/// The variables of the environment as "NAME=value", ended by NULL. The caller's, whatever the process may do.
char **keychain_environment(void);

/// Forbids core dumps, and reading and debugging by other processes of the same user.
long keychain_forbid_dumping(void);

/// Sets the vector registers to zero that a function may change, on x86-64 and aarch64. Calls nothing.
void keychain_scrub_registers(void);

/// Overwrites so many bytes of the calling thread's stack below the caller.
void keychain_scrub_stack(size_t length);

#endif
