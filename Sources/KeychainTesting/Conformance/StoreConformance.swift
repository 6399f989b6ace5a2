// SPDX-License-Identifier: Apache-2.0
// The contract of an ItemStore as a list of checks that any test framework can run.

// Folders, from top to bottom:
//
// - Conformance: checks for every store
// - History: what several processes saw of one key
// - Scripted: a store that fails on demand
// - .: a clock that a test moves

public import KeychainEngine

/// Checks for every ``ItemStore``. Each check takes a fresh, empty store.
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
/// Does not check whether a store keeps secrets confidential, nor whether it survives a crash.
public enum StoreConformance {
    /// One requirement for a store.
    public struct Check: Sendable, CustomStringConvertible {
        /// The requirements of a check besides a store.
        enum Requirement: Sendable {
            /// ``StoreUnderTest/setLockState``.
            case lock
            /// ``StoreUnderTest/tellsLockState``.
            case toldLockState
            /// ``StoreUnderTest/takesApplicationPasswords``.
            case applicationPasswords
            /// A store whose `transactional` is not `nil`.
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

        /// Whether the check is skipped without ``StoreUnderTest/setLockState``. It is for tests in which a lockable
        /// store is slow to create.
        public var needsLock: Bool { requirements.contains(.lock) }

        /// Runs this check on a fresh, empty store, and leaves items in it.
        ///
        /// - Returns: Whether the check ran or was skipped.
        /// - Throws: A failure with what was expected and what happened.
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

        /// The same for a store without hooks. Checks that need one are skipped.
        @discardableResult
        public func run(_ makeStore: () throws -> any ItemStore) throws(ConformanceFailure) -> Outcome {
            let store: any ItemStore
            do { store = try makeStore() } catch { throw ConformanceFailure(check: name, error) }
            return try run(on: StoreUnderTest(store))
        }
    }

    /// The outcome of a check that found no failure.
    public enum Outcome: Hashable, Sendable {
        case passed
        /// The store, or the test, lacks something that the check needs; the text names it.
        case skipped(String)
    }

    /// All checks.
    public static let checks: [Check] = [
        inserting, keys, selecting, matching, ordering, values, updating, deleting, groups, transactions, observing,
        locking, asking, concurrency,
    ].flatMap { $0 }

    /// The outcomes of all checks.
    public struct Report: Sendable, CustomStringConvertible {
        public internal(set) var passed: [String] = []
        /// The names of skipped checks, with what they lacked.
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
    /// - Parameter makeStore: Returns a fresh, empty store for each check.
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
    /// What the check lacks; `nil` if it can run.
    func missing(_ trial: Trial) throws -> String? {
        switch self {
        case .lock: trial.subject.setLockState == nil ? "no way to lock the store" : nil
        case .toldLockState: trial.subject.tellsLockState ? nil : "the store does not tell its lock state"
        case .applicationPasswords:
            trial.subject.takesApplicationPasswords ? nil : "the store takes no application passwords"
        case .transactions: trial.store.transactional == nil ? "the store has no transactions" : nil
        case .observing: try trial.noticesChanges() ? nil : "the store does not notice changes"
        }
    }
}
