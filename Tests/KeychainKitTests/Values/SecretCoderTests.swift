// SPDX-License-Identifier: Apache-2.0
// Secrets within records: a coder stores them or fails, and never stores a redaction.

import Foundation
import KeychainKit
import Testing

@Suite("Secrets and coders")
struct SecretCoderTests {
    private struct Login: Codable, Equatable {
        var user: String
        var password: SecretValue
    }

    /// A coder that knows nothing of secrets.
    private struct PlainCoder: SecretCoder {
        func encode<Value: Encodable>(_ value: Value) throws -> Data { try JSONEncoder().encode(value) }
        func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
            try JSONDecoder().decode(type, from: bytes)
        }
    }

    private let login = Login(user: "alice", password: SecretValue("n33dle"))

    private func store(_ coder: any SecretCoder) -> SecretStore {
        SecretStore(service: "app", coder: coder, store: MemoryStore())
    }

    @Test func jsonCoder_whoseUserInfoIsReplaced_storesTheSecret() throws {
        let store = store(JSONSecretCoder(encoder: { $0.userInfo = [:] }, decoder: { $0.userInfo = [:] }))
        try store.save(login, for: "alice")
        #expect(try store.read(Login.self, for: "alice") == login)
    }

    /// As the value of another program may be. Foundation itself ends the process.
    @Test(arguments: ["[", "{"], [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian])
    func jsonCoder_forAnyNumberOfBracketsThatOpen_throws(last: String, encoding: String.Encoding) throws {
        for count in 505...520 {
            let text = String(repeating: "[", count: count) + last
            let bytes = try #require(text.data(using: encoding))
            #expect(throws: DecodingError.self) { try JSONSecretCoder().decode([String].self, from: bytes) }
        }
    }

    @Test func coderThatRedacts_saving_failsAndTheOldValueStays() throws {
        let store = store(PlainCoder())
        try store.save("old", for: "alice")
        #expect(reason { try store.save(login, for: "alice") } == .invalidParameter)
        #expect(try store.read(String.self, for: "alice") == "old")
    }

    @Test func coderThatRedacts_withoutASecret_savesTheRecord() throws {
        let store = store(PlainCoder())
        try store.save(["user": "alice"], for: "alice")
        #expect(try store.read([String: String].self, for: "alice") == ["user": "alice"])
    }
}
