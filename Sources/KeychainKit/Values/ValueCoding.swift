// SPDX-License-Identifier: Apache-2.0
// From values to bytes and back: text and bytes as they are, all else through the coder.

import Foundation
import KeychainEngine

extension SecretCoder {
    /// - Throws: `invalidParameter` if the value cannot be encoded, or is an optional.
    func bytes<Value: Encodable>(of value: Value) throws(KeychainError) -> Data {
        // By its type: one that holds text would pass for that text.
        if Value.self is any OptionalValue.Type { throw .savesOptional }
        switch value {
        case let text as String: return Data(text.utf8)
        case let bytes as Data: return bytes
        // A list of nothing passes for one of any type, and would not be read as what it is.
        case let bytes as [UInt8] where Value.self == [UInt8].self: return Data(bytes)
        case let secret as SecretValue: return secret.withUnsafeBytes { Data($0) }
        default: break
        }
        do {
            return try encode(value)
        } catch {
            throw KeychainError(
                .invalidParameter, "A value of type \(Value.self) cannot be encoded\(placeOfCodingFailure(error)).")
        }
    }

    /// - Throws: `typeMismatch` if the bytes are not such a value.
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
            throw KeychainError(.typeMismatch, "The item is there, and its value is not text. Read it as Data.")
        }
        do {
            return try decode(type, from: bytes)
        } catch {
            throw KeychainError(
                .typeMismatch,
                "The item is there, and its value is not one of type \(Value.self)\(placeOfCodingFailure(error)). "
                    + "Read it as the type that it was saved as, or as Data.")
        }
    }
}

/// Where in a value its coding failed, in parentheses after a space; empty if that is not known. The error's own words may
/// quote the value.
package func placeOfCodingFailure(_ error: any Error) -> String {
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
    // Keys of a dictionary are content; those of a type are not, and cannot be told from them.
    return " (at depth \(context.count))"
}

private protocol OptionalValue {}

extension Optional: OptionalValue {}

extension KeychainError {
    fileprivate static let savesOptional = KeychainError(
        .invalidParameter,
        "An optional value cannot be saved, since none would be an item. Unwrap it, or remove the item.")
}
