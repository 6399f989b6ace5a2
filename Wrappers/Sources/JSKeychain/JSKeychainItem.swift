// SPDX-License-Identifier: Apache-2.0
// An item in a listing.

public import Foundation
import KeychainKit

/// An item as ``JSKeychain`` lists it: its name and its dates, never its value.
///
/// ```swift
/// for item in try keychain.listAll() { show(item.service, item.account) }
/// ```
public struct JSKeychainItem: Hashable, Sendable {
    public let service: String
    public let account: String
    /// `nil` for an item that requires the user: the user is not asked, so only the name is known.
    public let createdAt: Date?
    /// As ``createdAt``.
    public let modifiedAt: Date?

    public init(service: String, account: String, createdAt: Date? = nil, modifiedAt: Date? = nil) {
        (self.service, self.account) = (service, account)
        (self.createdAt, self.modifiedAt) = (createdAt, modifiedAt)
    }

    /// - Returns: `nil` for an item whose name is not text.
    init?(_ item: KeychainItem) {
        guard let service = item.service, let account = item.account else { return nil }
        self.init(service: service, account: account, createdAt: item.created, modifiedAt: item.modified)
    }
}
