// SPDX-License-Identifier: Apache-2.0
// Pipes, connections, descriptors of other programs, threads, and the origin of a process's rights.

#define _GNU_SOURCE
#include "CKeychainShims.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

extern char **environ;

static _Atomic uint32_t fork_count;

static _Atomic uint32_t child_count;

// Whether this thread has blocked all signals, for itself alone.
static _Thread_local int blocks_signals;

// Runs in the child, whose only thread is a copy of the one that forked.
static void begin_child(void) {
    fork_count += 1;
    if (!blocks_signals) return;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

static void count_child(void) { child_count += 1; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(count_child, NULL, begin_child); }

uint32_t keychain_fork_count(void) { return fork_count; }

uint32_t keychain_child_count(void) { return child_count; }

int keychain_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    return pipe(ends);
#endif
}

int keychain_accept(int listener) {
#ifdef __linux__
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
#else
    return accept(listener, NULL, NULL);
#endif
}

int keychain_spawn_close_others(posix_spawn_file_actions_t *actions, int first) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
#else
    (void)actions, (void)first;
    return ENOSYS;
#endif
}

int keychain_thread_start(void *(*body)(void *), void *argument) {
    pthread_t thread;
    int code = pthread_create(&thread, NULL, body, argument);
    if (code == 0) pthread_detach(thread);
    return code;
}

void keychain_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    blocks_signals = 1;
}

int keychain_is_privileged(void) {
#ifdef __linux__
    return getauxval(AT_SECURE) != 0;
#else
    return issetugid() != 0;
#endif
}

char **keychain_environment(void) { return environ; }
