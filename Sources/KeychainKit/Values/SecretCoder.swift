// SPDX-License-Identifier: Apache-2.0
// How values become bytes.

public import Foundation
import KeychainEngine

/// Encodes values as the bytes of a secret, and decodes them.
///
/// ```swift
/// let store = SecretStore(service: "com.example.app", coder: .propertyList)
/// ```
///
/// Text and bytes are not encoded: they are stored as they are, so that other programs can read them.
///
/// A coder of your own must set `userInfo[.revealsSecrets]` to `true` in its encoder and decoder if records contain a
/// ``SecretValue``. Without it, saving such a record fails with `invalidParameter`: no redaction is stored.
public protocol SecretCoder: Sendable {
    func encode<Value: Encodable>(_ value: Value) throws -> Data
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value
}

/// JSON with keys in alphabetical order, so that equal values have equal bytes.
public struct JSONSecretCoder: SecretCoder {
    private let configureEncoder: @Sendable (JSONEncoder) -> Void
    private let configureDecoder: @Sendable (JSONDecoder) -> Void

    /// - Parameters: Closures that configure each new encoder and decoder: strategies for dates, keys and so on.
    public init(
        encoder configureEncoder: @escaping @Sendable (JSONEncoder) -> Void = { _ in },
        decoder configureDecoder: @escaping @Sendable (JSONDecoder) -> Void = { _ in }
    ) {
        self.configureEncoder = configureEncoder
        self.configureDecoder = configureDecoder
    }

    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        configureEncoder(encoder)
        // After the caller's closure, which may replace all of `userInfo`.
        encoder.userInfo[.revealsSecrets] = true
        return try encoder.encode(value)
    }

    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
        let decoder = JSONDecoder()
        configureDecoder(decoder)
        decoder.userInfo[.revealsSecrets] = true
        return try decoder.decode(type, fromAny: bytes)
    }
}

/// Binary property lists. They cannot hold a single number or date at the top: put it into a record. Lists in XML and other
/// formats are not read, because Foundation on Linux does not bound how deep these are nested.
public struct PropertyListSecretCoder: SecretCoder {
    public init() {}

    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        encoder.userInfo[.revealsSecrets] = true
        return try encoder.encode(value)
    }

    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
        guard bytes.starts(with: "bplist".utf8), BinaryPropertyList.isPlain(bytes) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "This is no binary property list."))
        }
        let decoder = PropertyListDecoder()
        decoder.userInfo[.revealsSecrets] = true
        return try decoder.decode(type, from: bytes)
    }
}

extension SecretCoder where Self == JSONSecretCoder {
    public static var json: JSONSecretCoder { JSONSecretCoder() }
}

extension SecretCoder where Self == PropertyListSecretCoder {
    public static var propertyList: PropertyListSecretCoder { PropertyListSecretCoder() }
}
