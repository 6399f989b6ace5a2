// SPDX-License-Identifier: Apache-2.0
// Two machines over one folder: the exchange of one of them is killed, or a call of it fails, at each of its calls.

import FaultShim
import Foundation
import KeychainEngine
import KeychainSync
import KeychainVault
import SecretMemory

/// After each fault, a few exchanges without faults must make both machines equal, with every acknowledged change in it.
struct Exchanging {
    let root: String

    init(_ root: String) { self.root = root }

    private static let faults: [(name: String, action: Int, error: Int32)] = [
        ("kill", FAULT_KILL, 0), ("EIO", FAULT_FAIL, EIO), ("ENOSPC", FAULT_FAIL, ENOSPC), ("short", FAULT_SHORT, 0),
    ]

    /// What both have in the end: `b` was changed by the other machine, `c` deleted by this one, `d` and `e` added.
    static let expected = ["a": "1", "b": "3", "d": "4", "e": "5"]

    func vault(_ name: String) throws -> Vault {
        let place = try VaultLocation(
            folder: "\(root)/\(name)/vault", deviceKeyFile: "\(root)/\(name)/config/device.key")
        return Vault(place)
    }

    // MARK: - All faults

    func tryAll(stride: Int) throws -> (points: Int, violations: [String]) {
        try FileManager.default.createDirectory(atPath: root + "/shared", withIntermediateDirectories: true)
        try prepare()
        try copy(["laptop", "desktop", "shared"], from: root, to: root + "/before")
        var (points, violations) = (0, [String]())
        for fault in Self.faults {
            var (call, count) = (1, 0)
            while true {
                try copy(["laptop", "desktop", "shared"], from: root + "/before", to: root)
                let child = try Child(["exchange-once", root, "\(fault.action)", "\(call)", "\(fault.error)"])
                let (lines, end) = (child.lines(within: 60), child.end(within: 60))
                count += 1
                let point = "exchange/\(fault.name)/\(call)"
                let wasHit = lines?.contains("hit") ?? true
                switch end {
                case .signalled(SIGKILL) where fault.action == FAULT_KILL, .exited(0): break
                default: violations.append("\(point): ended with \(end)")
                }
                do {
                    if let problem = try problem([Self.expected]) { violations.append("\(point): \(problem)") }
                } catch {
                    violations.append("\(point): \(error)")
                }
                if end == .exited(0), !wasHit { break }
                call += stride
            }
            print("\(fault.name): \(count)")
            points += count
        }
        return (points, violations)
    }

    private func copy(_ names: [String], from: String, to: String) throws {
        try Vault.closeAll()
        try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
        for name in names {
            // The last thread of an exchange may still be closing its vault, and remove files of it.
            for _ in 0..<1000 where FileManager.default.fileExists(atPath: "\(to)/\(name)") {
                do { try FileManager.default.removeItem(atPath: "\(to)/\(name)") } catch { usleep(1000) }
            }
            try FileManager.default.copyItem(atPath: "\(from)/\(name)", toPath: "\(to)/\(name)")
        }
    }

    /// The two machines have exchanged, and each has changed something that the other one does not have yet.
    func prepare() throws {
        let (laptop, desktop) = (try vault("laptop"), try vault("desktop"))
        let (first, second) = (RingMember(laptop), RingMember(desktop))
        try waiting { [root] in
            let place = CarrierPlace.folder(root + "/shared")
            _ = try await first.found(name: "laptop", at: place)
            try await first.admit(second, "desktop", at: place)
        }
        for (account, value) in [("a", "1"), ("b", "2"), ("c", "2")] { try add(account, value, laptop) }
        try waiting {
            for member in [first, second, first] { _ = try await member.exchange() }
        }
        try Engine(store: desktop).update(
            query("b"), with: Changes(value: Data("3".utf8)), accessGroups: .unrestricted)
        try add("d", "4", desktop)
        try waiting { _ = try await second.exchange() }
        try add("e", "5", laptop)
        try Engine(store: laptop).delete(query("c"), accessGroups: .unrestricted)
    }

    func query(_ account: String) -> Query {
        Query(.genericPassword, [.service: .string("s"), .account: .string(account), .synchronizable: .bool(true)])
    }

    func add(_ account: String, _ value: String, _ vault: Vault) throws {
        var query = query(account)
        query.value = Data(value.utf8)
        _ = try Engine(store: vault).add(query, accessGroups: .unrestricted)
    }

    /// - Parameters:
    ///   - allowed: What both machines may have in the end.
    ///   - machines: Which machines the ring may have in the end; `nil`: any.
    /// - Returns: What is wrong; `nil` if nothing is.
    func problem(_ allowed: [[String: String]], machines: [Set<String>]? = nil) throws -> String? {
        let (laptop, desktop) = (try vault("laptop"), try vault("desktop"))
        for vault in [laptop, desktop] {
            let findings = try vault.headFindings(wholeVault: true)
            guard findings == [] else { return "the head differs: \(String(describing: findings))" }
        }
        let (first, second) = (RingMember(laptop), RingMember(desktop))
        let ends = Guarded<[RingStatus]>([])
        try waiting {
            for member in [second, first, second, first] { _ = try await member.exchange() }
            let states = [try await first.status(), try await second.status()]
            ends.withLock { $0 = states }
        }
        let (own, others) = (try items(laptop), try items(desktop))
        guard own == others, allowed.contains(own) else { return "items are \(own), and \(others)" }
        for vault in [laptop, desktop] {
            let findings = try vault.headFindings(wholeVault: true)
            guard findings == [] else { return "the head differs in the end: \(String(describing: findings))" }
        }
        return Self.difference(ends.withLock { $0 }, machines)
    }

    private static func difference(_ ends: [RingStatus], _ machines: [Set<String>]?) -> String? {
        let codes = ends.map { "\($0.compareCode) \($0.pending)" }
        guard Set(codes).count == 1, codes[0].hasSuffix(" 0") else { return "states are \(codes)" }
        let members = ends.map { Set($0.members.map(\.name)) }
        guard let machines else { return nil }
        return Set(members).count == 1 && machines.contains(members[0]) ? nil : "machines are \(members)"
    }

    private func items(_ vault: Vault) throws -> [String: String] {
        let selection = Selection(itemClass: .genericPassword, conditions: [.synchronizable: .number(1)])
        let found = try vault.select(selection, limit: nil, includingValues: true, .none).items
        let pairs = found.map { stored in
            guard case .string(let account) = stored.item.attributes[.account] else { return ("?", "?") }
            return (account, String(decoding: stored.item.value ?? Data(), as: UTF8.self))
        }
        return Dictionary(pairs) { "\($0) and \($1)" }
    }

    // MARK: - One exchange with a fault

    /// The child. An error of the exchange is as good as success: what counts is what is there afterwards.
    func once(_ action: String, at call: String, error: String) throws {
        guard let action = Int32(action), let call = Int(call), let error = Int32(error) else {
            throw HarnessError("the fault consists of numbers")
        }
        let member = RingMember(try vault("laptop"))
        var plan = fault_plan()
        let counted = strdup(root + "/")
        plan.root = UnsafePointer(counted)
        (plan.kinds, plan.at, plan.action, plan.error) = (~0, call, action, error)
        (plan.trace, plan.record) = (-1, -1)
        fault_arm(&plan)
        do { try waiting { _ = try await member.exchange() } } catch {}
        let hits = fault_disarm()
        print(hits > 0 ? "hit" : "missed")
    }
}

extension RingMember {
    /// Invites a machine, and answers it.
    func admit(_ other: RingMember, _ name: String, at place: CarrierPlace) async throws {
        let code = try await invite(name: name, for: .seconds(3600))
        async let joined = other.join(code, at: place, interval: .milliseconds(5))
        for _ in 0..<10_000 {
            guard try await exchange().admitted.isEmpty else { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        _ = try await joined
    }
}
