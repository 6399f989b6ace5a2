// SPDX-License-Identifier: Apache-2.0
// Input and output of the sync commands.

import ArgumentParser
import Dispatch
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainSync
import KeychainSyncCore
import SecretMemory

enum MachineName {
    /// - Parameter given: `nil`: the host name.
    static func checked(_ given: String?) throws -> String {
        let name = given ?? hostName
        guard (1...128).contains(name.utf8.count), name.escapingControls() == name else {
            throw ValidationError(
                "A machine's name has 1 to 128 bytes and no control characters. Give another one with --name.")
        }
        return name
    }

    private static var hostName: String {
        var bytes = [CChar](repeating: 0, count: 129)
        guard gethostname(&bytes, 128) == 0 else { return "" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// For commands that end when something asynchronous does.
enum Waiting {
    /// - Parameter signals: Signals that cancel the work. If it has failed they end the tool, which first says what is left. One that
    ///   comes too late ends nothing: what has succeeded is not taken back, and the tool ends as without the signal.
    static func forResult<Value: Sendable>(
        cancelledBy signals: EndingSignals? = nil, _ body: @escaping @Sendable () async throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        let (done, outcome) = (DispatchSemaphore(value: 0), Guarded<Result<Value, KeychainError>?>(nil))
        let task = Task {
            let result: Result<Value, KeychainError>
            do throws(KeychainError) { result = .success(try await body()) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            done.signal()
        }
        if let signals {
            while signals.received == nil, done.wait(timeout: .now() + .milliseconds(50)) == .timedOut {}
            if signals.received != nil { task.cancel() }
        }
        if outcome.withLock({ $0 }) == nil { done.wait() }
        guard let result = outcome.withLock({ $0 }) else { throw KeychainError(.cancelled, "Nothing was done.") }
        if let signals { end(result, signals) }
        return try result.get()
    }

    /// The signals stay caught until the tool has ended: one that comes now would end it without a word about what it has done or left.
    private static func end<Value>(_ result: Result<Value, KeychainError>, _ signals: EndingSignals) {
        guard case .failure(let error) = result else { return }
        guard signals.received != nil else {
            // The user is asked then, and the work begins again.
            if error.reason == .locked { signals.restore() }
            return
        }
        Output.complain(error.message)
        signals.raiseReceived()
    }

    static func forASecond() async throws(KeychainError) {
        do {
            try await Task.sleep(for: .seconds(1))
        } catch {
            throw KeychainError(.cancelled, "Waiting was cancelled.")
        }
    }
}

enum SyncWords {
    static func show(_ report: ExchangeReport, evenIfNothing: Bool = true) {
        for name in report.admitted { Output.note("Let in: \(name)") }
        for machine in report.waiting {
            let id = WaitingMachine.text(machine.id)
            Output.note(
                "Waits for approval: \(machine.name.escapingControls()) (\(id)). To let it in: keychainctl sync approve"
            )
        }
        if evenIfNothing || report.applied + report.sent > 0 {
            Output.note("Received: \(report.applied); sent: \(report.sent)")
        }
        for text in report.texts { Output.complain(text) }
    }

    static func text(_ status: RingStatus) -> String {
        var lines = [
            "ring: \(status.ring.hex.prefix(16)) in \(status.place.text)",
            "last exchange: \(date(status.lastExchange))" + (status.isPaused ? " (paused)" : ""),
            "items: \(status.items); not sent yet: \(status.pending); with other values kept: \(status.conflicts)",
            "compare code: \(status.compareCode)",
        ]
        if status.staying > 0 {
            lines.append(
                "marked as synchronizable, but bound to this machine or in another access group: \(status.staying)")
        }
        if status.unused > 0 {
            lines.append(
                "changes of removed machines that are not applied here: \(status.unused). To have them, let the machine join again."
            )
        }
        if let groups = status.groups {
            lines.append(
                "access groups that are shared: \(groups.map { $0.escapingControls() }.joined(separator: ", "))")
        }
        if status.members.contains(where: { $0.isThisMachine && $0.role == .reader }) {
            lines.append("This machine only reads. Changes that are made here stay here.")
        }
        if status.kept > 0 { lines.append("values that can be restored: \(status.kept) (keychainctl sync history)") }
        if !status.hasRecoveryKey {
            lines.append(
                "recovery key: none. If all machines are lost, so are the items: keychainctl sync recovery-key")
        }
        if !status.isMember {
            lines.append("This machine was removed from the ring. To end syncing: keychainctl sync leave")
        }
        if status.openInvitations > 0 { lines.append("open invitations: \(status.openInvitations)") }
        lines += trouble(status)
        let rows = status.members.map { member in
            [
                member.shortID, member.name.escapingControls(),
                member.isThisMachine ? "this machine" : "\(member.role)",
                member.isThisMachine ? "" : member.lastSeen.map(date) ?? "never",
            ]
        }
        let table = TextTable(header: ["ID", "MACHINE", "ROLE", "LAST SEEN"], rows: rows, cut: ["MACHINE"])
        return lines.map { $0 + "\n" }.joined() + "\n" + table.text(within: Output.columns)
    }

    private static func trouble(_ status: RingStatus) -> [String] {
        var lines: [String] = []
        if let failure = status.failure {
            lines.append("failing since \(date(failure.since)): \(failure.error.message.escapingControls())")
        }
        lines += status.notices.map { "noticed \(date($0.since)): \($0.message.escapingControls())" }
        if status.notices.contains(where: \.stays) {
            lines.append("To forget what you have looked at, run: keychainctl sync dismiss")
        }
        return lines
    }

    static func date(_ milliseconds: UInt64) -> String {
        milliseconds == 0 ? "never" : Date(timeIntervalSince1970: Double(milliseconds) / 1000).ISO8601Format()
    }
}

extension RingStatus.Member {
    /// Enough to tell the machines of a ring apart.
    var shortID: String { String(id.hex.prefix(8)) }
}
