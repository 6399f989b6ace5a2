// SPDX-License-Identifier: Apache-2.0
// Values without secrets that an app and its widget share.

import Foundation
import SecretMemory
import Synchronization

/// Values in the defaults of the app group, for the app and its widget.
///
/// ```swift
/// let last = AppGroupManager.shared.getString(forKey: LGTVControlManager.Constants.lastStatusKey)
/// ```
///
/// Each change is written before the call returns, and each read sees what other programs have written. On Linux the
/// defaults are a file below `$XDG_CONFIG_HOME`, or `~/.config`, named after the group. A program that has more rights
/// than its caller (setuid, setgid, file capabilities) has no defaults, because the environment names the folder.
///
/// Does not protect the values: the file is plain text. Secrets belong in the keychain.
public final class AppGroupManager: Sendable {
    public static let shared = AppGroupManager(appGroupID: "group.com.DaraConsultingInc.LGTVRemoteWidget")

    /// The app group of the entitlements file whose defaults are used.
    public let appGroupID: String

    /// One call at a time: a concurrent read would not see what another call is still writing.
    private let turn = Mutex(())

    init(appGroupID: String) { self.appGroupID = appGroupID }

    /// Stores a value as JSON; `nil` removes it.
    ///
    /// - Returns: Whether the value was written: `false` if it cannot be encoded, or if the defaults cannot be written.
    @discardableResult
    public func set<T: Codable>(_ value: T?, forKey key: String) -> Bool {
        guard let value else { return change { $0.removeObject(forKey: key) } }
        do {
            let bytes = try JSON.encode(value, forKeychain: false)
            return change { $0.set(bytes, forKey: key) }
        } catch {
            return false
        }
    }

    /// Reads a value; `nil` if there is no value of this type.
    public func get<T: Codable>(_ type: T.Type, forKey key: String) -> T? {
        guard let bytes = read({ $0.data(forKey: key) }) else { return nil }
        do { return try JSON.decode(type, from: bytes, forKeychain: false) } catch { return nil }
    }

    /// Stores a string; `nil` removes it.
    ///
    /// - Returns: Whether the string was written.
    @discardableResult
    public func setString(_ value: String?, forKey key: String) -> Bool {
        change { if let value { $0.set(value, forKey: key) } else { $0.removeObject(forKey: key) } }
    }

    /// Reads a string; `nil` if there is none.
    public func getString(forKey key: String) -> String? { read { $0.string(forKey: key) } }

    // Apple platforms do not need `synchronize()`. On Linux, without it, a program that never returns to its run loop
    // writes nothing, and a program that has read the defaults once never sees later changes by others.

    /// The environment names the folder of the defaults, and is ignored in a program that has more rights than its
    /// caller.
    private func defaults() -> UserDefaults? {
        ProcessEnvironment.isPrivileged ? nil : UserDefaults(suiteName: appGroupID)
    }

    private func change(_ body: (UserDefaults) -> Void) -> Bool {
        turn.withLock { _ in
            guard let defaults = defaults() else { return false }
            body(defaults)
            return defaults.synchronize()
        }
    }

    private func read<Value: Sendable>(_ body: (UserDefaults) -> Value?) -> Value? {
        turn.withLock { _ in
            guard let defaults = defaults() else { return nil }
            defaults.synchronize()
            return body(defaults)
        }
    }
}
