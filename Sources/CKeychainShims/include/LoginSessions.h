// SPDX-License-Identifier: Apache-2.0
// Events of systemd-logind on the system bus, through libsystemd, which is loaded on demand.

#ifndef KEYCHAIN_LOGIN_SESSIONS_H
#define KEYCHAIN_LOGIN_SESSIONS_H

/// A connection to the system bus that receives locked sessions and sleep. For use by one thread.
struct keychain_session_watch;

/// Events of `keychain_session_watch_next`.
enum {
    KEYCHAIN_SESSION_LOCKED = 1,
    KEYCHAIN_SYSTEM_GOING_TO_SLEEP = 2,
    KEYCHAIN_SYSTEM_AWAKE = 3
};

/// Connects. Returns 0, -ENOSYS without libsystemd, or another negated errno.
long keychain_session_watch_open(struct keychain_session_watch **watch);

/// Waits for the next event. Returns it, or a negated errno if the bus has gone.
long keychain_session_watch_next(struct keychain_session_watch *watch);

/// Delays the system's sleep until the next call of `allow_sleep`. Returns 0 or a negated errno.
long keychain_session_watch_delay_sleep(struct keychain_session_watch *watch);

void keychain_session_watch_allow_sleep(struct keychain_session_watch *watch);

void keychain_session_watch_close(struct keychain_session_watch *watch);

#endif
