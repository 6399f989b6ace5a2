// SPDX-License-Identifier: Apache-2.0
// Converts values to bytes and back: text and bytes as they are, all other values through the coder.

package import Foundation
package import KeychainEngine

extension SecretCoder {
    /// - Throws: `invalidParameter` if the value cannot be encoded, or is an optional.
    package func bytes<Value: Encodable>(of value: Value) throws(KeychainError) -> Data {
        // The check uses the type: an optional that holds text would match `String` below.
        if Value.self is any OptionalValue.Type { throw .savesOptional }
        switch value {
        case let text as String: return Data(text.utf8)
        case let bytes as Data: return bytes
        // The exact type, since an empty array matches an array of any type and could not be decoded as its own type.
        case let bytes as [UInt8] where Value.self == [UInt8].self: return Data(bytes)
        case let secret as SecretValue: return secret.withUnsafeBytes { Data($0) }
        default: break
        }
        do {
            return try SecretValue.$mustBeRevealed.withValue(true) { try encode(value) }
        } catch {
            throw KeychainError(
                .invalidParameter, "A value of type \(Value.self) cannot be encoded\(placeOfCodingFailure(error)).")
        }
    }

    /// - Throws: `typeMismatch` if the bytes are not a value of this type.
    func value<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws(KeychainError) -> Value {
        let plain: Any? =
            switch type {
            case is String.Type: String(validating: bytes, as: UTF8.self)
            case is Data.Type: bytes
            case is [UInt8].Type: [UInt8](bytes)
            case is SecretValue.Type: SecretValue(bytes)
            default: nil
            }
        if let plain = plain as? Value { return plain }
        guard type != String.self else {
            throw KeychainError(.typeMismatch, "The item's value is not text. Read it as Data.")
        }
        do {
            return try decode(type, from: bytes)
        } catch {
            throw KeychainError(
                .typeMismatch,
                "The item's value is not of type \(Value.self)\(placeOfCodingFailure(error)). "
                    + "Read it as the type that it was saved as, or as Data.")
        }
    }
}

/// Where in a value coding failed, in parentheses after a space. Empty if unknown. The error's own message is not used:
/// it may quote the value.
@_spi(Wrappers) public func placeOfCodingFailure(_ error: any Error) -> String {
    let context: [any CodingKey]? =
        switch error {
        case DecodingError.keyNotFound(let key, let context): context.codingPath + [key]
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            context.codingPath
        case EncodingError.invalidValue(_, let context): context.codingPath
        default: nil
        }
    guard let context, !context.isEmpty else { return "" }
    // Keys of a dictionary are content and must not be shown. They cannot be told from the keys of a type.
    return " (at depth \(context.count))"
}

private protocol OptionalValue {}

extension Optional: OptionalValue {}

extension KeychainError {
    /// Other programs may store items that have only attributes.
    static let noValue = KeychainError(.typeMismatch, "The item exists, but has no value.")

    fileprivate static let savesOptional = KeychainError(
        .invalidParameter,
        "An optional value cannot be saved, because nil is not an item. Unwrap it, or remove the item.")
}
