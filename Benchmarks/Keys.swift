// SPDX-License-Identifier: Apache-2.0
// What a signature costs with a key of the vault, beside swift-crypto alone.

import Crypto
import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainServices

/// One P-256 key in a vault, and the same key in memory.
final class KeyBench {
    private let bench: Bench
    private let key = P256.Signing.PrivateKey()
    private let loaded: SecKey
    private let signer: KeychainSigner
    private let message = Data("a message of about forty characters, say".utf8)
    private let tag = "com.example.signing"

    init(parent: String) throws {
        bench = try Bench(size: 1000, parent: parent)
        let keys = KeyStore(store: bench.services.engine.store)
        try keys.save(key, tag: tag)
        guard let signer = try keys.signer(tag: tag) else { throw BenchError(status: errSecItemNotFound) }
        self.signer = signer
        loaded = try Self.opened(bench.services, tag)
    }

    func signAlone() throws { _ = try key.signature(for: message).derRepresentation }
    func signLoaded() throws { try Self.sign(message, with: loaded) }
    func openAndSign() throws { try Self.sign(message, with: Self.opened(bench.services, tag)) }
    func signThroughStore() throws { _ = try signer.sign(message, using: .ecdsaSHA256) }
    func open() throws { _ = try Self.opened(bench.services, tag) }
    func openAlone() throws { _ = try P256.Signing.PrivateKey(x963Representation: key.x963Representation) }
    func read(_ index: Int) throws { _ = try bench.floor.read(index % 1000, opening: true) }

    private static func sign(_ message: Data, with key: SecKey) throws {
        var error: Unmanaged<CFError>?
        let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        guard SecKeyCreateSignature(key, algorithm, message as CFData, &error) != nil else {
            throw BenchError(status: errSecInternalComponent)
        }
    }

    private static func opened(_ services: Services, _ tag: String) throws -> SecKey {
        var result: AnyObject?
        let query =
            [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: Data(tag.utf8),
                kSecAttrKeyClass: kSecAttrKeyClassPrivate,
                kSecReturnRef: true,
            ] as [CFString: Any]
        let status = services.copyMatching(query as NSDictionary, &result)
        guard status == errSecSuccess, let key = result as? SecKey else { throw BenchError(status: status) }
        return key
    }
}

func measureKeys(parent: String) throws {
    print("P-256 keys")
    let bench = try KeyBench(parent: parent)
    var timing = Timing()
    try timing.run(
        rounds: 9, count: 100,
        [
            ("signature, swift-crypto alone", { _ in try bench.signAlone() }),
            ("SecKeyCreateSignature, key loaded", { _ in try bench.signLoaded() }),
            ("signer, opens the key each time", { _ in try bench.signThroughStore() }),
            ("SecItemCopyMatching, and a signature", { _ in try bench.openAndSign() }),
            ("key from its bytes, swift-crypto alone", { _ in try bench.openAlone() }),
            ("read floor + open", { try bench.read($0) }),
            ("SecItemCopyMatching of a key", { _ in try bench.open() }),
        ])
    let alone = "signature, swift-crypto alone"
    report(
        timing,
        [
            (alone, nil), ("SecKeyCreateSignature, key loaded", alone), ("signer, opens the key each time", alone),
            ("SecItemCopyMatching, and a signature", alone), ("key from its bytes, swift-crypto alone", nil),
            ("read floor + open", nil), ("SecItemCopyMatching of a key", "read floor + open"),
        ])
}
