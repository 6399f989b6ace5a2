// SPDX-License-Identifier: Apache-2.0
// The role of a process that does what it is asked, line by line, and answers each with one line.

import Foundation
import KeychainEngine
import KeychainVault

/// `check OPERATION FIRST LAST SITUATION ROOT`, `state STATES ROOT`, `open OPENER ROOT` and `act ROOT`; the root is last, for it may have spaces.
struct Serving {
    private var peer: Vault?

    mutating func run() {
        while let line = readLine() {
            print(answer(line).replacing("\n", with: " "))
            fflush(nil)
        }
    }

    private mutating func answer(_ line: String) -> String {
        do {
            try handle(line.split(separator: "\t").map(String.init))
            return "ok"
        } catch let error as KeychainError {
            return "\(error.reason.rawValue): \(error.message)"
        } catch {
            return "\(error)"
        }
    }

    private mutating func handle(_ words: [String]) throws {
        guard let verb = words.first, let root = words.last else { throw HarnessError("an empty request") }
        let place = Place(root: root)
        switch verb {
        case "check": try check(words, place)
        case "state": try checkState(words[1], place)
        case "open": try open(words[1], place)
        case "act":
            guard let peer else { throw HarnessError("nothing is open") }
            try Self.act(peer)
        default: throw HarnessError("'\(verb)' is no request")
        }
    }

    private func check(_ words: [String], _ place: Place) throws {
        guard words.count == 6, let operation = Operation.named(words[1]), let first = Int(words[2]),
            let last = Int(words[3]), let situation = Situation(rawValue: words[4])
        else { throw HarnessError("a request that is not understood: \(words)") }
        var allowed = operation.allowed(first...last)
        if situation == .peer { allowed = allowed.flatMap(\.withPeer) }
        if situation == .changed, operation.restores { allowed = allowed.map(\.thatMayBeOlder) }
        let check = Check(
            place: place, allowed: allowed, mayBeAbsent: !operation.template.hasVault && first == 0,
            isUntouched: situation != .changed)
        try situation == .maimed ? check.runMaimed() : check.run()
    }

    private func checkState(_ text: String, _ place: Place) throws {
        guard let bytes = Data(base64Encoded: text) else { throw HarnessError("a request that is not understood") }
        let allowed = try JSONDecoder().decode([VaultState].self, from: bytes)
        try Check(place: place, allowed: allowed, mayBeAbsent: false).run()
    }

    /// One item is stored, and another removed, so that the WAL is emptied as well. In a ring, a shared item is stored too.
    private static func act(_ peer: Vault) throws {
        let isInRing = try peer.isInRing
        try Engine(store: peer).transaction(as: Items.query("")) { (requests) throws(KeychainError) in
            try requests.add(Items.item("peer", "written"), accessGroups: .unrestricted)
            try requests.add(Items.item("gone", "written"), accessGroups: .unrestricted)
            if isInRing { try requests.add(Items.sharedItem("shared-peer", "written"), accessGroups: .unrestricted) }
            _ = try requests.delete(Items.query("gone"), accessGroups: .unrestricted)
        }
    }

    /// A vault in use: what it remembers is from before the operation.
    private mutating func open(_ opener: String, _ place: Place) throws {
        let vault = try place.another(writerTimeout: .milliseconds(80))
        peer = vault
        guard try vault.status().exists else { return }
        if let opener = Opener(rawValue: opener), opener != .deviceKey { try vault.unlock(opener.secret) }
        _ = try Items.all(vault)
    }
}
