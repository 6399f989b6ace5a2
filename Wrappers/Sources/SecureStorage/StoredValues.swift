// SPDX-License-Identifier: Apache-2.0
// JSON in the items of one service: the implementation of both the storage in the keychain and the one in memory.

import Foundation
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainServices

struct StoredValues: Sendable {
    private let secrets: SecretStore
    private let failures = FailureRecord()

    init(_ secrets: SecretStore) { self.secrets = secrets }

    var lastFailure: KeychainKit.KeychainError? { failures.last }

    func save<T: Codable>(_ value: T, for key: String) async throws(SecureStorageError) {
        let bytes = try Self.encode(value)
        try await calling(SecureStorageError.saveFailed) { () async throws(KeychainKit.KeychainError) in
            try await secrets.save(bytes, for: key)
        }
    }

    func load<T: Codable>(for key: String) async throws(SecureStorageError) -> T? {
        let bytes = try await calling(SecureStorageError.loadFailed) { () async throws(KeychainKit.KeychainError) in
            try await secrets.read(Data.self, for: key)
        }
        guard let bytes else { return nil }
        return try Self.decode(T.self, from: bytes)
    }

    /// One transaction: a value that another program saves meanwhile is read, not overwritten.
    func load<T: Codable, Old: Codable>(
        for key: String, migratingFrom old: Old.Type, _ convert: (Old) throws -> T
    ) async throws -> T? {
        do {
            let value = try await secrets.update(Data.self, for: key) { try Self.migrate(&$0, convert) }
            failures.record(nil)
            return value
        } catch let error as ConversionFailure {
            // The keychain has not failed.
            failures.record(nil)
            throw error.cause
        } catch let error as KeychainKit.KeychainError {
            failures.record(error)
            throw SecureStorageError.loadFailed(error.status)
        }
    }

    func delete(for key: String) async throws(SecureStorageError) {
        _ = try await calling(SecureStorageError.deleteFailed) { () async throws(KeychainKit.KeychainError) in
            try await secrets.remove(for: key)
        }
    }

    func exists(for key: String) -> Bool {
        do throws(KeychainKit.KeychainError) {
            return try failures.recording { () throws(KeychainKit.KeychainError) in try secrets.contains(for: key) }
        } catch {
            return false
        }
    }

    private nonisolated(nonsending) func calling<Result>(
        _ failed: (OSStatus) -> SecureStorageError,
        _ body: nonisolated(nonsending) () async throws(KeychainKit.KeychainError) -> Result
    ) async throws(SecureStorageError) -> Result {
        do throws(KeychainKit.KeychainError) {
            return try await failures.recording(body)
        } catch {
            throw failed(error.status)
        }
    }
}

// MARK: - JSON

extension StoredValues {
    /// An error of the conversion or of JSON. The conversion may throw one of the keychain, which is then none of this call.
    private struct ConversionFailure: Error {
        let cause: any Error
    }

    private static func migrate<T: Codable, Old: Codable>(
        _ bytes: inout Data?, _ convert: (Old) throws -> T
    ) throws(ConversionFailure) -> T? {
        guard let stored = bytes else { return nil }
        do throws(SecureStorageError) {
            return try decode(T.self, from: stored)
        } catch {
            do {
                let migrated = try convert(decode(Old.self, from: stored))
                bytes = try encode(migrated)
                return migrated
            } catch {
                throw ConversionFailure(cause: error)
            }
        }
    }

    private static func encode<T: Encodable>(_ value: T) throws(SecureStorageError) -> Data {
        do {
            let encoder = JSONEncoder()
            // Otherwise a `SecretValue` would be stored as a redaction.
            encoder.userInfo[.revealsSecrets] = true
            return try encoder.encode(value)
        } catch {
            throw .encodingFailed("\(T.self)\(placeOfCodingFailure(error))")
        }
    }

    private static func decode<T: Decodable>(_ type: T.Type, from bytes: Data) throws(SecureStorageError) -> T {
        do {
            let decoder = JSONDecoder()
            decoder.userInfo[.revealsSecrets] = true
            return try decoder.decode(type, fromStored: bytes)
        } catch {
            throw .decodingFailed("the value is not of type \(T.self)\(placeOfCodingFailure(error))")
        }
    }
}
