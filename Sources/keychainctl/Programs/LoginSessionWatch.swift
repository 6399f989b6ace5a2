// SPDX-License-Identifier: Apache-2.0
// Events of the user's sessions from systemd-logind.

import CKeychainShims
import Foundation
import KeychainKit

/// A connection to the system bus. Any program on the bus may impersonate logind, but can only cause the vault to be
/// locked.
final class LoginSessionWatch {
    enum Event {
        case locked, goingToSleep, awake
    }

    private let watch: OpaquePointer

    /// - Throws: `unavailable` without libsystemd, a system bus, or permission to use it.
    init() throws(KeychainError) {
        var opened: OpaquePointer?
        let result = keychain_session_watch_open(&opened)
        guard result >= 0, let opened else { throw Self.failure(result) }
        watch = opened
    }

    deinit { keychain_session_watch_close(watch) }

    /// Waits for the next event.
    ///
    /// - Throws: `unavailable` if the bus is gone.
    func next() throws(KeychainError) -> Event {
        let result = keychain_session_watch_next(watch)
        switch result {
        case Int(KEYCHAIN_SESSION_LOCKED): return .locked
        case Int(KEYCHAIN_SYSTEM_GOING_TO_SLEEP): return .goingToSleep
        case Int(KEYCHAIN_SYSTEM_AWAKE): return .awake
        default:
            let text = String(cString: strerror(Int32(-result)))
            throw KeychainError(
                .unavailable,
                "The connection to the system bus was lost (\(text)), so the vault is no longer locked automatically. "
                    + "Start again: keychainctl watch-session")
        }
    }

    /// Delays the system's sleep until ``allowSleep()``, for a few seconds at most.
    ///
    /// - Returns: Whether logind agreed.
    func delaySleep() -> Bool { keychain_session_watch_delay_sleep(watch) >= 0 }

    func allowSleep() { keychain_session_watch_allow_sleep(watch) }

    private static func failure(_ result: Int) -> KeychainError {
        guard result != -Int(ENOSYS) else {
            return KeychainError(
                .unavailable,
                "watch-session needs libsystemd, which is not installed. On Debian and Ubuntu, install libsystemd0.")
        }
        let text = String(cString: strerror(Int32(-result)))
        return KeychainError(
            .unavailable,
            "Could not connect to the system bus (\(text)). Make sure that D-Bus and systemd-logind are running.")
    }
}
