// SPDX-License-Identifier: Apache-2.0
// A secret that shows itself to nobody unless asked.

public import Foundation
public import SecretMemory

/// Secret bytes that no description, mirror, dump, log or encoder shows, that compare in constant time, and that are wiped
/// when they go.
///
/// ```swift
/// if let password = try store.read(SecretValue.self, for: "alice") {
///     password.withUnsafeBytes { bytes in authenticate(bytes) }
/// }
/// ```
///
/// Does not protect the copies that were made before: of a string literal, of what was typed, or in transit through the
/// keychain's database.
public struct SecretValue: Sendable {
    private let bytes: SecretBytes

    /// - Parameter text: Taken as UTF-8. The string itself is not wiped: take bytes where there is a choice.
    public init(_ text: String) {
        var text = text
        bytes = text.withUTF8 { SecretBytes(copying: UnsafeRawBufferPointer($0)) }
    }

    public init(_ bytes: some ContiguousBytes) {
        self.bytes = bytes.withUnsafeBytes { SecretBytes(copying: $0) }
    }

    public init(_ bytes: SecretBytes) { self.bytes = bytes }

    /// How many bytes there are.
    public var count: Int { bytes.count }

    /// Shows the bytes for as long as `body` runs; do not let the pointer out.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBytes(body)
    }

    /// A copy as text that nobody will wipe; `nil` if the bytes are not UTF-8.
    public func revealedText() -> String? {
        withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }
}

extension SecretValue: Equatable {
    /// Takes as long for values that differ early as for equal ones; a different length shows.
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
    /// Set to `true` in an encoder or decoder, lets ``SecretValue`` through as it is. The coders of this module set it.
    public static let revealsSecrets = CodingUserInfoKey(uncheckedRawValue: "swift-keychain.revealsSecrets")
}

extension CodingUserInfoKey {
    /// For names that are constants of this module, which no key refuses.
    fileprivate init(uncheckedRawValue name: String) {
        guard let key = CodingUserInfoKey(rawValue: name) else { preconditionFailure("any text is a key") }
        self = key
    }
}

extension SecretValue: Codable {
    /// Text where it is text, else an array of one text in base64; to a coder that was not asked to reveal it, a redaction.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard encoder.userInfo[.revealsSecrets] as? Bool == true else { return try container.encode(Self.redaction) }
        if let text = revealedText() { return try container.encode(text) }
        try container.encode([withUnsafeBytes { Data($0).base64EncodedString() }])
    }

    /// - Throws: What was encoded without revealing is refused: it is not the secret any more.
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
