// SPDX-License-Identifier: Apache-2.0
// Commands whose secrets only the TPM reads, and responses that only the TPM can have sent.

#if TPM
    import Crypto
    import Foundation
    import SecretMemory

    /// An HMAC session that is salted for the storage key: only the TPM that has this key knows the key of the session.
    ///
    /// Each command and each response has a code over all of it (HMAC-SHA-256), and nonces of both sides. See "Part 1:
    /// Architecture", 17 and 19.
    struct AuthorizedSession {
        let handle: UInt32
        private let key: SecretBytes
        private var nonceOfTPM: [UInt8]

        static let nonceLength = 32

        init(_ handle: UInt32, salt: SecretBytes, nonceOfTPM: [UInt8], nonceOfCaller: [UInt8]) {
            self.handle = handle
            self.nonceOfTPM = nonceOfTPM
            key = KeyDerivation.key(from: salt, "ATH", nonceOfTPM, nonceOfCaller)
        }

        /// A command for one object.
        struct Command {
            let code: CommandCode
            let handle: UInt32
            /// The name of the object behind the handle.
            let name: [UInt8]
            /// Without zeros at its end, as TPMs keep them.
            let authorization: SecretBytes?
            let attributes: SessionAttributes
            /// If the command is to be encrypted, the first has its size in front.
            let parameters: [UInt8]
        }

        /// A command as it is sent, and what its response is checked with.
        struct Sent {
            let message: [UInt8]
            let secret: SecretBytes
            let nonce: [UInt8]
            let command: Command
        }

        /// - Parameter command: Its parameters are wiped by the caller.
        func send(_ command: Command) throws(TPMFailure) -> Sent {
            let secret = command.authorization.map { SecretBytes.concatenating(key, $0) } ?? key
            let nonce = freshNonce()
            var parameters = command.parameters
            if command.attributes.contains(.encryptedCommand) {
                try ParameterCipher(secret, newer: nonce, older: nonceOfTPM)
                    .encrypt(&parameters, in: try Self.firstParameter(parameters))
            }
            var message = MessageWriter()
            message.put(Tag.sessions)
            message.put(UInt32(0))
            message.put(command.code.rawValue)
            message.put(command.handle)
            message.put(UInt32(4 + 2 + nonce.count + 1 + 2 + SHA256.byteCount))
            message.put(handle)
            message.put(sized: nonce)
            message.put(command.attributes.rawValue)
            let digest = SHA256.hash(data: bigEndian(command.code.rawValue) + command.name + parameters)
            message.put(
                sized: Array(code(over: digest, nonce, nonceOfTPM, command.attributes.rawValue, secret)))
            message.put(parameters)
            message.replace(at: 2, with: UInt32(message.bytes.count))
            return Sent(message: message.bytes, secret: secret, nonce: nonce, command: command)
        }

        /// The parameters of the response, decrypted.
        ///
        /// - Parameter response: What follows the handles.
        mutating func receive(_ response: MessageReader, to sent: Sent) throws(TPMFailure) -> [UInt8] {
            let answer = try Answer(response)
            let digest = SHA256.hash(
                data: bigEndian(ResponseCode.success) + bigEndian(sent.command.code.rawValue) + answer.parameters)
            let expected = code(over: digest, answer.nonce, sent.nonce, answer.attributes, sent.secret)
            guard expected == answer.code else { throw .notAuthentic }
            guard answer.attributes & SessionAttributes.continueSession.rawValue != 0 else { throw .malformed }
            var parameters = answer.parameters
            if sent.command.attributes.contains(.encryptedResponse) {
                try ParameterCipher(sent.secret, newer: answer.nonce, older: sent.nonce)
                    .decrypt(&parameters, in: try Self.firstParameter(parameters))
            }
            nonceOfTPM = answer.nonce
            return parameters
        }

        /// A response apart from its header and its handles.
        private struct Answer {
            let parameters: [UInt8]
            let nonce: [UInt8]
            let attributes: UInt8
            let code: [UInt8]

            init(_ response: MessageReader) throws(TPMFailure) {
                do throws(MalformedMessage) {
                    var reader = response
                    parameters = try reader.bytes(Int(try reader.number(UInt32.self)))
                    nonce = try reader.sized()
                    attributes = try reader.number()
                    code = try reader.sized()
                    try reader.end()
                } catch {
                    throw .malformed
                }
            }
        }

        private func code(
            over digest: SHA256.Digest, _ newer: [UInt8], _ older: [UInt8], _ attributes: UInt8, _ secret: SecretBytes
        ) -> HMAC<SHA256>.MAC {
            var code = HMAC<SHA256>(key: secret.withUnsafeBytes { SymmetricKey(data: $0) })
            code.update(data: Array(digest) + newer + older + [attributes])
            return code.finalize()
        }

        private static func firstParameter(_ parameters: [UInt8]) throws(TPMFailure) -> Range<Int> {
            guard parameters.count >= 2 else { throw .malformed }
            let end = 2 + (Int(parameters[0]) << 8 | Int(parameters[1]))
            guard end <= parameters.count else { throw .malformed }
            return 2..<end
        }
    }

    func freshNonce() -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: AuthorizedSession.nonceLength)
        nonce.withUnsafeMutableBytes { fillWithRandomBytes($0) }
        return nonce
    }

    func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
#endif
