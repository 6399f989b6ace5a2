// SPDX-License-Identifier: Apache-2.0
// Connections through the library.

#if TPM
    import Foundation
    import KeychainEngine
    import SecretMemory

    /// Connects to the TPM that a name of the library describes.
    struct TCTITransport: TPMTransport {
        let name: String
        /// For each command.
        let timeout: Duration

        func connect() throws(KeychainError) -> any TPMChannel {
            try TPMPlace(name).check()
            let (library, name) = (try TCTILibrary.load(), name)
            let result = try LimitedCall.run(within: timeout) { () -> Result<TCTIContext, KeychainError> in
                do throws(KeychainError) { return .success(try TCTIContext(library, name)) } catch {
                    return .failure(error)
                }
            } late: { _ in
                // The context closes itself.
            }
            return TCTIChannel(try result.get(), timeout)
        }
    }

    /// A connection. Once a command has failed, it is not used again: the response might still come.
    private final class TCTIChannel: TPMChannel {
        private var context: TCTIContext?
        private let timeout: Duration

        init(_ context: TCTIContext, _ timeout: Duration) { (self.context, self.timeout) = (context, timeout) }

        func exchange(_ command: [UInt8]) throws(KeychainError) -> [UInt8] {
            guard let context else { throw .lostTPM(nil) }
            let timeout = timeout
            // Until it succeeds. A thread that does not return keeps the context.
            self.context = nil
            let result = try LimitedCall.run(within: timeout) { () -> Result<[UInt8], KeychainError> in
                do throws(KeychainError) { return .success(try context.exchange(command, within: timeout)) } catch {
                    return .failure(error)
                }
            } late: { _ in
                context.close()
            }
            let response = try result.get()
            self.context = context
            return response
        }

        func close() {
            context?.close()
            context = nil
        }
    }

    /// What a name says about where the TPM is. Checked first, because the library prints its own errors on the standard error.
    private struct TPMPlace {
        let name: String

        init(_ name: String) { self.name = name }

        func check() throws(KeychainError) {
            if let path = path(after: "device:") {
                guard access(path, R_OK | W_OK) == 0 else { throw refusal(path, errno) }
            } else if let path = path(after: "swtpm:path=") {
                guard isListening(path + ".ctrl") else { throw .unreachableTPM(name, nil) }
            }
        }

        private func path(after prefix: String) -> String? {
            guard name.hasPrefix(prefix), name.count > prefix.count else { return nil }
            return String(name.dropFirst(prefix.count).prefix { $0 != "," })
        }

        private func refusal(_ path: String, _ code: Int32) -> KeychainError {
            guard code == EACCES || code == EPERM else {
                return KeychainError(
                    .unavailable, "There is no TPM at '\(path)'. Turn it on in the settings of the firmware.")
            }
            return KeychainError(
                .unavailable,
                "This user may not use the TPM '\(path)'. Add the user to the group of that file (on most systems: tss), "
                    + "and log in again.")
        }

        private func isListening(_ path: String) -> Bool {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let room = MemoryLayout.size(ofValue: address.sun_path)
            guard path.utf8.count < room else { return false }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            #if canImport(Darwin)
                let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
            #elseif canImport(Musl)
                let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM) | Int32(SOCK_CLOEXEC) | Int32(SOCK_NONBLOCK), 0)
            #else
                let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
                let descriptor = socket(AF_UNIX, Int32(kind), 0)
            #endif
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    // EAGAIN: somebody listens, but the queue is full.
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 || errno == EAGAIN
                }
            }
        }
    }
#endif
