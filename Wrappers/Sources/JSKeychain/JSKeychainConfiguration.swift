// SPDX-License-Identifier: Apache-2.0
// The settings of a keychain.

public import Foundation

/// The settings of a ``JSKeychain``.
///
/// ```swift
/// let configuration = JSKeychainConfiguration(accessGroup: "group.com.example.apps", syncToICloud: true)
/// ```
public struct JSKeychainConfiguration: Sendable {
    /// The access group of the items; `nil`: new ones go to the program's default group, and all groups that it may use are
    /// searched.
    public let accessGroup: String?
    /// Whether new items take part in synchronization, if their accessibility allows it and they ask for nobody. On Linux
    /// the items reach the other machines of a ring, if the vault is in one; they are other items than those that are not marked.
    public let syncToICloud: Bool
    /// Turns values into JSON. It is used as it is, from any thread; do not change it afterwards.
    public let encoder: JSONEncoder
    /// Turns JSON into values. It is used as it is, from any thread; do not change it afterwards.
    public let decoder: JSONDecoder

    public init(
        accessGroup: String? = nil, syncToICloud: Bool = false, encoder: JSONEncoder = JSONEncoder(),
        decoder: JSONDecoder = JSONDecoder()
    ) {
        (self.accessGroup, self.syncToICloud) = (accessGroup, syncToICloud)
        (self.encoder, self.decoder) = (encoder, decoder)
    }
}
