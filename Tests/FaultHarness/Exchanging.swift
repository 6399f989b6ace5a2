// SPDX-License-Identifier: Apache-2.0
// Machines over one folder, and what they must have in the end.

import Foundation
import KeychainEngine
import KeychainSync
import KeychainVault
import SecretMemory

/// After each fault, a few exchanges without faults must make the machines equal, with every acknowledged change in it.
struct Exchanging: Sendable {
    let root: String

    init(_ root: String) { self.root = root }

    /// What both have in the end: `b` was changed by the other machine, `c` deleted by this one, `d` and `e` added.
    static let expected = ["a": "1", "b": "3", "d": "4", "e": "5"]

    func vault(_ name: String) throws -> Vault {
        let place = try VaultLocation(
            folder: "\(root)/\(name)/vault", deviceKeyFile: "\(root)/\(name)/config/device.key")
        return Vault(place)
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
    ///   - allowed: What all machines may have in the end.
    ///   - machines: Which machines the ring may have in the end, each as often as it is a member; `nil`: any.
    ///   - names: The machines that exchange.
    /// - Returns: What is wrong; `nil` if nothing is.
    func problem(
        _ allowed: [[String: String]], machines: [[String]]? = nil, among names: [String] = ["laptop", "desktop"]
    ) throws -> String? {
        let vaults = try names.map(vault)
        if let problem = try headProblem(vaults) { return problem }
        let (members, ends) = (vaults.map { RingMember($0) }, Guarded<[RingStatus]>([]))
        try waiting {
            for member in members.reversed() + members.reversed() { _ = try await member.exchange() }
            for member in members {
                let state = try await member.status()
                ends.withLock { $0.append(state) }
            }
        }
        let all = try vaults.map(items)
        guard Set(all).count == 1, allowed.contains(all[0]) else { return "items are \(all)" }
        if let problem = try headProblem(vaults) { return problem }
        return Self.difference(ends.withLock { $0 }, machines)
    }

    private func headProblem(_ vaults: [Vault]) throws -> String? {
        for vault in vaults {
            let findings = try vault.headFindings(wholeVault: true)
            guard findings == [] else { return "the head differs: \(String(describing: findings))" }
        }
        return nil
    }

    private static func difference(_ ends: [RingStatus], _ machines: [[String]]?) -> String? {
        let codes = ends.map { "\($0.compareCode) \($0.pending)" }
        guard Set(codes).count == 1, codes[0].hasSuffix(" 0") else { return "states are \(codes)" }
        let members = ends.map { $0.members.map(\.name).sorted() }
        guard let machines else { return nil }
        let isAllowed = machines.contains { $0.sorted() == members[0] }
        return Set(members).count == 1 && isAllowed ? nil : "machines are \(members)"
    }

    func items(_ vault: Vault) throws -> [String: String] {
        let selection = Selection(itemClass: .genericPassword, conditions: [.synchronizable: .number(1)])
        let found = try vault.select(selection, limit: nil, includingValues: true, .none).items
        let pairs = found.map { stored in
            guard case .string(let account) = stored.item.attributes[.account] else { return ("?", "?") }
            return (account, String(decoding: stored.item.value ?? Data(), as: UTF8.self))
        }
        return Dictionary(pairs) { "\($0) and \($1)" }
    }
}

extension RingMember {
    /// Invites a machine, and answers it.
    func admit(_ other: RingMember, _ name: String, at place: CarrierPlace) async throws {
        try await admit(other, with: try await invite(name: name, for: .seconds(3600)), at: place)
    }

    /// Answers a machine that has the code of an invitation of this one.
    func admit(_ other: RingMember, with code: SecretBytes, at place: CarrierPlace) async throws {
        async let joined = other.join(code, at: place, interval: .milliseconds(5))
        for _ in 0..<10_000 {
            guard try await exchange().admitted.isEmpty else { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        _ = try await joined
    }
}
