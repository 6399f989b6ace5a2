// SPDX-License-Identifier: Apache-2.0
// Giving a terminal back its settings when a signal ends the process.

#ifndef KEYCHAIN_TERMINAL_GUARD_H
#define KEYCHAIN_TERMINAL_GUARD_H

/// From now on, if a signal ends the process, or `exit` does, the terminal gets these settings first, and what was typed is thrown
/// away. Only signals that would end the process are caught: what the program ignores or handles itself is left alone, and so are
/// SIGINT, SIGQUIT, SIGTERM and SIGHUP, which a question handles otherwise. Nothing can be done about SIGKILL.
///
/// For one terminal at a time. The settings are a `struct termios`, whose header would become part of this module. The descriptor has to stay open.
void keychain_terminal_guard(int descriptor, const void *settings);

/// Ends that. A signal that the program has meanwhile found a handler for keeps it.
void keychain_terminal_unguard(void);

#endif
