// SPDX-License-Identifier: Apache-2.0
// A token of tests: it plays hardware, with keys in memory.

package import Foundation
package import KeychainEngine
import KeychainKeys
package import SecretMemory
import Synchronization

/// A token whose keys nothing gets out. Its objects mean nothing to another token.
package final class TokenDouble: KeyToken {
    private struct State {
        var keys: [Data: PrivateKey] = [:]
        var planted: PrivateKey?
        var failure: KeychainError?
        var calls: [String] = []
    }

    package let identifier: String
    package let name = "Token of tests"
    private let hashes: Set<TokenHash>
    private let state = Mutex(State())

    /// - Parameter hashes: The hashes whose digests it signs.
    package init(_ identifier: String = "double", hashes: Set<TokenHash> = Set(TokenHash.allCases)) {
        (self.identifier, self.hashes) = (identifier, hashes)
    }

    /// The names of the calls, but those that failed as ``fail(_:)`` says.
    package var calls: [String] { state.withLock { $0.calls } }
    package var keyCount: Int { state.withLock { $0.keys.count } }

    /// Makes each call fail; `nil`: none.
    package func fail(_ failure: KeychainError?) { state.withLock { $0.failure = failure } }

    /// Makes the next new key this one, in the form of `SecKeyCopyExternalRepresentation`.
    package func plant(_ bytes: Data) throws {
        let key = try PrivateKey(.p256, externalRepresentation: bytes.withUnsafeBytes { SecretBytes(copying: $0) })
        state.withLock { $0.planted = key }
    }

    package func makeKey() throws(KeychainError) -> TokenKey {
        try begin("make")
        let object = SecretBytes.random(count: 120).withUnsafeBytes { Data($0) }
        let planted = state.withLock { $0.planted.take() }
        let key = try translating { () throws(KeyFailure) in
            if let planted { planted } else { try PrivateKey.generate(.p256) }
        }
        state.withLock { $0.keys[object] = key }
        return TokenKey(object: object, publicKey: key.publicKey.externalRepresentation)
    }

    package func sign(_ digest: Data, of hash: TokenHash, with object: Data) throws(KeychainError) -> Data {
        try begin("sign \(hash)")
        guard hashes.contains(hash) else { throw KeychainError(.unsupported, "No such hash.") }
        let key = try key(object)
        return try translating { () throws(KeyFailure) in
            try key.loaded().sign(digest, .ecdsaSignatureOfAnyDigest(.raw))
        }
    }

    package func agree(with publicKey: Data, object: Data) throws(KeychainError) -> SecretBytes {
        try begin("agree")
        let key = try key(object)
        return try translating { () throws(KeyFailure) in
            try key.exchange(with: PublicKey(.p256, externalRepresentation: publicKey), .keyExchange(.standard))
        }
    }

    package func forget(_ object: Data) throws(KeychainError) {
        try begin("forget")
        state.withLock { $0.keys[object] = nil }
    }

    private func begin(_ call: String) throws(KeychainError) {
        let failure = state.withLock { state in
            if state.failure == nil { state.calls.append(call) }
            return state.failure
        }
        if let failure { throw failure }
    }

    private func key(_ object: Data) throws(KeychainError) -> PrivateKey {
        guard let key = state.withLock({ $0.keys[object] }) else {
            throw KeychainError(.ofAnotherDevice, "Another token made this key.")
        }
        return key
    }

    private func translating<Result>(_ body: () throws(KeyFailure) -> Result) throws(KeychainError) -> Result {
        do throws(KeyFailure) {
            return try body()
        } catch {
            throw KeychainError(.invalidParameter, "The token refuses: \(error)")
        }
    }
}
