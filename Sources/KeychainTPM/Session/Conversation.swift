// SPDX-License-Identifier: Apache-2.0
// The commands of one operation, over one connection.

#if TPM
    import Crypto
    import Foundation
    import KeychainEngine
    import SecretMemory

    /// One operation's connection, with the storage key and a session for it. What it puts into the TPM is removed when it ends,
    /// because a TPM has only three places for keys.
    final class Conversation {
        private let channel: any TPMChannel
        private let timeout: Duration
        private var session: AuthorizedSession?
        private var storageKey: (handle: UInt32, area: PublicArea)?
        /// What has to be removed.
        private var handles: [UInt32] = []

        /// - Parameter timeout: For each command, with all its repetitions.
        init(_ channel: any TPMChannel, timeout: Duration) { (self.channel, self.timeout) = (channel, timeout) }

        /// - Parameter name: The name that the storage key must have; `nil`: any.
        func begin(_ name: [UInt8]?) throws(TPMFailure) {
            let key = try createStorageKey()
            storageKey = key
            // Before the salt: another TPM must not get what this one is told.
            guard name == nil || name == key.area.name else { throw .ofAnotherDevice }
            session = try startSession(key.handle, key.area)
        }

        /// Removes what is in the TPM. If that fails, the connection has failed; the kernel then removes everything.
        func end() {
            for handle in handles.reversed() where !flush(handle) { break }
            handles = []
            channel.close()
        }

        /// - Returns: Whether the connection still works.
        private func flush(_ handle: UInt32) -> Bool {
            var command = MessageWriter(capacity: 32)
            command.putHeader(.flushContext)
            command.put(handle)
            do throws(TPMFailure) {
                _ = try send(command.finished, .flushContext)
            } catch {
                if case .other = error { return false }
            }
            return true
        }

        // MARK: - Objects

        var storageKeyName: [UInt8] { storageKey?.area.name ?? [] }

        struct Loaded {
            let handle: UInt32
            let name: [UInt8]
            var authorization: SecretBytes?
        }

        /// A new object under the storage key.
        ///
        /// - Parameters:
        ///   - authorization: The secret that each use needs.
        ///   - secret: What the object holds; `nil`: a key that the TPM makes.
        func create(
            _ kind: ObjectKind, authorization: SecretBytes? = nil, holding secret: SecretBytes? = nil
        ) throws(TPMFailure) -> WrappedObject {
            var parameters = MessageWriter()
            defer { parameters.wipe() }
            parameters.putSized {
                $0.put(sized: authorization)
                $0.put(sized: secret)
            }
            parameters.put(sized: kind.template)
            // No data from outside, and no state of the machine
            parameters.put(UInt16(0))
            parameters.put(UInt32(0))
            let response = try runOnStorageKey(.create, [.encryptedCommand, .encryptedResponse], parameters.bytes)
            return try read(response.parameters) { (reader) throws(MalformedMessage) in
                let sealed = try reader.sized()
                let area = try PublicArea(try reader.sized(), oneOf: [kind])
                return try WrappedObject(area, sealed: sealed, storageKeyName: storageKeyName)
            }
        }

        func load(_ object: WrappedObject) throws(TPMFailure) -> Loaded {
            var parameters = MessageWriter()
            parameters.put(sized: object.sealed)
            parameters.put(sized: object.area.bytes)
            let response = try runOnStorageKey(
                .load, [.encryptedCommand, .encryptedResponse], parameters.bytes, givesHandle: true)
            try read(response.parameters) { (reader) throws(MalformedMessage) in
                guard try reader.sized() == object.area.name else { throw MalformedMessage() }
                try reader.end()
            }
            return Loaded(handle: response.handle, name: object.area.name)
        }

        private func runOnStorageKey(
            _ code: CommandCode, _ protection: SessionAttributes, _ parameters: [UInt8], givesHandle: Bool = false
        ) throws(TPMFailure) -> (handle: UInt32, parameters: [UInt8]) {
            guard let storageKey else { throw .malformed }
            let key = Loaded(handle: storageKey.handle, name: storageKey.area.name)
            return try run(code, on: key, protection, parameters, givesHandle: givesHandle)
        }

        // MARK: - Commands

        /// Runs a command in the session.
        ///
        /// - Parameter protection: Whether the first parameters are encrypted.
        func run(
            _ code: CommandCode, on object: Loaded, _ protection: SessionAttributes, _ parameters: [UInt8],
            givesHandle: Bool = false
        ) throws(TPMFailure) -> (handle: UInt32, parameters: [UInt8]) {
            guard var session else { throw .malformed }
            let sent = try session.send(
                AuthorizedSession.Command(
                    code: code, handle: object.handle, name: object.name, authorization: object.authorization,
                    attributes: protection.union(.continueSession), parameters: parameters))
            var response = try send(sent.message, code, expecting: Tag.sessions)
            let handle = givesHandle ? try transientHandle(&response) : Handle.null
            let result = try session.receive(response, to: sent)
            self.session = session
            return (handle, result)
        }

        private func createStorageKey() throws(TPMFailure) -> (handle: UInt32, area: PublicArea) {
            var command = MessageWriter()
            command.putHeader(.createPrimary, Tag.sessions)
            command.put(Handle.owner)
            // The owner's password, which is empty
            command.put(UInt32(9))
            command.put(Handle.password)
            command.put([UInt8](repeating: 0, count: 5))
            // The key is derived, so it holds nothing from here.
            command.put(sized: [0, 0, 0, 0])
            command.put(sized: ObjectKind.storageKey.template)
            command.put(UInt16(0))
            command.put(UInt32(0))
            var response = try send(command.finished, .createPrimary, expecting: Tag.sessions)
            let handle = try transientHandle(&response)
            let area = try read(response) { (reader) throws(MalformedMessage) in
                _ = try reader.number(UInt32.self)
                return try PublicArea(try reader.sized(), oneOf: [.storageKey])
            }
            return (handle, area)
        }

        private func startSession(_ key: UInt32, _ area: PublicArea) throws(TPMFailure) -> AuthorizedSession {
            let (salt, encryptedSalt) = try Self.salt(for: area)
            let nonce = freshNonce()
            var command = MessageWriter()
            command.putHeader(.startAuthSession)
            command.put(key)
            command.put(Handle.null)
            command.put(sized: nonce)
            command.put(sized: encryptedSalt)
            // An HMAC session
            command.put(UInt8(0))
            for number in [AlgorithmID.aes, 128, AlgorithmID.cfb, AlgorithmID.sha256] { command.put(number) }
            let response = try send(command.finished, .startAuthSession)
            let (handle, nonceOfTPM) = try read(response) { (reader) throws(MalformedMessage) in
                let handle = try reader.number(UInt32.self)
                guard Handle.isHMACSession(handle) else { throw MalformedMessage() }
                let nonce = try reader.sized()
                try reader.end()
                return (handle, nonce)
            }
            handles.append(handle)
            guard nonceOfTPM.count >= 16 else { throw .malformed }
            return AuthorizedSession(handle, salt: salt, nonceOfTPM: nonceOfTPM, nonceOfCaller: nonce)
        }

        /// A secret, and how only the storage key's TPM finds it: a point of which both derive it.
        private static func salt(for area: PublicArea) throws(TPMFailure) -> (SecretBytes, [UInt8]) {
            do {
                let own = P256.KeyAgreement.PrivateKey()
                let shared = try own.sharedSecretFromKeyAgreement(
                    with: P256.KeyAgreement.PublicKey(x963Representation: area.publicKey))
                let point = Array(own.publicKey.x963Representation)
                let salt = KeyDerivation.key(
                    fromShared: shared, "SECRET", Array(point[1..<33]), Array(area.publicKey[1..<33]))
                return (salt, EncodedPoint(point).bytes)
            } catch {
                throw .malformed
            }
        }

        // MARK: - Messages

        /// What a TPM gets that is busy with itself.
        private static let pause = Duration.milliseconds(20)

        private func transientHandle(_ response: inout MessageReader) throws(TPMFailure) -> UInt32 {
            var reader = response
            let handle: UInt32
            do throws(MalformedMessage) { handle = try reader.number() } catch { throw .malformed }
            guard Handle.isTransient(handle) else { throw .malformed }
            response = reader
            // Also if the rest of the response is wrong
            handles.append(handle)
            return handle
        }

        /// Sends a command until the TPM is not busy with itself, or the time is over.
        ///
        /// - Returns: What follows the header of the response.
        func send(
            _ command: [UInt8], _ code: CommandCode, expecting tag: UInt16 = Tag.noSessions
        ) throws(TPMFailure) -> MessageReader {
            let end = ContinuousClock.now + timeout
            while true {
                let response: [UInt8]
                let left = max(.zero, end - .now)
                do throws(KeychainError) { response = try channel.exchange(command, within: left) } catch {
                    throw .other(error)
                }
                let (actualTag, result, rest) = try read(MessageReader(response)) { (reader) throws(MalformedMessage) in
                    let tag = try reader.number(UInt16.self)
                    guard Int(try reader.number(UInt32.self)) == response.count else { throw MalformedMessage() }
                    return (tag, ResponseCode(raw: try reader.number()), reader)
                }
                if result.isTemporary {
                    guard ContinuousClock.now + Self.pause < end else { throw .other(.busyTPM) }
                    usleep(UInt32(Self.pause.milliseconds) * 1000)
                    continue
                }
                guard result.isSuccess else { throw .refused(result, code) }
                guard actualTag == tag else { throw .malformed }
                return rest
            }
        }
    }

    /// Reads a response.
    func read<Result>(
        _ response: MessageReader, _ body: (inout MessageReader) throws(MalformedMessage) -> Result
    ) throws(TPMFailure) -> Result {
        var reader = response
        do throws(MalformedMessage) { return try body(&reader) } catch { throw .malformed }
    }

    func read<Result>(
        _ parameters: [UInt8], _ body: (inout MessageReader) throws(MalformedMessage) -> Result
    ) throws(TPMFailure) -> Result {
        try read(MessageReader(parameters), body)
    }
#endif
