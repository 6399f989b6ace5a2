// SPDX-License-Identifier: Apache-2.0
// What a process finds that looks at a vault, and at the copies beside it.

import Foundation
import KeychainEngine
import KeychainVault

/// Looks at a vault without changing it.
struct Look {
    let place: Place
    /// Whether what a restoration kept has to be a vault: it may have met another file in its place.
    let expectsVaults: Bool

    /// What was found.
    struct Found {
        let items: [String: String]
        let openers: Set<Opener>
        let quarantined: Int
        let isAsLeft: Bool
        let backup: [String: String]?
        /// The contents of all files that restorations kept.
        let kept: [[String: String]]
        /// What waits to be sent. It can be read only while the vault is as it was left.
        let outbox: Set<String>?

        func fits(_ state: VaultState) -> Bool {
            state.items == items && state.openers == openers && state.quarantined == quarantined
                && state.backup == backup && fits(state.head) && (state.kept.map(kept.contains) ?? true)
                && (!isAsLeft || state.outbox == outbox)
        }

        private func fits(_ head: VaultState.Head) -> Bool {
            switch head {
            case .asLeft: isAsLeft
            case .mayBeOlder: true
            case .needsAcceptance, .needsRepair: !isAsLeft
            }
        }

        var description: String {
            "opens with \(openers.map(\.rawValue).sorted().joined(separator: "+")), \(quarantined) in quarantine, "
                + "\(isAsLeft ? "" : "not ")as it was left, backup of \(backup?.count ?? 0), "
                + "kept \(kept.map { $0.keys.sorted() }), unsent \(outbox?.sorted() ?? [])"
        }
    }

    func found(_ vault: Vault) throws -> Found {
        var openers: Set<Opener> = []
        for opener in Opener.allCases where try Self.opens(opener, vault) { openers.insert(opener) }
        guard !openers.isEmpty else { throw Violation("nothing opens the vault") }
        let isAsLeft = try vault.headFindings(wholeVault: true).isEmpty
        return Found(
            items: try Items.all(vault), openers: openers, quarantined: try vault.status().quarantinedCount,
            isAsLeft: isAsLeft,
            backup: access(place.backupFile, F_OK) == 0 ? try content(place.backupFile, "the backup") : nil,
            kept: try kept(), outbox: isAsLeft ? try Ring(place: place).outbox(vault) : nil)
    }

    private func kept() throws -> [[String: String]] {
        try keptFiles().compactMap { file in
            do {
                return try content(file, "what a restoration kept")
            } catch let violation as Violation {
                guard !expectsVaults else { throw violation }
                return nil
            }
        }
    }

    static func opens(_ opener: Opener, _ vault: Vault) throws -> Bool {
        if opener == .deviceKey { return try said("its openers") { try vault.opensByItself } }
        do {
            try vault.unlock(opener.secret)
            return true
        } catch  where error.reason == .authenticationFailed {
            return false
        } catch {
            throw Violation("unlocking with \(opener.rawValue): \(error.reason.rawValue): \(error.message)")
        }
    }

    // MARK: - Copies

    private func keptFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.folder)
            .filter { $0.hasPrefix("vault.db.replaced-") && !$0.hasSuffix("-wal") }.map { place.folder + "/" + $0 }
    }

    /// The items in a file, opened as the vault of a separate folder. The same secret opens every copy as the vault.
    private func content(_ file: String, _ what: String) throws -> [String: String] {
        let folder = Place(root: place.root + "/look")
        for path in [folder.root, folder.folder, folder.root + "/config"] { mkdir(path, 0o700) }
        defer { remove(folder) }
        // What SQLite could not read was kept byte by byte, with its WAL.
        let files = [
            (file, folder.folder + "/vault.db"), (file + "-wal", folder.folder + "/vault.db-wal"),
            (place.deviceKeyFile, folder.deviceKeyFile),
        ]
        for (from, to) in files where access(from, F_OK) == 0 { try copy(from, to) }
        return try said(what) {
            let vault = try folder.another()
            let items = try Items.all(vault)
            let damaged = try vault.status().damagedCount
            guard damaged == 0 else { throw Violation("\(damaged) items of \(what) are damaged") }
            return items
        }
    }

    private func copy(_ from: String, _ to: String) throws {
        try Scratch.write(try Data(contentsOf: URL(fileURLWithPath: from)), to: to)
    }

    private func remove(_ folder: Place) {
        do { try FileManager.default.removeItem(atPath: folder.root) } catch { print("left behind: \(folder.root)") }
    }
}

/// Where the vault refuses something, that is a violation.
@discardableResult
func said<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as KeychainError {
        throw Violation("\(what): \(error.reason.rawValue): \(error.message)")
    }
}
