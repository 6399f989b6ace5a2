// SPDX-License-Identifier: Apache-2.0
// Values as JSON and back. The errors do not reveal the value.

import Foundation
@_spi(Wrappers) import KeychainKit

enum JSON {
    /// A coding failure, in the keychain's words. It is not a keychain error, since those have their own codes.
    struct Failure: Error {
        let cause: KeychainKit.KeychainError
    }

    /// Keys in alphabetical order, so that equal values become equal bytes.
    ///
    /// - Parameter isForKeychain: Whether a `SecretValue` keeps its bytes. Elsewhere it becomes a redaction.
    static func encode<Value: Encodable>(
        _ value: Value, forKeychain isForKeychain: Bool = true
    ) throws(Failure) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.userInfo[.revealsSecrets] = isForKeychain
        do {
            return try encoder.encode(value)
        } catch {
            throw Failure(
                .invalidParameter,
                "A value of type \(Value.self) cannot be encoded as JSON\(placeOfCodingFailure(error)).")
        }
    }

    /// - Parameter isForKeychain: As in ``encode(_:forKeychain:)``. Elsewhere a redaction would be taken for a secret.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: Data, forKeychain isForKeychain: Bool = true
    ) throws(Failure) -> Value {
        let decoder = JSONDecoder()
        decoder.userInfo[.revealsSecrets] = isForKeychain
        do {
            return try decoder.decode(type, fromStored: bytes)
        } catch {
            throw Failure(
                .undecodableInput,
                "The item's value is not a \(Value.self) as JSON\(placeOfCodingFailure(error)). "
                    + "Read it as the type that it was saved as, or delete it and save it again.")
        }
    }
}

extension JSON.Failure {
    fileprivate init(_ reason: KeychainKit.KeychainError.Reason, _ message: String) {
        cause = KeychainKit.KeychainError(reason, message)
    }
}
