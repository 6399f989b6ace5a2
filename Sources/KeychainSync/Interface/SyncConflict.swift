// SPDX-License-Identifier: Apache-2.0
// Items with several values, and the choice of one.

public import Foundation
public import KeychainEngine
import KeychainSyncCore

/// An item that machines have changed without having seen each other's change.
///
/// ```swift
/// for conflict in try await sync.conflicts() {
///     let hidden = conflict.versions.filter { !$0.isShown }
///     if let version = hidden.first(where: { $0.machine == "laptop" }) { try await conflict.keep(version) }
/// }
/// ```
///
/// It has one or more values besides the one that programs read. Any later change of the item ends the conflict; ``keep(_:)`` is such a
/// change.
public struct SyncConflict: Sendable {
    /// One value of the item. The value itself is read by ``value()``.
    public struct Version: Sendable, Identifiable {
        /// Eight hexadecimal digits, as `keychainctl sync conflicts` shows them.
        public let id: String
        /// The name of the machine that wrote it.
        public let machine: String
        /// When it was written, by the clock of that machine.
        public let written: Date
        /// Whether programs read this value.
        public let isShown: Bool
        let member: RingMember

        /// Reads the value.
        ///
        /// - Returns: The bytes; `nil` if the item has no value, which is different from an empty one.
        /// - Throws: `itemNotFound` if the item has changed since, and this value is not kept; `locked` if its key is missing here;
        ///   `newerFormat` if this version cannot read it; the vault's errors.
        public func value() async throws(KeychainError) -> Data? { try await member.item(ofVersion: id).value }
    }

    /// The class of the item; `nil`, as the names below, if this version cannot read the shown value.
    public let itemClass: ItemClass?
    /// The service of a generic password.
    public let service: String?
    /// The server of an internet password.
    public let server: String?
    public let account: String?
    public let accessGroup: String?
    /// At least two; the shown one is the first.
    public let versions: [Version]
    private let member: RingMember

    init(_ versions: [ItemVersion], _ member: RingMember) {
        let item = versions.first?.item
        func text(_ attribute: Attribute) -> String? {
            if case .string(let text) = item?.attributes[attribute] { text } else { nil }
        }
        itemClass = item?.itemClass
        (service, server, account, accessGroup) = (
            text(.service), text(.server), text(.account), text(.accessGroup)
        )
        self.versions = versions.map { version in
            Version(
                id: version.id, machine: version.machine, written: Date(milliseconds: version.time),
                isShown: version.state == .shown, member: member)
        }
        self.member = member
    }

    /// Makes a value the only one: on this machine at once, on the others with the next exchange. The others are kept for 30 days
    /// (`keychainctl sync history`).
    ///
    /// - Parameter version: One of ``versions``, the shown one included.
    /// - Throws: `itemNotFound` if it is of another item, or the item has changed since and this value is not kept; `duplicateItem` if an
    ///   item that is not shared has its place; `locked` if its key is missing here; `newerFormat` if this version cannot read it; the
    ///   vault's errors. Then nothing has changed.
    public func keep(_ version: Version) async throws(KeychainError) {
        guard versions.contains(where: { $0.id == version.id }) else {
            throw KeychainError(
                .itemNotFound, "The value '\(version.id)' is none of this item. Give one of its versions.")
        }
        try await member.restore(version.id)
    }
}

extension KeychainSync {
    /// The items that machines have changed without having seen each other's change, without their values.
    ///
    /// - Throws: `unavailable` if the vault is in no ring; `locked`; the vault's errors.
    public func conflicts() async throws(KeychainError) -> [SyncConflict] {
        var conflicts: [[ItemVersion]] = []
        for version in try await member.versions(includingKept: false) {
            // The shown one of each item comes first.
            if version.state == .shown || conflicts.isEmpty {
                conflicts.append([version])
            } else {
                conflicts[conflicts.count - 1].append(version)
            }
        }
        return conflicts.map { SyncConflict($0, member) }
    }
}
