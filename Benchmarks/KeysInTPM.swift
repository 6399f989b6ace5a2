// SPDX-License-Identifier: Apache-2.0
// What a signature costs with a key in a TPM, beside the TPM itself, which here is swtpm.

import Crypto
import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainServices

#if TPM
    import KeychainTPM

    /// One key in a TPM that is stored in a vault, and one that stays loaded in the TPM.
    private final class TPMKeyBench {
        private let bench: Bench
        private let loaded: LoadedTPMKey
        private let token: TPMToken
        private let key: TokenKey
        private let timed: TimedTransport
        private let signer: KeychainSigner
        private let message = Data("a message of about forty characters, say".utf8)
        private let digest: [UInt8]

        init(_ tpm: SoftwareTPM, parent: String) throws {
            digest = Array(SHA256.hash(data: message))
            loaded = try LoadedTPMKey(tpm.socketPath)
            token = TPMToken(connection: "swtpm:path=" + tpm.socketPath)
            timed = TimedTransport(path: tpm.socketPath)
            key = try token.makeKey()
            bench = try Bench(size: 1000, parent: parent)
            var keys = KeyStore(store: bench.services.engine.store)
            keys.tokens = KeyTokens()
            try keys.tokens.use(token)
            try keys.create(.p256, tag: "t", protection: .hardware)
            guard let signer = try keys.signer(tag: "t") else { throw BenchError(status: errSecItemNotFound) }
            self.signer = signer
        }

        func signAlone() throws { try loaded.sign(digest) }
        func sign() throws { _ = try token.sign(Data(digest), of: .sha256, with: key.object) }
        func signThroughStore() throws { _ = try signer.sign(message, using: .ecdsaSHA256) }

        /// The same commands, and how long the TPM takes for them.
        func signOverSocket() throws {
            timed.begin()
            _ = try TPMToken(timed).sign(Data(digest), of: .sha256, with: key.object)
        }

        var timesOfTPM: [Double] { timed.sums }
    }

    /// The socket of swtpm without the library, which adds up the time until the TPM has answered.
    private final class TimedTransport: TPMTransport, TPMChannel, @unchecked Sendable {
        // Unchecked: the benchmark has one thread.
        private let path: String
        private var socket: TPMSocket?
        /// Microseconds for each signature.
        private(set) var sums: [Double] = []

        init(path: String) { self.path = path }

        func begin() { sums.append(0) }

        func connect() throws(KeychainError) -> any TPMChannel {
            guard let connection = TPMSocket(path) else { throw TPMSocket.failure }
            socket = connection
            return self
        }

        func exchange(_ command: [UInt8], within _: Duration) throws(KeychainError) -> [UInt8] {
            guard let socket else { throw TPMSocket.failure }
            let start = DispatchTime.now().uptimeNanoseconds
            defer { sums[sums.count - 1] += Double(DispatchTime.now().uptimeNanoseconds - start) / 1000 }
            return try socket.exchange(command)
        }

        func close() { socket = nil }
    }

    func measureKeysInTPM(parent: String) throws {
        print("a P-256 key in a TPM (swtpm)")
        guard let tpm = try SoftwareTPM.start() else {
            return print("  left out: swtpm is not installed (Debian: swtpm)")
        }
        defer { withExtendedLifetime(tpm) {} }
        let bench: TPMKeyBench
        do {
            bench = try TPMKeyBench(tpm, parent: parent)
        } catch let error as KeychainError where error.reason == .unavailable {
            return print("  left out: \(error.message)")
        }
        var timing = Timing()
        try timing.run(
            rounds: 9, count: 15,
            [
                ("sign command alone, sent to swtpm", { _ in try bench.signAlone() }),
                ("TPMToken, over the socket", { _ in try bench.signOverSocket() }),
                ("TPMToken, over the library", { _ in try bench.sign() }),
                ("signer of a key in the vault", { _ in try bench.signThroughStore() }),
            ])
        let alone = "sign command alone, sent to swtpm"
        report(
            timing,
            [
                (alone, nil), ("TPMToken, over the socket", alone), ("TPMToken, over the library", alone),
                ("signer of a key in the vault", alone),
            ])
        let own = Timing.median(bench.timesOfTPM)
        Row(name: "swtpm's time for the commands of TPMToken", micros: own, floor: alone, base: timing.median(alone))
            .print()
        let ratio = timing.median("signer of a key in the vault") / own
        print(String(format: "  the signer takes %.2f × swtpm's time for the same commands", ratio))
    }
#else
    func measureKeysInTPM(parent: String) throws {
        print("a P-256 key in a TPM: left out, since the trait TPM is off")
    }
#endif
