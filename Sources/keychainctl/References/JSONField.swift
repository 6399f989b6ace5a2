// SPDX-License-Identifier: Apache-2.0
// One field of a value that is JSON.

import Foundation
import KeychainKit

/// The text of a field: of text its characters, of an integer of at most 64 bits its digits, of a boolean `true` or `false`.
struct JSONField: Decodable {
    private let text: String

    private static let way = CodingUserInfoKey(rawValue: "keychainctl.way")

    /// - Parameter way: Names in objects, and numbers in lists, from the outermost one.
    /// - Throws: `typeMismatch`. The messages contain nothing of the value.
    static func bytes(at way: [String], in value: Data) throws(KeychainError) -> Data {
        let decoder = JSONDecoder()
        if let key = Self.way { decoder.userInfo[key] = way }
        decoder.keyDecodingStrategy = .custom { FieldName(stringValue: $0[$0.count - 1].stringValue).asBytes }
        do {
            return Data(try decoder.decode(JSONField.self, fromAny: value).text.utf8)
        } catch let failure as KeychainError {
            throw failure
        } catch {
            throw KeychainError(.typeMismatch, "The value is not valid JSON, so it has no fields.")
        }
    }

    init(from decoder: any Decoder) throws {
        let way = Self.way.flatMap { decoder.userInfo[$0] as? [String] } ?? []
        text = try Self.text(decoder, way[...])
    }

    private static func text(_ decoder: any Decoder, _ way: ArraySlice<String>) throws -> String {
        guard let name = way.first else { return try scalar(decoder.singleValueContainer()) }
        if let object = ifPossible({ try decoder.container(keyedBy: FieldName.self) }) {
            let key = FieldName(stringValue: name).asBytes
            guard object.contains(key) else { throw missing }
            return try text(object.superDecoder(forKey: key), way.dropFirst())
        }
        guard var list = ifPossible({ try decoder.unkeyedContainer() }) else { throw missing }
        guard let index = Int(name), index >= 0, index < list.count ?? 0 else { throw missing }
        for _ in 0..<index { _ = try list.superDecoder() }
        return try text(list.superDecoder(), way.dropFirst())
    }

    private static func scalar(_ value: any SingleValueDecodingContainer) throws -> String {
        if let text = ifPossible({ try value.decode(String.self) }) { return text }
        if let flag = ifPossible({ try value.decode(Bool.self) }) { return flag ? "true" : "false" }
        if let number = ifPossible({ try value.decode(Int64.self) }) { return String(number) }
        if let number = ifPossible({ try value.decode(UInt64.self) }) { return String(number) }
        // A decoder would round it, and the program would get another value.
        guard ifPossible({ try value.decode(Double.self) }) == nil else { throw noInteger }
        throw KeychainError(
            .typeMismatch, "The field is null, an object or a list. Only text, numbers and booleans can be used.")
    }

    /// A decoder reports another type as an error.
    private static func ifPossible<Result>(_ body: () throws -> Result) -> Result? {
        do { return try body() } catch { return nil }
    }

    private static let noInteger = KeychainError(
        .typeMismatch, "The field is a number with a fraction or more than 64 bits. Store it as text.")
    private static let missing = KeychainError(.itemNotFound, "The value has no such field.")
}

private struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    /// Its bytes as numbers. To a decoder a composed "é" and a decomposed one are the same name, and it would give the value
    /// of the other field.
    var asBytes: FieldName { FieldName(stringValue: "\(Array(stringValue.utf8))") }
}
