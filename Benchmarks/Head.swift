// SPDX-License-Identifier: Apache-2.0
// What the head adds to a write: the same transactions in two vaults, one that keeps its head and one that does not.

import Foundation
import KeychainVault

/// On the disk a sync takes a hundred times as long as the head, and varies by more than it. So the cost is measured in memory, where a
/// sync is nothing, and all that the head does is the same; on the disk its share of a durable write is shown.
func measureHead(parent: String) throws {
    print("the head")
    let memory = "/dev/shm"
    if access(memory, W_OK) == 0 {
        try measureHead(in: memory, "in memory", rounds: 21)
    } else {
        print("  no \(memory) to measure in")
    }
    try measureHead(in: parent, "on the disk", rounds: 9)
}

private func measureHead(in parent: String, _ medium: String, rounds: Int) throws {
    let folder = parent + "/keychain-bench-" + UUID().uuidString
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(folder)") } }
    for kinds in [Set<VaultSettings.AnchorKind>(), [.file], [.file, .kernel]] {
        let words = kinds.map(\.rawValue).sorted()
        print("\(medium), anchors: \(words.isEmpty ? "none" : words.joined(separator: " and "))")
        let place = folder + "/anchors-" + words.joined(separator: "-")
        let kept = try Rows(vault(place + "-kept", kinds), keepingHead: true)
        defer { kept.forget() }
        try compare(kept, Rows(vault(place + "-left", kinds), keepingHead: false), rounds: rounds)
    }
}

private func compare(_ kept: Rows, _ left: Rows, rounds: Int) throws {
    var timing = Timing()
    for (name, write) in [("add", Rows.add), ("replace", Rows.replace)] {
        let (with, without) = ("\(name) with a head", "\(name) without")
        let first: (String, (Int) throws -> Void) = (with, { _ in try write(kept)() })
        let second: (String, (Int) throws -> Void) = (without, { _ in try write(left)() })
        // Each comes as often after itself as after the other one: what the first of two leaves in caches helps the second.
        try timing.run(rounds: rounds, count: 200, [first, second, second, first])
        report(timing, [(without, nil), (with, without)])
        print(String(format: "    the head costs %.1f µs", timing.median(with) - timing.median(without)))
    }
}

private func vault(_ place: String, _ anchors: Set<VaultSettings.AnchorKind>) throws -> Vault {
    var settings = VaultSettings()
    settings.anchors = anchors
    let location = try VaultLocation(folder: place + "/vault", deviceKeyFile: place + "/key/device.key")
    let vault = Vault.at(location, settings)
    try vault.create()
    return vault
}

/// The rows of one vault, which come and are replaced one after another.
private final class Rows {
    private let cost: HeadCost
    private let keepingHead: Bool
    private var added = 0
    private var replaced = 0

    init(_ vault: Vault, keepingHead: Bool) throws {
        (cost, self.keepingHead) = (try HeadCost(vault), keepingHead)
    }

    func forget() { cost.forget() }

    func add() throws {
        added += 1
        try cost.write(row: added, keepingHead: keepingHead)
    }

    func replace() throws {
        replaced += 1
        try cost.write(row: replaced % 1000 + 1, keepingHead: keepingHead)
    }
}
