// SPDX-License-Identifier: Apache-2.0
// What the snippets use and the guide leaves to its readers.

@_spi(Wrappers) import KeychainKit
import KeychainTesting
import SecureStorage

struct CredentialsV1: Codable, Sendable {
    let token: String
}

struct CredentialsV2: Codable, Sendable, Equatable {
    let tokens: [String]

    init(tokens: [String]) { self.tokens = tokens }
    init(from old: CredentialsV1) { tokens = [old.token] }
}

struct LoginFeature {
    let secureStorage: SecureStorageProtocol

    func checkAuth() async -> Bool { secureStorage.exists(for: "authToken") }
}

struct APIClient: Sendable {
    func authenticate(_ username: String, _ password: String) async throws -> String { "token of \(username)" }
}

let apiClient = APIClient()

/// Ways in which saving goes wrong, and what the guide's code says then.
enum Failing: CaseIterable, Sendable {
    case encoding, saving, otherwise

    /// Makes JSON unless it is not a number.
    var value: Double { self == .encoding ? .nan : 1 }

    var words: String {
        switch self {
        case .encoding: "Failed to encode: Double"
        case .saving: "Keychain save failed: -34"
        case .otherwise: "Unexpected error: outOfPaper"
        }
    }

    var storage: SecureStorageProtocol {
        get throws {
            switch self {
            case .encoding: MockSecureStorage()
            case .saving: KeychainSecureStorage(service: "app").using(try failing(.full))
            case .otherwise: PaperStorage()
            }
        }
    }
}

/// A store with items, each of whose calls ends with a fault.
func failing(_ fault: ScriptedStore.Fault) throws -> ScriptedStore {
    let store = ScriptedStore()
    let secrets = SecretStore(service: "app", store: store)
    try secrets.save(#""t0ken""#, for: "token")
    try secrets.save(#"{"token":"t0ken"}"#, for: "credentials")
    store.fail(fault, .every)
    return store
}

/// A storage that a program implements.
struct PaperStorage: SecureStorageProtocol {
    enum Failure: Error { case outOfPaper }

    func save<T: Codable & Sendable>(_ value: T, for key: String) async throws { throw Failure.outOfPaper }
    func load<T: Codable & Sendable>(for key: String) async throws -> T? { nil }
    func delete(for key: String) async throws {}
    func exists(for key: String) -> Bool { false }
}
