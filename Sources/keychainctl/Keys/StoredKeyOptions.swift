// SPDX-License-Identifier: Apache-2.0
// The options that name a stored private key, also one without a tag.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKeyStore
import KeychainKeys
import KeychainKit

struct StoredKeyOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The tag of the key.", valueName: "name"),
        completion: .custom { words, _, _ in ItemCompletion.tags(words) })
    var tag: String?

    @Option(
        help: ArgumentHelp(
            "For a key without a tag: its applicationLabel, as `key list --json` shows it.", valueName: "hex"),
        transform: Self.label)
    var applicationLabel: Data?

    @OptionGroup var place: KeyPlaceOptions

    func validate() throws {
        guard (tag == nil) != (applicationLabel == nil) else {
            throw ValidationError("Give --tag, or --application-label for a key without a tag.")
        }
        guard tag?.isEmpty != true else { throw ValidationError("--tag takes a name, not an empty text.") }
    }

    private static func label(_ text: String) throws -> Data {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, !digits.isEmpty, digits.count.isMultiple(of: 2) else {
            throw ValidationError("--application-label takes hexadecimal digits, as `key list --json` shows them.")
        }
        return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    /// Without --synchronizable, keys of both kinds go, as lists show both.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `duplicateItem` if several access groups have one, since a key is gone for good.
    func remove(in keychain: UserKeychain) throws(KeychainError) -> Bool {
        let store = place.removingStore(in: keychain)
        if let applicationLabel { return try store.remove(untagged: applicationLabel, if: Self.checkInOneGroup) }
        return try store.remove(tag: tag ?? "", if: Self.checkInOneGroup)
    }

    @Sendable private static func checkInOneGroup(_ keys: [KeychainKeyStore.StoredKey]) throws(KeychainError) {
        // As bytes: two forms of "é" name two groups.
        let named = keys.map { (Array($0.accessGroup.utf8), $0.accessGroup) }
        let groups = Dictionary(named) { first, _ in first }.values
        guard groups.count < 2 else {
            throw KeychainError(
                .duplicateItem,
                "Keys of this name are in \(groups.count) access groups, and none was removed. Name one with --access-group: "
                    + groups.sorted().map { "'\($0.escapingControls())'" }.joined(separator: ", "))
        }
    }

    /// - Throws: `itemNotFound`.
    func key(in keychain: UserKeychain) throws(KeychainError) -> UntypedKey {
        let store = place.store(in: keychain)
        let found =
            if let applicationLabel {
                try store.privateKey(untagged: applicationLabel)
            } else {
                try store.privateKey(tag: tag ?? "")
            }
        guard let found else { throw .noKey }
        return found
    }
}
