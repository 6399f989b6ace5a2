// SPDX-License-Identifier: Apache-2.0
// What carries commands to a TPM.

#if TPM
    package import KeychainEngine

    /// Connects to a TPM. The tests have transports of their own.
    package protocol TPMTransport: Sendable {
        func connect() throws(KeychainError) -> any TPMChannel
    }

    /// A connection, for one thread at a time.
    package protocol TPMChannel: AnyObject {
        /// Sends a command, and waits for the response.
        ///
        /// - Parameter limit: How long, unless the connection has a shorter limit.
        /// - Throws: `timedOut`, or `unavailable` if the connection has ended. No later call succeeds then.
        func exchange(_ command: [UInt8], within limit: Duration) throws(KeychainError) -> [UInt8]

        /// Takes no longer than a few seconds.
        func close()
    }
#endif
