// SPDX-License-Identifier: Apache-2.0
// Where a manager looks for a television, and how long it waits.

extension LGTVControlManager {
    /// What is not the same in every household.
    ///
    /// ```swift
    /// var options = LGTVControlManager.Options()
    /// options.promptTimeout = .seconds(120)
    /// let manager = LGTVControlManager(options: options)
    /// ```
    public struct Options: Sendable {
        /// Where televisions take encrypted connections.
        public var tlsPort = 3001
        /// Where televisions take open ones, as those of before 2022 do.
        public var port = 3000
        /// Where the packet that wakes a television goes, besides its own address.
        public var broadcastAddress = "255.255.255.255"
        /// The port of that packet.
        public var wakePort = 9
        /// How long to try, while the television may still start.
        public var connectTimeout: Duration = .seconds(30)
        /// How long each step of one of these tries may take: finding the name, and connecting to a port.
        public var attemptTimeout: Duration = .seconds(5)
        /// The pause between two of them.
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
