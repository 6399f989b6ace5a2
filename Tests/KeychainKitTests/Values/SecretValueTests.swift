// SPDX-License-Identifier: Apache-2.0
// Values that are never printed, and how types become bytes.

import Foundation
import KeychainKit
import KeychainTestSupport
import Testing

@Suite("Secret values")
struct SecretValueTests {
    private struct Login: Codable, Equatable {
        var user: String
        var password: SecretValue
    }

    private let secret = SecretValue("n33dle")
    private let store = SecretStore(service: "app", store: MemoryStore())

    @Test func secret_inEveryDescription_isRedacted() {
        var dumped = ""
        dump(Login(user: "alice", password: secret), to: &dumped)
        let texts = [
            "\(secret)", String(describing: secret), String(reflecting: secret), secret.debugDescription,
            "\([secret])", "\(Login(user: "alice", password: secret))", dumped,
            "\(Mirror(reflecting: secret).children.count)",
        ]
        for text in texts { #expect(!text.contains("n33dle"), "\(text)") }
        #expect("\(secret)" == "<redacted>")
    }

    @Test func secret_inAnotherEncoder_isRedacted() throws {
        let text = String(decoding: try JSONEncoder().encode(Login(user: "alice", password: secret)), as: UTF8.self)
        #expect(text.contains("<redacted>") && !text.contains("n33dle"))
    }

    @Test func redactedSecret_decoded_isRefused() throws {
        let bytes = try JSONEncoder().encode(Login(user: "alice", password: secret))
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Login.self, from: bytes) }
    }

    @Test func encoder_thatIsAskedTo_revealsTheSecret() throws {
        let encoder = JSONEncoder()
        encoder.userInfo[.revealsSecrets] = true
        #expect(String(decoding: try encoder.encode(secret), as: UTF8.self) == "\"n33dle\"")
    }

    @Test(arguments: [Data("n33dle".utf8), Data(), Data([0, 0xFF, 0xC3, 0x28])])
    func secretInARecord_saved_isRead(bytes: Data) throws {
        let login = Login(user: "alice", password: SecretValue(bytes))
        for coder in [.json, .propertyList] as [any SecretCoder] {
            var store = store
            store.coder = coder
            try store.save(login, for: "alice")
            #expect(try store.read(Login.self, for: "alice") == login)
        }
    }

    @Test func secret_saved_isItsBytes() throws {
        try store.save(secret, for: "alice")
        #expect(try store.read(String.self, for: "alice") == "n33dle")
        #expect(try store.read(SecretValue.self, for: "alice") == secret)
    }

    @Test func secrets_thatDiffer_areNotEqual() {
        #expect(SecretValue("a") != SecretValue("b"))
        #expect(SecretValue("a") != SecretValue("ab"))
        #expect(SecretValue("") == SecretValue(Data()))
    }

    @Test func bytes_shownInAClosure_areTheSecret() {
        #expect(secret.withUnsafeBytes { Array($0) } == Array("n33dle".utf8))
        #expect(secret.revealedText() == "n33dle")
        #expect(SecretValue(Data([0xFF])).revealedText() == nil)
    }

    // MARK: - Other values

    @Test func textAndBytes_saved_areStoredAsTheyAre() throws {
        try store.save("té\0xt", for: "text")
        #expect(try store.read(Data.self, for: "text") == Data("té\0xt".utf8))
        try store.save([UInt8]([1, 2, 3]), for: "bytes")
        #expect(try store.read([UInt8].self, for: "bytes") == [1, 2, 3])
        #expect(try store.read(Data.self, for: "bytes") == Data([1, 2, 3]))
    }

    @Test func emptyValue_saved_isNotAbsent() throws {
        try store.save("", for: "alice")
        #expect(try store.read(String.self, for: "alice") == "")
    }

    @Test func text_savedThroughAGenericFunction_isTheSame() throws {
        func save<Value: Codable>(_ value: Value) throws { try store.save(value, for: "alice") }
        try save("x")
        #expect(try store.read(Data.self, for: "alice") == Data("x".utf8))
    }

    @Test func listOfNothing_saved_isReadAsTheListThatItIs() throws {
        try store.save([String](), for: "texts")
        #expect(try store.read([String].self, for: "texts") == [])
        try store.update([Int].self, for: "numbers") { $0 = [] }
        try store.update([Int].self, for: "numbers") { $0?.append(1) }
        #expect(try store.read([Int].self, for: "numbers") == [1])
    }

    @Test func none_saved_isRefused() throws {
        let reason = reason { try store.save(nil as String?, for: "alice") }
        #expect(reason == .invalidParameter)
        #expect(try !store.contains(for: "alice"))
    }

    @Test func optional_savedWithAValueInIt_isRefusedWhateverItsType() throws {
        let reasons = [
            reason { try store.save(String?("x"), for: "alice") }, reason { try store.save(Int?(1), for: "alice") },
            reason { try store.save(Data?(Data()), for: "alice") },
        ]
        #expect(reasons == [.invalidParameter, .invalidParameter, .invalidParameter])
    }

    @Test func valueOfAnotherType_read_isATypeMismatchWithoutContent() throws {
        try store.save(["n33dle": 1], for: "alice")
        for failure in [
            failure { try store.read(Int.self, for: "alice") },
            failure { try store.read([String: Bool].self, for: "alice") },
        ] {
            #expect(failure?.reason == .typeMismatch && failure?.status == -26275)
            #expect(failure?.message.contains("n33dle") == false)
        }
        try store.save(Data([0xFF]), for: "bytes")
        let reason = reason { try store.read(String.self, for: "bytes") }
        #expect(reason == .typeMismatch)
    }

    @Test func coder_ofTheStore_isUsed() throws {
        var lists = store
        lists.coder = .propertyList
        try lists.save(["a": 1], for: "alice")
        #expect(try store.read(Data.self, for: "alice")?.starts(with: Data("bplist".utf8)) == true)
        let reason = reason { try store.read([String: Int].self, for: "alice") }
        #expect(reason == .typeMismatch)
    }

    static let deepList = Data(
        ("<plist>" + String(repeating: "<array>", count: 100_000) + String(repeating: "</array>", count: 100_000)
            + "</plist>").utf8)

    /// Any program may have stored such a list, at which Foundation ends the program.
    @Test(arguments: [Data.listWithAnEndlessArray(), deepList])
    func list_thatFoundationCannotBear_isATypeMismatch(_ bytes: Data) throws {
        var lists = store
        lists.coder = .propertyList
        try lists.save(bytes, for: "alice")
        #expect(reason { try lists.read([String].self, for: "alice") } == .typeMismatch)
    }

    @Test func jsonCoder_withAStrategy_usesIt() throws {
        var dates = store
        dates.coder = JSONSecretCoder(
            encoder: { $0.dateEncodingStrategy = .iso8601 }, decoder: { $0.dateDecodingStrategy = .iso8601 })
        try dates.save(Date(timeIntervalSince1970: 0), for: "alice")
        #expect(try dates.read(String.self, for: "alice") == "\"1970-01-01T00:00:00Z\"")
        #expect(try dates.read(Date.self, for: "alice") == Date(timeIntervalSince1970: 0))
    }
}

@Suite("Errors")
struct ErrorTests {
    @Test(arguments: KeychainError.Reason.known)
    func error_ofEveryReason_bridgesWithItsStatus(reason: KeychainError.Reason) {
        let error = KeychainError(reason, "What to do.")
        let bridged = error as NSError
        #expect(bridged.domain == "NSOSStatusErrorDomain" && bridged.code == Int(error.status))
        #expect(bridged.localizedDescription == "What to do.")
    }

    @Test(arguments: KeychainError.Reason.known)
    func reason_byItsName_isTheSame(reason: KeychainError.Reason) {
        #expect(KeychainError.Reason(rawValue: reason.rawValue) == reason)
        #expect("\(reason)" == reason.rawValue)
    }

    @Test func reason_ofAnUnknownName_isNone() {
        #expect(KeychainError.Reason(rawValue: "outOfPaper") == nil)
    }

    @Test func status_thatTheSystemGave_isKept() {
        let error = KeychainError(.unavailable, "No.", status: -61)
        #expect(error.status == -61 && (error as NSError).code == -61)
    }
}
