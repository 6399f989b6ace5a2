// SPDX-License-Identifier: Apache-2.0
// Where the secrets of a vault are found after an operation of another process.

import Foundation

@testable import KeychainVault

/// What was found of an exerciser's secrets: while its vault was open, and after it was closed.
struct NeedleFindings {
    /// In what a core dump would hold while the vault is open.
    let core: Set<NeedlePlace>
    /// In all memory while the vault is open.
    let openMemory: Set<NeedlePlace>
    /// In all memory after everything was closed.
    let memory: Set<NeedlePlace>
    /// In files, those without a name included, and in messages.
    let elsewhere: Set<NeedlePlace>
    /// In the files that are there to hold a secret: the device key's, and a credential.
    let keptInFiles: Set<NeedlePlace>
    let messages: String

    init(_ entry: NeedleCase) throws {
        let vault = try NeedleVault(entry.preparations)
        let before = try vault.needles()
        let child = try NeedleChild(vault, entry)
        defer { child.end() }
        guard child.waits(for: "open") else { throw NeedleChildFailure(messages: child.messages) }
        _ = try vault.sponsor?.finish()
        let search = NeedleSearch(before + (try vault.needles()) + (try vault.takeMade()))
        let whileOpen = try ProcessMemory(of: child.pid).places(of: search)
        core = Set(whileOpen.filter { $0.isDumped }.map { $0.place })
        openMemory = Set(whileOpen.map { $0.place })
        let openFiles = try Self.files(vault, child, search)
        try child.close()
        guard child.waits(for: "ready") else { throw NeedleChildFailure(messages: child.messages) }
        memory = Set(try ProcessMemory(of: child.pid).places(of: search).map { $0.place })
        let told = search.names(in: child.messages).map { NeedlePlace(needle: $0, place: "a message") }
        elsewhere = openFiles.union(try Self.files(vault, child, search)).union(told)
        keptInFiles = vault.keptInFiles
        messages = String(decoding: child.messages, as: UTF8.self)
    }

    func says(_ end: String) -> Bool { messages.split(separator: "\n").contains("outcome \(end)") }

    private static func files(
        _ vault: NeedleVault, _ child: NeedleChild, _ search: NeedleSearch
    ) throws -> Set<NeedlePlace> {
        let files = try vault.test.files().merging(child.unlinkedFiles()) { $1 }
        return Set(
            files.flatMap { path, bytes in
                let name = String(path.split(separator: "/").last ?? "")
                return search.names(in: bytes).map { NeedlePlace(needle: $0, place: name) }
            })
    }
}

/// The exerciser ended, or hung, before it was done.
struct NeedleChildFailure: Error {
    let messages: Data
}
