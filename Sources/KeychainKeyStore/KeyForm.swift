// SPDX-License-Identifier: Apache-2.0
// A private key as an item has it: the bytes, and the attributes that follow from them.

import Crypto
import Foundation
package import KeychainEngine
package import KeychainKeys
import KeychainKit
import SecretMemory

package struct KeyForm: Sendable {
    package let attributes: Attributes
    let bytes: SecretBytes

    var applicationLabel: Data {
        if case .data(let label) = attributes[.applicationLabel] { label } else { Data() }
    }

    /// A key of a type that the C API knows too: it finds the same attributes as those it stores itself.
    package init(_ key: PrivateKey) {
        (attributes, bytes) = (Self.attributes(KeyColumns(key)), key.externalRepresentation)
    }

    /// What an item has because of its key.
    static func attributes(_ columns: KeyColumns) -> Attributes {
        let own = columns.attributes(Attribute.init(_:), AttributeValue.number, AttributeValue.data)
        var attributes = Attributes()
        for (attribute, value) in own { attributes[attribute] = value }
        return attributes
    }

    /// - Throws: `invalidParameter` if the bytes are no key of the type.
    init(_ type: KeyType, _ bytes: SecretBytes) throws(KeychainError) {
        defer { scrubResidue() }
        do {
            if let kind = type.kind {
                self.init(try PrivateKey(kind, externalRepresentation: bytes))
            } else {
                try self.init(seed: bytes, type)
            }
        } catch {
            throw KeychainError(
                .invalidParameter, "The key is not a valid key of type \(type), or of a size that is not supported.")
        }
    }

    private init(seed: SecretBytes, _ type: KeyType) throws {
        let publicKey = try type.publicKey(ofSeed: seed)
        guard let (number, size) = type.numbersOfSeed else { throw KeyFailure.algorithmNotSupported }
        let signs = type == .mlDSA65 || type == .mlDSA87
        var attributes: Attributes = [
            .keyClass: .number(1), .type: .number(Int64(number)), .keySizeInBits: .number(Int64(size)),
            .effectiveKeySize: .number(Int64(size)), .alias: .string("\(type) seed"),
            .applicationLabel: .data(Data(Insecure.SHA1.hash(data: publicKey))),
        ]
        let flags: [(Attribute, Bool)] = [
            (.isPermanent, true), (.isPrivate, true), (.isModifiable, true), (.isExtractable, true),
            (.isSensitive, false), (.wasAlwaysSensitive, false), (.wasNeverExtractable, false), (.canSign, signs),
            (.canUnwrap, !signs),
        ]
        for (name, isSet) in flags { attributes[name] = .number(isSet ? 1 : 0) }
        (self.attributes, bytes) = (attributes, seed)
    }

    /// The changes that make an item of another key one of this key.
    func changes(from old: Item) -> Attributes {
        var changes = attributes
        // An attribute cannot be removed. Of an item that requires authentication, a list does not say whether it has it.
        if changes[.alias] == nil, KeyType(old)?.kind == nil { changes[.alias] = .string("") }
        return changes
    }
}
