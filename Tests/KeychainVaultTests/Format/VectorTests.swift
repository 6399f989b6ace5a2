// SPDX-License-Identifier: Apache-2.0
// Fixed facts about the format, which both implementations must agree with.

import Foundation
import KeychainCrypto
import KeychainEngine
import Testing

@testable import KeychainVault

struct FormatVectorTests {
    /// A file of `Tests/Vectors`.
    struct File: Sendable, CustomTestStringConvertible {
        let name: String
        var testDescription: String { name }
        var path: String { FormatReader.testsFolder + "/Vectors/\(name).json" }

        func vectors() throws -> [FormatVector] {
            let content = try JSON(fileAt: path)
            let common = content["common"] ?? .object([:])
            let namesFailures = content["namesFailures"] != nil
            return try (content["vectors"]?.elements ?? []).map { entry in
                let head = VectorInput(json: entry)
                return FormatVector(
                    name: try head.text("name"), primitive: try head.text("primitive"),
                    input: VectorInput(json: common.merging(try head.member("input").json)),
                    expected: try head.member("expect").json, namesFailures: namesFailures)
            }
        }

        static let all = [
            "application-key", "associated-data", "constrained", "derivation", "device-key", "digests", "head",
            "identity",
            "items", "keybag", "keybag-2", "opening", "padding", "passphrase", "recovery-key", "rows", "rows-2",
            "sealed", "sections", "unlocking", "user-key",
        ].map { File(name: $0) }
    }

    @Test(arguments: File.all)
    func vector_evaluatedHere_hasTheFixedResult(_ file: File) throws {
        for vector in try file.vectors() {
            #expect(try vector.evaluate() == vector.expected, "\(file.name): \(vector.name)")
        }
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement), arguments: File.all)
    func vector_evaluatedByTheReader_hasTheFixedResult(_ file: File) throws {
        let results = try FormatReader.vectors([file.path]).found
        for vector in try file.vectors() {
            #expect(results[vector.name] == vector.expected, "\(file.name): \(vector.name)")
        }
    }

    @Test func encoding_thatDecodes_isTheOnlyOneOfItsItem() throws {
        for vector in try File(name: "items").vectors() where vector.expected != .null {
            let encoding = try vector.input.bytes("encoding")
            let item = try ItemCodec.decode(encoding, accessibility: .whenUnlocked)
            #expect(ItemCodec.encode(item).data == encoding, "\(vector.name)")
        }
    }

    @Test func keybag_thatDecodes_isTheOnlySpellingOfItself() throws {
        let vectors = try ["keybag", "keybag-2"].flatMap { try File(name: $0).vectors() }
        for vector in vectors where vector.expected != .null {
            let bytes = try vector.input.bytes("bytes")
            #expect(try Keybag(bytes: bytes).bytes == bytes, "\(vector.name)")
        }
    }

    @Test(arguments: ["keybag", "keybag-2"])
    func keybag_cutAtAnyLength_isRefused(_ file: String) throws {
        let bytes = try #require(try File(name: file).vectors().first).input.bytes("bytes")
        for length in 0..<bytes.count {
            #expect(throws: MalformedBytes.self, "length \(length)") { try Keybag(bytes: bytes.prefix(length)) }
        }
    }

    @Test func encoding_cutAtAnyLength_isRefused() throws {
        let bytes = try #require(try File(name: "items").vectors().first).input.bytes("encoding")
        for length in 0..<bytes.count {
            #expect(throws: MalformedBytes.self, "length \(length)") {
                try ItemCodec.decode(bytes.prefix(length), accessibility: .whenUnlocked)
            }
        }
    }

    @Test func negativeVectors_areAtLeastHalfOfAll() throws {
        let vectors = try File.all.flatMap { try $0.vectors() }
        #expect(vectors.filter(\.expectsRefusal).count * 2 >= vectors.count)
    }
}
