// SPDX-License-Identifier: Apache-2.0
// Keys that live in a TPM: the entry points of this module.

#if TPM
    import Crypto
    public import Foundation
    public import KeychainEngine
    public import SecretMemory

    /// A TPM 2.0 as the token of P-256 keys: it makes, signs and agrees, and never gives a private key out.
    ///
    /// ```swift
    /// let token = TPMToken()
    /// let key = try token.makeKey()
    /// let signature = try token.sign(Data(SHA256.hash(data: message)), of: .sha256, with: key.object)
    /// ```
    ///
    /// The library `libtss2-tctildr.so.0` of tpm2-tss connects to the TPM. It is loaded at the first use; building needs nothing
    /// of it. It prints errors of the connection on the standard error, unless the environment of the program has
    /// `TSS2_LOG=all+NONE`. The usual reasons are found before it is called, and are only thrown. Since it obeys the environment, a
    /// program with rights that its caller does not have (setuid) uses no TPM: `unsupported`.
    ///
    /// Keys belong to the owner hierarchy and have no password. Signing and agreement count no wrong tries, and also work while the
    /// TPM is locked because of wrong PINs. After the TPM was cleared, and on another machine, the keys are lost:
    /// `ofAnotherDevice`.
    ///
    /// What is secret is encrypted between this process and the TPM, and responses that the TPM did not send are refused. Only the
    /// TPM that is reached when a key is made is trusted without proof.
    ///
    /// Operations of one value run one after the other. Several programs can use the TPM at once through `/dev/tpmrm0`. Without
    /// that resource manager (`/dev/tpm0`, swtpm) they also share its three places for keys: an operation waits up to 10 seconds
    /// for one, and a program that is killed leaves its places taken until the machine is restarted.
    ///
    /// Does not protect against programs that may use the TPM and read the object: they can sign, but not copy the key.
    public struct TPMToken: KeyToken {
        public let identifier = "tpm"
        public let name = "TPM"
        let device: Device

        /// The TPM of this machine, through the kernel's resource manager.
        public static let defaultConnection = "device:/dev/tpmrm0"

        /// Does not connect yet.
        ///
        /// - Parameters:
        ///   - connection: The name of a TPM for tpm2-tss (TCTI), for example `swtpm:path=/run/tpm.sock`.
        ///   - timeout: How long each command may take. Slow TPMs need seconds for a key. An operation has up to eight commands.
        public init(connection: String = defaultConnection, timeout: Duration = .seconds(60)) {
            device = Device(TCTITransport(name: connection, timeout: timeout), timeout: timeout)
        }

        package init(
            _ transport: any TPMTransport, patience: Duration = .seconds(10), timeout: Duration = .seconds(60)
        ) {
            device = Device(transport, patience: patience, timeout: timeout)
        }

        public func makeKey() throws(KeychainError) -> TokenKey {
            do throws(TPMFailure) {
                let object = try device.converse(nil) { (conversation) throws(TPMFailure) in
                    try conversation.create(.privateKey)
                }
                guard Self.isPoint(object.area.publicKey) else { throw .malformed }
                return TokenKey(object: object.data, publicKey: Data(object.area.publicKey))
            } catch {
                throw error.error
            }
        }

        public func sign(_ digest: Data, of hash: TokenHash, with object: Data) throws(KeychainError) -> Data {
            guard digest.count == hash.digestLength else {
                throw KeychainError(
                    .invalidParameter, "A digest of \(hash.rawValue) has \(hash.digestLength) bytes.")
            }
            let object = try WrappedObject(object, oneOf: [.privateKey])
            return try use(object) { (conversation, key) throws(TPMFailure) in
                var parameters = MessageWriter()
                parameters.put(sized: digest)
                parameters.put(AlgorithmID.ecdsa)
                parameters.put(hash.algorithm)
                // No ticket: the digest was made here.
                parameters.put(Tag.hashCheck)
                parameters.put(Handle.null)
                parameters.put(UInt16(0))
                let response = try conversation.run(.sign, on: key, .encryptedCommand, parameters.bytes)
                return try read(response.parameters) { (reader) throws(MalformedMessage) in
                    guard try reader.number(UInt16.self) == AlgorithmID.ecdsa,
                        try reader.number(UInt16.self) == hash.algorithm
                    else { throw MalformedMessage() }
                    let signature = try reader.coordinate() + (try reader.coordinate())
                    try reader.end()
                    return Data(signature)
                }
            } explaining: { code in
                guard code.isUnsupportedHash else { return nil }
                return KeychainError(
                    .unsupported, "The TPM does not sign digests of \(hash.rawValue). Use SHA-256.")
            }
        }

        public func agree(with publicKey: Data, object: Data) throws(KeychainError) -> SecretBytes {
            guard publicKey.count == 65, Self.isPoint(Array(publicKey)) else {
                throw KeychainError(.invalidParameter, "The public key is not a point of P-256.")
            }
            let object = try WrappedObject(object, oneOf: [.privateKey])
            return try use(object) { (conversation, key) throws(TPMFailure) in
                var parameters = MessageWriter()
                parameters.put(sized: EncodedPoint(Array(publicKey)).bytes)
                var response = try conversation.run(
                    .ecdhZGen, on: key, [.encryptedCommand, .encryptedResponse], parameters.bytes)
                defer { response.parameters.wipe() }
                return try read(response.parameters) { (reader) throws(MalformedMessage) in
                    var inner = MessageReader(try reader.sized())
                    var x = try inner.coordinate()
                    defer { x.wipe() }
                    _ = try inner.coordinate()
                    try inner.end()
                    return x.withUnsafeBytes { SecretBytes(copying: $0) }
                }
            } explaining: { _ in
                nil
            }
        }

        /// A TPM keeps nothing of a key, so this does nothing.
        public func forget(_: Data) {}

        // MARK: - Helpers

        private func use<Result>(
            _ object: WrappedObject,
            _ body: (Conversation, Conversation.Loaded) throws(TPMFailure) -> Result,
            explaining explanation: (ResponseCode) -> KeychainError?
        ) throws(KeychainError) -> Result {
            do throws(TPMFailure) {
                return try device.converse(object.storageKeyName) { (conversation) throws(TPMFailure) in
                    try body(conversation, try conversation.load(object))
                }
            } catch {
                if case .refused(let code, let command) = error {
                    if command == .load, code.isDamage { throw .damagedObject }
                    if let explained = explanation(code) { throw explained }
                }
                throw error.error
            }
        }

        private static func isPoint(_ bytes: [UInt8]) -> Bool {
            do {
                _ = try P256.KeyAgreement.PublicKey(x963Representation: bytes)
                return true
            } catch {
                return false
            }
        }
    }

    extension TokenHash {
        fileprivate var algorithm: UInt16 {
            switch self {
            case .sha1: AlgorithmID.sha1
            case .sha256: AlgorithmID.sha256
            case .sha384: AlgorithmID.sha384
            case .sha512: AlgorithmID.sha512
            }
        }

        fileprivate var digestLength: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }
#endif
