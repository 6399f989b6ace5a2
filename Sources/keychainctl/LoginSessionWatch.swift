// SPDX-License-Identifier: Apache-2.0
// What systemd-logind says about the user's sessions.

import CKeychainShims
import Foundation
import KeychainKit

/// A connection to the system bus. Anybody on the bus may pretend to be logind; all they can get is a locked vault.
final class LoginSessionWatch {
    enum Event {
        case locked, goingToSleep, awake
    }

    private let watch: OpaquePointer

    /// - Throws: `unavailable` without libsystemd, a system bus, or the right to use it.
    init() throws(KeychainError) {
        var opened: OpaquePointer?
        let result = keychain_session_watch_open(&opened)
        guard result >= 0, let opened else { throw Self.failure(result) }
        watch = opened
    }

    deinit { keychain_session_watch_close(watch) }

    /// Waits for the next event.
    ///
    /// - Throws: `unavailable` if the bus has gone.
    func next() throws(KeychainError) -> Event {
        let result = keychain_session_watch_next(watch)
        switch result {
        case Int(KEYCHAIN_SESSION_LOCKED): return .locked
        case Int(KEYCHAIN_SYSTEM_GOING_TO_SLEEP): return .goingToSleep
        case Int(KEYCHAIN_SYSTEM_AWAKE): return .awake
        default:
            let text = String(cString: strerror(Int32(-result)))
            throw KeychainError(
                .unavailable, "The system bus has gone (\(text)), so nothing is noticed. Start this again.")
        }
    }

    /// Lets the system wait for ``allowSleep()`` before it sleeps, for some seconds at most.
    ///
    /// - Returns: Whether logind agreed.
    func delaySleep() -> Bool { keychain_session_watch_delay_sleep(watch) >= 0 }

    func allowSleep() { keychain_session_watch_allow_sleep(watch) }

    private static func failure(_ result: Int) -> KeychainError {
        guard result != -Int(ENOSYS) else {
            return KeychainError(
                .unavailable, "libsystemd is not installed, which talks to logind. Install it (Debian: libsystemd0).")
        }
        let text = String(cString: strerror(Int32(-result)))
        return KeychainError(
            .unavailable, "The system bus cannot be reached (\(text)). Is there a D-Bus and systemd-logind here?")
    }
}
