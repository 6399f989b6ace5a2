// SPDX-License-Identifier: Apache-2.0
// The contract of an ItemStore as a list of checks that any test framework can run.

public import KeychainEngine

/// What every ``ItemStore`` has to do, as checks that each take a fresh, empty store.
///
/// With Swift Testing:
///
/// ```swift
/// @Test(arguments: StoreConformance.checks)
/// func store_checked_conforms(_ check: StoreConformance.Check) throws {
///     try check.run(on: StoreUnderTest(MyStore()))
/// }
/// ```
///
/// With anything else:
///
/// ```swift
/// let report = StoreConformance.run { StoreUnderTest(MyStore()) }
/// precondition(report.failures.isEmpty, "\(report)")
/// ```
///
/// Does not tell whether a store keeps secrets from anybody, nor whether it survives a crash.
public enum StoreConformance {
    /// One thing that a store has to do.
    public struct Check: Sendable, CustomStringConvertible {
        /// What a check takes besides a store.
        enum Requirement: Sendable {
            /// ``StoreUnderTest/setLockState``.
            case lock
            /// ``StoreUnderTest/tellsLockState``.
            case toldLockState
            /// ``StoreUnderTest/takesApplicationPasswords``.
            case applicationPasswords
            /// `hasTransactions` of the store.
            case transactions
            /// A store that notices changes.
            case observing
        }

        /// `subject_condition_outcome`.
        public let name: String
        let requirements: [Requirement]
        let body: @Sendable (Trial) throws -> Void

        init(_ name: String, needs requirements: Requirement..., body: @escaping @Sendable (Trial) throws -> Void) {
            self.name = name
            self.requirements = requirements
            self.body = body
        }

        public var description: String { name }

        /// Whether the check is skipped without ``StoreUnderTest/setLockState``: for tests whose stores are slow to
        /// make lockable.
        public var needsLock: Bool { requirements.contains(.lock) }

        /// Runs this check on a fresh, empty store, and leaves items in it.
        ///
        /// - Returns: Whether it could be made.
        /// - Throws: What was expected and what came.
        @discardableResult
        public func run(on subject: StoreUnderTest) throws(ConformanceFailure) -> Outcome {
            let trial = Trial(check: name, subject: subject)
            do {
                for requirement in requirements {
                    if let missing = try requirement.missing(trial) { return .skipped(missing) }
                }
                try body(trial)
                return .passed
            } catch {
                throw ConformanceFailure(check: name, error)
            }
        }

        /// The same for a store without hooks: what needs one is skipped.
        @discardableResult
        public func run(_ makeStore: () throws -> any ItemStore) throws(ConformanceFailure) -> Outcome {
            let store: any ItemStore
            do { store = try makeStore() } catch { throw ConformanceFailure(check: name, error) }
            return try run(on: StoreUnderTest(store))
        }
    }

    /// How a check ended that found nothing wrong.
    public enum Outcome: Hashable, Sendable {
        case passed
        /// The store, or the test, lacks what the check needs: what that is.
        case skipped(String)
    }

    /// All checks.
    public static let checks: [Check] = [
        inserting, keys, selecting, matching, values, updating, deleting, groups, transactions, observing, locking,
        asking, concurrency,
    ].flatMap { $0 }

    /// How all checks ended.
    public struct Report: Sendable, CustomStringConvertible {
        public internal(set) var passed: [String] = []
        /// Names of checks, with what they lacked.
        public internal(set) var skipped: [(check: String, lacking: String)] = []
        public internal(set) var failures: [ConformanceFailure] = []

        /// A line for each check that failed or was skipped.
        public var description: String {
            let lines =
                ["\(passed.count) passed, \(skipped.count) skipped, \(failures.count) failed"]
                + skipped.map { "skipped \($0.check): \($0.lacking)" } + failures.map(\.description)
            return lines.joined(separator: "\n")
        }
    }

    /// Runs all checks.
    ///
    /// - Parameter makeStore: Gives each check a fresh, empty store.
    public static func run(_ makeStore: () throws -> StoreUnderTest) -> Report {
        var report = Report()
        for check in checks {
            do throws(ConformanceFailure) {
                switch try check.run(makeStore) {
                case .passed: report.passed.append(check.name)
                case .skipped(let lacking): report.skipped.append((check.name, lacking))
                }
            } catch {
                report.failures.append(error)
            }
        }
        return report
    }
}

extension StoreConformance.Check {
    fileprivate func run(
        _ makeStore: () throws -> StoreUnderTest
    ) throws(ConformanceFailure) -> StoreConformance.Outcome {
        let subject: StoreUnderTest
        do { subject = try makeStore() } catch { throw ConformanceFailure(check: name, error) }
        return try run(on: subject)
    }
}

extension StoreConformance.Check.Requirement {
    /// What is missing; `nil` if the check can be made.
    func missing(_ trial: Trial) throws -> String? {
        switch self {
        case .lock: trial.subject.setLockState == nil ? "no way to lock the store" : nil
        case .toldLockState: trial.subject.tellsLockState ? nil : "the store does not tell its lock state"
        case .applicationPasswords:
            trial.subject.takesApplicationPasswords ? nil : "the store takes no application passwords"
        case .transactions: trial.store.hasTransactions ? nil : "the store has no transactions"
        case .observing: try trial.noticesChanges() ? nil : "the store does not notice changes"
        }
    }
}
