// SPDX-License-Identifier: Apache-2.0
// The settings of a keychain.

public import Foundation

/// The settings of a ``JSKeychain``.
///
/// ```swift
/// let configuration = JSKeychainConfiguration(accessGroup: "group.com.example.apps", syncToICloud: true)
/// ```
public struct JSKeychainConfiguration: Sendable {
    /// The access group of the items. `nil`: new items go to the program's default group, and searches cover all groups
    /// that it may use.
    public let accessGroup: String?
    /// Whether new items take part in synchronization, if their accessibility allows it and they do not require the
    /// user. On Linux the items reach the other machines of a ring, if the vault is in one. They are distinct from
    /// items without the mark.
    public let syncToICloud: Bool
    /// Encodes values as JSON. It is used from any thread; do not change it afterwards.
    public let encoder: JSONEncoder
    /// Decodes values from JSON. It is used from any thread; do not change it afterwards.
    public let decoder: JSONDecoder

    public init(
        accessGroup: String? = nil, syncToICloud: Bool = false, encoder: JSONEncoder = JSONEncoder(),
        decoder: JSONDecoder = JSONDecoder()
    ) {
        (self.accessGroup, self.syncToICloud) = (accessGroup, syncToICloud)
        (self.encoder, self.decoder) = (encoder, decoder)
    }
}
