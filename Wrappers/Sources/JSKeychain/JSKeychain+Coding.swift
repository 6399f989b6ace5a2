// SPDX-License-Identifier: Apache-2.0
// Converts values to the bytes of items and back, and failures to errors.

import Foundation
@_spi(Wrappers) import KeychainKit

extension JSKeychain {
    /// All values are stored as JSON, including strings.
    func bytes<T: Encodable>(of item: T) throws(KeychainError) -> Data {
        do {
            return try configuration.encoder.encode(item)
        } catch {
            throw KeychainError(
                .typeMismatch, "A value of type \(T.self) cannot be encoded\(placeOfCodingFailure(error)).")
        }
    }

    func value<T: Decodable>(of bytes: Data?) throws(KeychainError) -> T {
        guard let bytes else { throw KeychainError(.itemNotFound, "There is no item for this service and account.") }
        do {
            return try configuration.decoder.decode(T.self, from: bytes)
        } catch {
            throw KeychainError(
                .typeMismatch,
                "The item's value is not JSON of type \(T.self)\(placeOfCodingFailure(error)). "
                    + "Read it as the type that it was saved as.")
        }
    }

    /// The items of a service, with the attributes of a value to save.
    func secrets(
        _ service: String, _ accessibility: JSKeychainAccessibility, _ options: JSBiometricOptions?
    ) -> EitherKindStore {
        var secrets = ownKind(service, prompt: options?.localizedReason)
        secrets.accessibility = accessibility.accessibility
        secrets.accessControl = options?.accessControl
        return EitherKindStore(secrets)
    }

    // MARK: - Failures

    func reporting<Result>(_ body: () throws(KeychainError) -> Result) throws(JSKeychainError) -> Result {
        do throws(KeychainError) {
            return try failures.recording(body)
        } catch {
            throw JSKeychainError(error)
        }
    }

    nonisolated(nonsending) func reporting<Result>(
        _ body: nonisolated(nonsending) () async throws(KeychainError) -> Result
    ) async throws(JSKeychainError) -> Result {
        do throws(KeychainError) {
            return try await failures.recording(body)
        } catch {
            throw JSKeychainError(error)
        }
    }

    func telling(_ body: () throws(KeychainError) -> Bool) -> Bool {
        do throws(KeychainError) { return try failures.recording(body) } catch { return false }
    }

    nonisolated(nonsending) func telling(
        _ body: nonisolated(nonsending) () async throws(KeychainError) -> Bool
    ) async -> Bool {
        do throws(KeychainError) { return try await failures.recording(body) } catch { return false }
    }
}
