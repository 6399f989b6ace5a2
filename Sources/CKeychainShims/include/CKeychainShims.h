// SPDX-License-Identifier: Apache-2.0
// Kernel calls that Swift cannot make itself, since syscall() and prctl() take variable arguments.
//
// Each returns the kernel's result, or the negated errno. On other systems than Linux, each returns -ENOSYS.

#ifndef CKEYCHAIN_SHIMS_H
#define CKEYCHAIN_SHIMS_H

#include <spawn.h>
#include <stddef.h>
#include <stdint.h>

#include "WALHeader.h"
#include "LoginSessions.h"
#include "TerminalGuard.h"

/// Adds a key of the type "user" to the keyring of the calling thread, where no other process finds it. Returns its serial
/// number.
long keychain_key_add(const char *description, const void *payload, size_t length);

/// Links a key into the user's keyring, in place of the one with this description.
long keychain_key_share(int32_t serial);

/// Unlinks a key from the keyring of the calling thread.
long keychain_key_drop(int32_t serial);

/// Gives a key a new payload, and removes its timeout.
long keychain_key_update(int32_t serial, const void *payload, size_t length);

/// Links the user's keyring into the process keyring of the calling thread, which then possesses its keys.
long keychain_key_link_user_keyring(void);

/// The serial number of the key of the type "user" with that description in the user's keyring.
long keychain_key_search(const char *description);

/// The size of the payload; the payload itself is copied if it fits.
long keychain_key_read(int32_t serial, void *buffer, size_t length);

/// 0 if the key is alive and the caller possesses it. Changes nothing.
long keychain_key_probe(int32_t serial);

/// Sets the time after which the key expires; 0 seconds means never.
long keychain_key_set_timeout(int32_t serial, uint32_t seconds);

/// Invalidates a key for all processes at once; the kernel removes it from all keyrings soon after.
long keychain_key_invalidate(int32_t serial);

/// Unlinks the key with this key's description from the user's keyring.
long keychain_key_unlink(int32_t serial);

/// Writes the type, owner, permissions and description of a key, separated by `;`, with a NUL. Returns the number of bytes.
long keychain_key_describe(int32_t serial, void *buffer, size_t length);

/// Whether a result means that a key does not exist any more: not found, expired or revoked.
int keychain_key_is_gone(long result);

/// Makes a pipe whose ends are closed when a program is executed. This is atomic only if the system supports it.
/// Returns -1 and sets errno.
int keychain_pipe(int ends[2]);

/// Accepts a connection whose descriptor is closed when a program is executed. This is atomic only if the system supports
/// it. Returns -1 and sets errno.
int keychain_accept(int listener);

/// Closes all descriptors from `first` on in a program that is started. Returns an errno; ENOSYS if the C library
/// cannot.
int keychain_spawn_close_others(posix_spawn_file_actions_t *actions, int first);

/// Renames a file atomically, unless the new name exists. Returns an errno: EEXIST if it exists; EINVAL, ENOSYS or
/// ENOTSUP if the file system or the system does not support this.
int keychain_give_unused_name(const char *path, const char *name);

/// Runs `body(argument)` on a new detached thread. Returns an errno; `body` does not run then.
int keychain_thread_start(void *(*body)(void *), void *argument);

/// Blocks all signals on this thread. A program that it forks and executes gets them.
void keychain_block_signals(void);

/// A descriptor for memory that is not in the kernel's own mappings; closed when a program is executed.
long keychain_secret_memory(void);

/// The number of forks between the first program of this process and this process. Makes no system call.
uint32_t keychain_fork_count(void);

/// The number of children that this process has forked, counted before each fork. Makes no system call.
uint32_t keychain_child_count(void);

/// Whether the process was started with rights that its caller does not have: setuid, setgid, file capabilities
/// (AT_SECURE).
int keychain_is_privileged(void);

/// The variables of the environment as "NAME=value", terminated by NULL. They come from the caller, whatever the rights
/// of the process.
char **keychain_environment(void);

/// Disables core dumps, and reading and debugging by other processes of the same user.
long keychain_forbid_dumping(void);

/// Zeroes the vector registers that a function may change, on x86-64 and aarch64. Calls nothing.
void keychain_scrub_registers(void);

/// Overwrites this many bytes of the calling thread's stack below the caller.
void keychain_scrub_stack(size_t length);

/// Allocates blocks of one size, at most 16, overwrites them, and frees them again.
void keychain_scrub_freed_blocks(size_t size, size_t count);

#endif
