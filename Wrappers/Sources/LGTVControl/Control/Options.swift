// SPDX-License-Identifier: Apache-2.0
// Where a manager looks for a television, and how long it waits.

extension LGTVControlManager {
    /// Settings that differ between networks and televisions.
    ///
    /// ```swift
    /// var options = LGTVControlManager.Options()
    /// options.promptTimeout = .seconds(120)
    /// let manager = LGTVControlManager(options: options)
    /// ```
    public struct Options: Sendable {
        /// The port for encrypted connections.
        public var tlsPort = 3001
        /// The port for unencrypted connections, which televisions from before 2022 use.
        public var port = 3000
        /// The address that receives the wake-up packet, besides that of the television.
        public var broadcastAddress = "255.255.255.255"
        /// The port of that packet.
        public var wakePort = 9
        /// How long to try to connect, since the television may still be starting.
        public var connectTimeout: Duration = .seconds(30)
        /// How long each step of an attempt may take: the lookup of the name, and the connection to a port.
        public var attemptTimeout: Duration = .seconds(5)
        /// The pause between two attempts.
        public var retryInterval: Duration = .seconds(1)
        /// How long the person in front of the television may take to accept.
        public var promptTimeout: Duration = .seconds(60)
        /// How long the television may take to answer.
        public var requestTimeout: Duration = .seconds(10)
        /// Whether the status is written to the app group's defaults, for other programs.
        public var sharesStatus = true

        public init() {}
    }
}
