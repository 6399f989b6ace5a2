// SPDX-License-Identifier: Apache-2.0
// A test vector of the format, and the parts of its input.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

@testable import KeychainVault

/// One fact of `Tests/Vectors`: what a primitive makes of an input; `null` means that it refuses.
struct FormatVector: Sendable {
    let name: String
    let primitive: String
    let input: VectorInput
    let expected: JSON
    /// Whether the expectation of a refusal says which one it is.
    let namesFailures: Bool

    var expectsRefusal: Bool { expected == .null || expected["failure"] != nil }
}

/// A vector file that says something that the tests do not understand.
struct BadVector: Error {
    let what: String
}

/// The fields of an input, by name.
struct VectorInput: Sendable {
    let json: JSON

    func text(_ name: String) throws -> String {
        guard let text = json[name]?.text else { throw BadVector(what: name) }
        return text
    }

    func bytes(_ name: String) throws -> Data {
        guard let bytes = Data(hexadecimal: try text(name)) else { throw BadVector(what: name) }
        return bytes
    }

    func number<Number: FixedWidthInteger>(_ name: String) throws -> Number {
        guard case .integer(let number) = json[name], let fitting = Number(exactly: number) else {
            throw BadVector(what: name)
        }
        return fitting
    }

    func secret(_ name: String) throws -> SecretBytes {
        try bytes(name).withUnsafeBytes { SecretBytes(copying: $0) }
    }

    func member(_ name: String) throws -> VectorInput {
        guard let member = json[name] else { throw BadVector(what: name) }
        return VectorInput(json: member)
    }

    func place(_ role: AssociatedData.Role? = nil) throws -> AssociatedData {
        guard let given = try role ?? AssociatedData.Role(rawValue: number("role")) else {
            throw BadVector(what: "role")
        }
        return AssociatedData(
            vaultID: UUID(bytes: try bytes("vault")), role: given, itemID: UUID(bytes: try bytes("item")),
            itemVersion: try number("version"), keyClass: try number("keyClass"), generation: try number("generation"))
    }

    func value() throws -> AttributeValue {
        let value = try member("value")
        switch (try value.text("type"), value.json["value"]) {
        case ("string", .text(let text)): return .string(text)
        case ("data", .text): return .data(try value.bytes("value"))
        case ("number", _): return .number(try value.number("value"))
        case ("date", .integer(let seconds)): return .date(Double(seconds))
        case ("date", .real(let seconds)): return .date(seconds)
        default: throw BadVector(what: "value")
        }
    }
}
