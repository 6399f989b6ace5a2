// SPDX-License-Identifier: Apache-2.0
// Restores the settings of a terminal when a signal ends the process.

#ifndef KEYCHAIN_TERMINAL_GUARD_H
#define KEYCHAIN_TERMINAL_GUARD_H

/// From now on, if a signal or `exit` ends the process, the terminal first gets these settings, and pending input is
/// discarded. Only signals that would end the process are caught. Signals that the program ignores or handles itself
/// are left alone, and so are SIGINT, SIGQUIT, SIGTERM and SIGHUP, which a question handles otherwise. SIGKILL cannot
/// be handled.
///
/// Supports one terminal at a time. The settings are a `struct termios`, whose header would otherwise become part of
/// this module. The descriptor must stay open.
void keychain_terminal_guard(int descriptor, const void *settings);

/// Ends the guard. A signal for which the program has meanwhile set a handler keeps that handler.
void keychain_terminal_unguard(void);

#endif
