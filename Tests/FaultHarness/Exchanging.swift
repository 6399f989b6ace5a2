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
    private let root: String

    init(_ root: String) { self.root = root }

    private static let faults: [(name: String, action: Int, error: Int32)] = [
        ("kill", FAULT_KILL, 0), ("EIO", FAULT_FAIL, EIO), ("ENOSPC", FAULT_FAIL, ENOSPC), ("short", FAULT_SHORT, 0),
    ]

    /// What both have in the end: `b` was changed by the other machine, `c` deleted by this one, `d` and `e` added.
    private static let expected = ["a=1", "b=3", "d=4", "e=5"]

    private func vault(_ name: String) throws -> Vault {
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
                    if let problem = try problem() { violations.append("\(point): \(problem)") }
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

    private func prepare() throws {
        let (laptop, desktop) = (try vault("laptop"), try vault("desktop"))
        let (first, second) = (RingMember(laptop), RingMember(desktop))
        try wait { [root] in
            _ = try await first.found(name: "laptop", at: .folder(root + "/shared"))
            let code = try await first.invite(name: "desktop", for: .seconds(3600))
            async let joined = second.join(code, at: .folder(root + "/shared"), interval: .milliseconds(5))
            for _ in 0..<10_000 {
                guard try await first.exchange().admitted.isEmpty else { break }
                try await Task.sleep(for: .milliseconds(5))
            }
            _ = try await joined
        }
        for (account, value) in [("a", "1"), ("b", "2"), ("c", "2")] { try add(account, value, laptop) }
        try wait {
            for member in [first, second, first] { _ = try await member.exchange() }
        }
        try Engine(store: desktop).update(
            query("b"), with: Changes(value: Data("3".utf8)), accessGroups: .unrestricted)
        try add("d", "4", desktop)
        try wait { _ = try await second.exchange() }
        try add("e", "5", laptop)
        try Engine(store: laptop).delete(query("c"), accessGroups: .unrestricted)
    }

    private func query(_ account: String) -> Query {
        Query(.genericPassword, [.service: .string("s"), .account: .string(account), .synchronizable: .bool(true)])
    }

    private func add(_ account: String, _ value: String, _ vault: Vault) throws {
        var query = query(account)
        query.value = Data(value.utf8)
        _ = try Engine(store: vault).add(query, accessGroups: .unrestricted)
    }

    /// - Returns: What is wrong; `nil` if nothing is.
    private func problem() throws -> String? {
        let (laptop, desktop) = (try vault("laptop"), try vault("desktop"))
        for vault in [laptop, desktop] {
            let findings = try vault.headFindings(wholeVault: true)
            guard findings == [] else { return "the head differs: \(String(describing: findings))" }
        }
        let (first, second) = (RingMember(laptop), RingMember(desktop))
        let codes = Guarded<[String]>([])
        try wait {
            for member in [second, first, second, first] { _ = try await member.exchange() }
            let states = [try await first.status(), try await second.status()]
            codes.withLock { $0 = states.map { "\($0.compareCode) \($0.pending)" } }
        }
        for vault in [laptop, desktop] {
            let items = try items(vault)
            guard items == Self.expected else { return "items are \(items)" }
        }
        let ends = codes.withLock { $0 }
        return Set(ends).count == 1 && ends[0].hasSuffix(" 0") ? nil : "states are \(ends)"
    }

    private func items(_ vault: Vault) throws -> [String] {
        let selection = Selection(itemClass: .genericPassword, conditions: [.synchronizable: .number(1)])
        return try vault.select(selection, limit: nil, includingValues: true, .none).items.map { stored in
            guard case .string(let account) = stored.item.attributes[.account] else { return "?" }
            return "\(account)=\(String(decoding: stored.item.value ?? Data(), as: UTF8.self))"
        }.sorted()
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
        do { try wait { _ = try await member.exchange() } } catch {}
        let hits = fault_disarm()
        print(hits > 0 ? "hit" : "missed")
    }

    /// Swift's own threads do the rest meanwhile.
    private func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
        let (done, failure) = (DispatchSemaphore(value: 0), Guarded<(any Error)?>(nil))
        Task {
            do { try await body() } catch { failure.withLock { $0 = error } }
            done.signal()
        }
        done.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
