// SPDX-License-Identifier: Apache-2.0
// Restores the settings of a terminal when a signal ends the process. The handlers are in C, and only call functions
// that POSIX lists as async-signal-safe.

#define _GNU_SOURCE
#include "TerminalGuard.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const int fatal_signals[] = {
    SIGALRM, SIGPIPE, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM,
    SIGABRT, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP, SIGSYS,
#ifdef __linux__
    SIGIO,   SIGPWR,  SIGSTKFLT,
#endif
};

enum { count_of_named = sizeof fatal_signals / sizeof fatal_signals[0], count_of_signals = 65 };

// The child of a fork has a copy of this state, and must not change the terminal.
static pid_t guarding_process;
static struct termios guarded_settings;
static atomic_int guarded_descriptor = -1;
static unsigned char is_caught[count_of_signals];
static struct sigaction previous_actions[count_of_signals];
static atomic_int is_registered = 0;

// The foreground process has its own settings, so a terminal is left unchanged if this process is in its background.
static void give_back(void) {
    int descriptor = atomic_load(&guarded_descriptor);
    if (descriptor < 0 || getpid() != guarding_process || tcgetpgrp(descriptor) != getpgrp()) return;
    tcsetattr(descriptor, TCSANOW, &guarded_settings);
    tcflush(descriptor, TCIFLUSH);
}

// The signal is blocked until this returns, and then ends the process. A fault would recur by itself; a signal from
// another process would not.
static void end_by_signal(int number, siginfo_t *info, void *context) {
    give_back();
    const struct sigaction *previous = &previous_actions[number];
    // The handler of Swift's runtime, which prints a backtrace and returns.
    if (previous->sa_flags & SA_SIGINFO) previous->sa_sigaction(number, info, context);
    signal(number, SIG_DFL);
    raise(number);
}

static int is_ours(const struct sigaction *action) {
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == end_by_signal;
}

// Swift's runtime prints a backtrace on a terminal, and the process ends anyway. Any other handler of a fault may
// continue after it.
static int ends_process(const struct sigaction *action) {
    if (!(action->sa_flags & SA_SIGINFO)) return action->sa_handler == SIG_DFL;
    Dl_info place;
    return dladdr((void *)action->sa_sigaction, &place) != 0 && place.dli_fname && strstr(place.dli_fname, "libswiftCore");
}

static void catch_if_fatal(int number) {
    struct sigaction ours;
    if (number >= count_of_signals || sigaction(number, NULL, &previous_actions[number]) != 0) return;
    if (!ends_process(&previous_actions[number])) return;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = end_by_signal;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    // Including SIGTTOU, which would stop the process where it changes the terminal.
    sigfillset(&ours.sa_mask);
    is_caught[number] = sigaction(number, &ours, NULL) == 0;
}

static void let_go(int number) {
    struct sigaction current;
    if (number >= count_of_signals || !is_caught[number]) return;
    is_caught[number] = 0;
    if (sigaction(number, NULL, &current) != 0 || !is_ours(&current)) return;
    sigaction(number, &previous_actions[number], NULL);
}

static void for_all(void (*body)(int)) {
    for (int index = 0; index < count_of_named; index++) body(fatal_signals[index]);
#ifdef SIGRTMIN
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) body(number);
#endif
}

void keychain_terminal_guard(int descriptor, const void *settings) {
    guarding_process = getpid();
    guarded_settings = *(const struct termios *)settings;
    atomic_store(&guarded_descriptor, descriptor);
    // The program may end on another thread while the user is asked.
    if (!atomic_exchange(&is_registered, 1)) atexit(give_back);
    for_all(catch_if_fatal);
}

void keychain_terminal_unguard(void) {
    for_all(let_go);
    atomic_store(&guarded_descriptor, -1);
}
