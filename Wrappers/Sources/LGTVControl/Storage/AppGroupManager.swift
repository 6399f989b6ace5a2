// SPDX-License-Identifier: Apache-2.0
// What an app and its widget share that is no secret.

import Foundation
import SecretMemory
import Synchronization

/// Values in the defaults of the app group, for the app and its widget.
///
/// ```swift
/// let last = AppGroupManager.shared.getString(forKey: LGTVControlManager.Constants.lastStatusKey)
/// ```
///
/// Each change is written before the call returns, and each read sees what other programs have written. On Linux the defaults
/// are a file below `$XDG_CONFIG_HOME`, else `~/.config`, that is named after the group; a program with rights that its caller has
/// not (setuid, setgid, file capabilities) has none, since the environment names the folder.
///
/// Does not protect anything: the file is plain text. Secrets belong in the keychain.
public final class AppGroupManager: Sendable {
    public static let shared = AppGroupManager(appGroupID: "group.com.DaraConsultingInc.LGTVRemoteWidget")

    /// The group of the entitlements file that the defaults are shared in.
    public let appGroupID: String

    /// One call at a time: a read in between would not see what the call before it is still writing.
    private let turn = Mutex(())

    init(appGroupID: String) { self.appGroupID = appGroupID }

    /// Stores a value as JSON; `nil` removes it.
    ///
    /// - Returns: Whether it is written: `false` if it cannot be encoded, or the defaults cannot be written.
    @discardableResult
    public func set<T: Codable>(_ value: T?, forKey key: String) -> Bool {
        guard let value else { return change { $0.removeObject(forKey: key) } }
        do {
            let bytes = try JSON.encode(value)
            return change { $0.set(bytes, forKey: key) }
        } catch {
            return false
        }
    }

    /// Reads a value; `nil` if there is none, or none of this type.
    public func get<T: Codable>(_ type: T.Type, forKey key: String) -> T? {
        guard let bytes = read({ $0.data(forKey: key) }) else { return nil }
        do { return try JSON.decode(type, from: bytes) } catch { return nil }
    }

    /// Stores a text; `nil` removes it.
    ///
    /// - Returns: Whether it is written.
    @discardableResult
    public func setString(_ value: String?, forKey key: String) -> Bool {
        change { if let value { $0.set(value, forKey: key) } else { $0.removeObject(forKey: key) } }
    }

    /// Reads a text; `nil` if there is none.
    public func getString(forKey key: String) -> String? { read { $0.string(forKey: key) } }

    // Without `synchronize()`, which Apple's platforms do by themselves, on Linux a program that never returns to its run
    // loop writes nothing, and one that has read the defaults once never sees what others write.

    /// The folder of the defaults is named by the environment, which is not heeded in a program with rights that its caller has not.
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
