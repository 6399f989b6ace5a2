// SPDX-License-Identifier: Apache-2.0
// How long a call may take.

/// How long a call may take. It has one limit for the keychain and one for the user.
///
/// ```swift
/// var store = SecretStore(service: "com.example.app")
/// store.timeout = Timeout(operation: .seconds(1), userInteraction: .seconds(60))
/// ```
///
/// A call whose time is up throws `timedOut`. While the user is being asked, ``operation`` is paused and
/// ``userInteraction`` runs. If a call asks several times, the times of all its questions are added.
///
/// If a call that changes something times out or is cancelled, the change is either complete before the error is
/// thrown, or it never happens. If the change is being committed when the time is up, the call waits for the commit,
/// which takes as long as the disk needs. Apple's keychain cannot end a call: a change that it has already received may
/// still happen.
public struct Timeout: Hashable, Sendable {
    /// The limit for the keychain's work, including waiting for other programs that use the keychain.
    public var operation: Duration
    /// The limit for the user's answers. The default is five minutes.
    public var userInteraction: Duration

    /// Ten seconds for the keychain and five minutes for the user. Asynchronous calls use it if the store has no
    /// timeout.
    public static let standard = Timeout(operation: .seconds(10))

    /// - Parameters:
    ///   - operation: The limit for the keychain's work.
    ///   - userInteraction: The limit for the user's answers.
    public init(operation: Duration, userInteraction: Duration = .seconds(300)) {
        self.operation = operation
        self.userInteraction = userInteraction
    }
}

/// What is left of a timeout, and which of its two limits is running.
struct Budget {
    private var left: Timeout
    private(set) var isAsking = false
    private var since: Duration

    init(_ timeout: Timeout, at now: Duration) {
        left = timeout
        since = now
    }

    /// When the running limit is reached.
    var end: Duration { since + (isAsking ? left.userInteraction : left.operation) }

    mutating func setAsking(_ isAsking: Bool, at now: Duration) {
        guard isAsking != self.isAsking else { return }
        if self.isAsking { left.userInteraction -= now - since } else { left.operation -= now - since }
        self.isAsking = isAsking
        since = now
    }
}
