// SPDX-License-Identifier: Apache-2.0
// What the head adds to a write, by the same transactions with and without it in turns.

import Foundation
import KeychainVault

func measureHead(parent: String) throws {
    let folder = parent + "/keychain-bench-" + UUID().uuidString
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { do { try FileManager.default.removeItem(atPath: folder) } catch { print("left behind: \(folder)") } }
    print("the head")
    var timing = Timing()
    let names = ["add", "replace"]
    for (index, kinds) in [Set<VaultSettings.AnchorKind>(), [.file], [.file, .kernel]].enumerated() {
        var settings = VaultSettings()
        settings.anchors = kinds
        let place = folder + "/\(index)"
        let location = try VaultLocation(folder: place + "/vault", deviceKeyFile: place + "/key/device.key")
        let vault = Vault.at(location, settings)
        try vault.create()
        let cost = try HeadCost(vault)
        var next = 0
        let remembering =
            kinds.isEmpty ? "" : ", remembered in " + kinds.map(\.rawValue).sorted().joined(separator: ", ")
        func add(_ keepingHead: Bool) throws {
            next += 1
            try cost.write(row: next, keepingHead: keepingHead)
        }
        try timing.run(
            rounds: 9, count: 300,
            [
                ("add\(remembering)", { _ in try add(true) }),
                ("add without a head\(remembering)", { _ in try add(false) }),
                ("replace\(remembering)", { try cost.write(row: $0 % 1000 + 1, keepingHead: true) }),
                ("replace without a head\(remembering)", { try cost.write(row: $0 % 1000 + 1, keepingHead: false) }),
            ])
        for name in names {
            let (with, without) = (name + remembering, name + " without a head" + remembering)
            report(timing, [(without, nil), (with, without)])
            print(String(format: "    the head costs %.1f µs", timing.median(with) - timing.median(without)))
        }
    }
}
