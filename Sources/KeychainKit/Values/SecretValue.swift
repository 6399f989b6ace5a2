// SPDX-License-Identifier: Apache-2.0
// A secret that is not shown in descriptions or logs.

public import Foundation
public import SecretMemory

/// Secret bytes. They do not appear in descriptions, mirrors, dumps or logs, and encoders redact them. They are
/// compared in constant time and wiped when the value is released.
///
/// ```swift
/// if let password = try store.read(SecretValue.self, for: "alice") {
///     password.withUnsafeBytes { bytes in authenticate(bytes) }
/// }
/// ```
///
/// It is a value type over ``SecretBytes``. `SecretBytes` is the memory: locked against swapping, wiped on release.
/// `SecretValue` can be saved, read and compared, also as part of a `Codable` record. Use `SecretValue` for what you
/// store. An ``AuthenticationContext`` takes the application password as `SecretBytes`. A `SecretValue` can be created
/// from `SecretBytes` without a copy.
///
/// Does not protect copies that were made before: a string literal, typed text, or data in transit through the
/// keychain's database.
public struct SecretValue: Sendable {
    private let bytes: SecretBytes

    /// - Parameter text: Stored as UTF-8. The string itself is not wiped: use bytes where you can.
    public init(_ text: String) {
        var text = text
        bytes = text.withUTF8 { SecretBytes(copying: UnsafeRawBufferPointer($0)) }
    }

    public init(_ bytes: some ContiguousBytes) {
        self.bytes = bytes.withUnsafeBytes { SecretBytes(copying: $0) }
    }

    public init(_ bytes: SecretBytes) { self.bytes = bytes }

    /// The number of bytes.
    public var count: Int { bytes.count }

    /// Gives `body` access to the bytes. The pointer must not be used after `body` returns.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBytes(body)
    }

    /// A copy as text, which is not wiped. `nil` if the bytes are not UTF-8.
    public func revealedText() -> String? {
        withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }
}

extension SecretValue: Equatable {
    /// The time does not depend on where the values differ. A different length can be observed.
    public static func == (lhs: SecretValue, rhs: SecretValue) -> Bool {
        guard lhs.count == rhs.count else { return false }
        return lhs.withUnsafeBytes { left in
            rhs.withUnsafeBytes { right in
                zip(left, right).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
            }
        }
    }
}

extension SecretValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    static let redaction = "<redacted>"

    public var description: String { Self.redaction }
    public var debugDescription: String { Self.redaction }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CodingUserInfoKey {
    /// If `true` in an encoder or decoder, ``SecretValue`` is encoded and decoded as it is. The coders of this module
    /// set it.
    public static let revealsSecrets = CodingUserInfoKey(uncheckedRawValue: "swift-keychain.revealsSecrets")
}

extension CodingUserInfoKey {
    /// For names that are constants of this module. Every text is a valid key.
    fileprivate init(uncheckedRawValue name: String) {
        guard let key = CodingUserInfoKey(rawValue: name) else { preconditionFailure("any text is a key") }
        self = key
    }
}

extension SecretValue: Codable {
    /// Whether the value is encoded to be stored: a redaction would replace the secret and could not be decoded.
    @TaskLocal static var mustBeRevealed = false

    /// Encodes text as text, and other bytes as an array of one base64 text. A coder that does not reveal secrets gets
    /// a redaction.
    ///
    /// - Throws: `EncodingError` if a store is to save the value and its coder does not reveal secrets.
    public func encode(to encoder: any Encoder) throws {
        guard encoder.userInfo[.revealsSecrets] as? Bool == true else { return try encodeRedaction(to: encoder) }
        var container = encoder.singleValueContainer()
        if let text = revealedText() { return try container.encode(text) }
        try container.encode([withUnsafeBytes { Data($0).base64EncodedString() }])
    }

    private func encodeRedaction(to encoder: any Encoder) throws {
        guard !Self.mustBeRevealed else {
            throw EncodingError.invalidValue(
                Self.redaction,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "Secrets are stored only by coders that reveal them (userInfo[.revealsSecrets])."
                ))
        }
        var container = encoder.singleValueContainer()
        try container.encode(Self.redaction)
    }

    /// - Throws: An error if the decoder does not reveal secrets: the data may be a redaction instead of the secret.
    public init(from decoder: any Decoder) throws {
        guard decoder.userInfo[.revealsSecrets] as? Bool == true else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "Secrets are decoded only by coders that reveal them (userInfo[.revealsSecrets])."
                ))
        }
        let container = try decoder.singleValueContainer()
        do {
            self.init(try container.decode(String.self))
        } catch DecodingError.typeMismatch {
            guard let text = try container.decode([String].self).first, let bytes = Data(base64Encoded: text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "These bytes are not base64.")
            }
            self.init(bytes)
        }
    }
}
