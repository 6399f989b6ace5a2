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
    /// - Parameter signals: Signals that cancel the work. When it has ended they end the tool.
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
        signals?.raiseReceived()
        guard let result = outcome.withLock({ $0 }) else { throw KeychainError(.cancelled, "Nothing was done.") }
        return try result.get()
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
        if evenIfNothing || report.applied + report.taken > 0 {
            Output.note("Received: \(report.applied); sent: \(report.taken)")
        }
        for text in report.findings.map(\.text).sorted() { Output.complain(text) }
    }

    static func text(_ status: RingStatus) -> String {
        var lines = [
            "ring: \(status.ring.hex.prefix(16)) in \(status.place.text)",
            "last exchange: \(date(status.lastExchange))" + (status.isPaused ? " (paused)" : ""),
            "items: \(status.items); not sent yet: \(status.pending); with other values kept: \(status.conflicts)",
            "compare code: \(status.compareCode)",
        ]
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

    private static func date(_ milliseconds: UInt64) -> String {
        milliseconds == 0 ? "never" : Date(timeIntervalSince1970: Double(milliseconds) / 1000).ISO8601Format()
    }
}

extension RingStatus.Member {
    /// Enough to tell the machines of a ring apart.
    var shortID: String { String(id.hex.prefix(8)) }
}

/// A ring as `sync status --json` shows it. Every key is there; what there is not is `null`.
struct RingJSON: Encodable {
    struct Machine: Encodable {
        let name: String
        let role: String
        let thisMachine: Bool
        let lastSeen: String?

        private enum Key: String, CodingKey { case name, role, thisMachine, lastSeen }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(name, forKey: .name)
            try object.encode(role, forKey: .role)
            try object.encode(thisMachine, forKey: .thisMachine)
            try object.encode(lastSeen, forKey: .lastSeen)
        }
    }

    let ring: String
    let place: String
    let groups: [String]?
    let machines: [Machine]
    let member: Bool
    let items: Int
    let pending: Int
    let conflicts: Int
    let kept: Int
    let recoveryKey: Bool
    let invitations: Int
    let lastExchange: String?
    let paused: Bool
    let compare: String

    init(_ status: RingStatus) {
        ring = status.ring.hex
        place = status.place.text
        groups = status.groups
        machines = status.members.map {
            Machine(
                name: $0.name, role: "\($0.role)", thisMachine: $0.isThisMachine,
                lastSeen: $0.isThisMachine ? nil : $0.lastSeen.flatMap(Self.date))
        }
        member = status.isMember
        items = status.items
        pending = status.pending
        conflicts = status.conflicts
        kept = status.kept
        recoveryKey = status.hasRecoveryKey
        invitations = status.openInvitations
        lastExchange = Self.date(status.lastExchange)
        paused = status.isPaused
        compare = status.compareCode
    }

    private enum Key: String, CodingKey {
        case ring, place, groups, machines, member, items, pending, conflicts, kept, recoveryKey, invitations,
            lastExchange
        case paused, compare
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(ring, forKey: .ring)
        try object.encode(place, forKey: .place)
        try object.encode(groups, forKey: .groups)
        try object.encode(machines, forKey: .machines)
        try object.encode(member, forKey: .member)
        try object.encode(items, forKey: .items)
        try object.encode(pending, forKey: .pending)
        try object.encode(conflicts, forKey: .conflicts)
        try object.encode(kept, forKey: .kept)
        try object.encode(recoveryKey, forKey: .recoveryKey)
        try object.encode(invitations, forKey: .invitations)
        try object.encode(lastExchange, forKey: .lastExchange)
        try object.encode(paused, forKey: .paused)
        try object.encode(compare, forKey: .compare)
    }

    private static func date(_ milliseconds: UInt64) -> String? {
        milliseconds == 0 ? nil : Date(timeIntervalSince1970: Double(milliseconds) / 1000).ISO8601Format()
    }
}
