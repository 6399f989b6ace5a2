// SPDX-License-Identifier: Apache-2.0
// A TPM that is used by one operation at a time.

#if TPM
    import Foundation
    import KeychainEngine
    import SecretMemory

    /// A TPM. Each operation has a connection of its own, so that other programs get their turn.
    struct Device: Sendable {
        private let transport: any TPMTransport
        /// How long an operation waits for places that other programs take.
        private let patience: Duration
        /// For each command.
        private let timeout: Duration
        /// The number of operations so far. It is the lock that counts.
        private let turn = Guarded(0)

        init(_ transport: any TPMTransport, patience: Duration = .seconds(10), timeout: Duration = .seconds(60)) {
            (self.transport, self.patience, self.timeout) = (transport, patience, timeout)
        }

        /// - Parameters:
        ///   - name: The name that the storage key must have; `nil`: any.
        ///   - body: Runs again if the TPM has no place.
        func converse<Result>(
            _ name: [UInt8]?, _ body: (Conversation) throws(TPMFailure) -> Result
        ) throws(TPMFailure) -> Result {
            try turn.withLock { (count) throws(TPMFailure) in
                count &+= 1
                let end = ContinuousClock.now + patience
                while true {
                    do throws(TPMFailure) {
                        return try attempt(name, body)
                    } catch {
                        guard case .refused(let code, _) = error, code.isOutOfPlaces, ContinuousClock.now < end else {
                            throw error
                        }
                        // Programs that wait for each other must not try at the same time again.
                        usleep(.random(in: 5_000...50_000))
                    }
                }
            }
        }

        private func attempt<Result>(
            _ name: [UInt8]?, _ body: (Conversation) throws(TPMFailure) -> Result
        ) throws(TPMFailure) -> Result {
            let conversation = Conversation(try connect(), timeout: timeout)
            defer { conversation.end() }
            try conversation.begin(name)
            return try body(conversation)
        }

        func connect() throws(TPMFailure) -> any TPMChannel {
            do throws(KeychainError) { return try transport.connect() } catch { throw .other(error) }
        }
    }
#endif
