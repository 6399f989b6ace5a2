// SPDX-License-Identifier: Apache-2.0
// How long a call may take.

/// How long a call may take: one time for the keychain itself, another for a person who has to be asked.
///
/// ```swift
/// var store = SecretStore(service: "com.example.app")
/// store.deadline = Deadline(silent: .seconds(1), asking: .seconds(60))
/// ```
///
/// While a person is waited for, the first time stands still. A change whose call has timed out or was cancelled happened, as
/// a whole, before the error was thrown, or never happens. A change that is being committed when the time is up is waited for,
/// which takes as long as the disk. Over Apple's keychain, which knows no end of a call, a change that it had been given
/// already may still happen.
public struct Deadline: Hashable, Sendable {
    /// For the work of the keychain, waiting for other programs included.
    public var silent: Duration
    /// For answers of a person.
    public var asking: Duration

    /// Ten seconds for the keychain and five minutes for a person: what asynchronous calls have if nothing else is said.
    public static let standard = Deadline(silent: .seconds(10), asking: .seconds(300))

    public init(silent: Duration, asking: Duration = .seconds(300)) {
        self.silent = silent
        self.asking = asking
    }
}

/// What is left of a deadline, and which of its two times runs.
struct Budget {
    private var left: Deadline
    private(set) var isAsking = false
    private var since: Duration

    init(_ deadline: Deadline, at now: Duration) {
        left = deadline
        since = now
    }

    /// When the time that runs is up.
    var end: Duration { since + (isAsking ? left.asking : left.silent) }

    mutating func setAsking(_ isAsking: Bool, at now: Duration) {
        guard isAsking != self.isAsking else { return }
        if self.isAsking { left.asking -= now - since } else { left.silent -= now - since }
        self.isAsking = isAsking
        since = now
    }
}
