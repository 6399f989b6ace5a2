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
        /// Whether the caller of this program has fewer rights than it.
        var isPrivileged = ProcessEnvironment.isPrivileged
        /// For closing a connection: modules wait for the programs that they started, which may never end.
        var closingLimit = Duration.seconds(5)

        func connect() throws(KeychainError) -> any TPMChannel {
            guard !isPrivileged else { throw .privilegedTPM }
            try TPMPlace(name).check()
            let (library, name) = (try TCTILibrary.load(), name)
            let thread = try ConnectionThread()
            let result = try thread.run(within: timeout) { () -> Result<TCTIContext, KeychainError> in
                do throws(KeychainError) { return .success(try TCTIContext(library, name)) } catch {
                    return .failure(error)
                }
            } late: { result in
                if case .success(let context) = result { context.close() }
            }
            return TCTIChannel(try result.get(), thread, timeout, closingLimit)
        }
    }

    /// A connection. Once a command has failed, it is not used again: the response might still come.
    private final class TCTIChannel: TPMChannel {
        /// `nil` after it was closed, and while a thread has it.
        private var context: TCTIContext?
        private var hasFailed = false
        private let thread: ConnectionThread
        private let (timeout, closingLimit): (Duration, Duration)

        init(_ context: TCTIContext, _ thread: ConnectionThread, _ timeout: Duration, _ closingLimit: Duration) {
            (self.context, self.thread, self.timeout, self.closingLimit) = (context, thread, timeout, closingLimit)
        }

        func exchange(_ command: [UInt8], within limit: Duration) throws(KeychainError) -> [UInt8] {
            guard let context, !hasFailed else { throw .lostTPM(nil) }
            let timeout = min(timeout, limit)
            // Until it succeeds. A thread that does not return keeps the context.
            (self.context, hasFailed) = (nil, true)
            let result = try thread.run(within: timeout) { () -> Result<[UInt8], KeychainError> in
                do throws(KeychainError) { return .success(try context.exchange(command, within: timeout)) } catch {
                    return .failure(error)
                }
            } late: { _ in
                context.close()
            }
            self.context = context
            let response = try result.get()
            hasFailed = false
            return response
        }

        /// A failure is ignored: what does not end in time remains, with its thread.
        func close() {
            guard let context else { return }
            self.context = nil
            try? thread.run(within: closingLimit) {
                context.close()
            } late: { _ in
                // There is nothing to release.
            }
        }
    }
#endif
