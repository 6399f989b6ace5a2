// SPDX-License-Identifier: Apache-2.0
// Project Wycheproof's cases for keys.

package import Foundation

/// A file of `Tests/Vectors/ThirdParty`.
package struct Wycheproof: Decodable {
    package struct Group: Decodable {
        package let publicKeyDer, privateKeyPkcs8: Hexadecimal?
        package let ivSize, tagSize: Int?
        package let tests: [Case]
    }

    package struct Case: Decodable {
        package let tcId: Int
        package let result: String
        package let msg, sig, ct, shared, key, iv, aad, tag: Hexadecimal?
        package let `public`, `private`: Hexadecimal?
        package let flags: [String]

        package var isValid: Bool { result == "valid" }
        /// Whether implementations may differ.
        package var isOptional: Bool { result == "acceptable" }
    }

    /// Bytes as digits.
    package struct Hexadecimal: Decodable {
        package let bytes: Data

        package init(from decoder: any Decoder) throws {
            let digits = try decoder.singleValueContainer().decode(String.self).compactMap(\.hexDigitValue)
            bytes = Data(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
        }
    }

    package let testGroups: [Group]

    package init(file: String) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let content = try Data(contentsOf: tests.appendingPathComponent("Vectors/ThirdParty/\(file).json"))
        self = try JSONDecoder().decode(Wycheproof.self, from: content)
    }

    package var count: Int { cases.count }
    package var cases: [Case] { testGroups.flatMap(\.tests) }
}

extension Wycheproof.Hexadecimal? {
    /// - Throws: An error if the case has no such member.
    package func required() throws -> Data {
        guard let self else { throw CocoaError(.coderValueNotFound) }
        return self.bytes
    }
}
