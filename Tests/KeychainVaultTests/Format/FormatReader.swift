// SPDX-License-Identifier: Apache-2.0
// The second implementation of the format, run as a program.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

/// `Tests/FormatReader/read_vault.py`, which was written from Docs/FORMAT.md alone.
struct FormatReader {
    /// Why tests with it may be skipped.
    static let requirement: Comment = "needs Python with the package 'cryptography' (KEYCHAIN_TEST_PYTHON names one)"

    static let isAvailable: Bool = {
        do {
            return try run(["-c", "import cryptography"]).status == 0
        } catch {
            return false
        }
    }()

    /// What it found.
    struct Reading {
        let status: Int32
        let errors: String
        let found: JSON

        var items: [JSON] { found["items"]?.elements ?? [] }
        /// The numbers of the rows that it reported.
        var damagedRows: [JSON?] { found["damaged"]?.elements.map { $0["row"] } ?? [] }
        var keybag: [String?] { found["keybag"]?.elements.map(\.text) ?? [] }
    }

    /// - Parameters:
    ///   - hasDeviceKey: Whether it gets the path of the device key.
    ///   - options: More of its arguments.
    ///   - secrets: The lines on its descriptor 0.
    static func read(
        _ location: VaultLocation, hasDeviceKey: Bool = true, _ options: [String] = [], secrets: [String] = []
    ) throws -> Reading {
        let input = Data(secrets.map { $0 + "\n" }.joined().utf8)
        return try reading([script, location.folder, hasDeviceKey ? location.deviceKeyFile : "-"] + options, input)
    }

    static func vectors(_ files: [String]) throws -> Reading { try reading([script, "--vectors"] + files) }

    private static func reading(_ arguments: [String], _ input: Data? = nil) throws -> Reading {
        let result = try run(arguments, input)
        let output = Data(result.output.utf8)
        let found = output.isEmpty ? JSON.null : try JSONDecoder().decode(JSON.self, from: output)
        return Reading(status: result.status, errors: result.errors, found: found)
    }

    private static func run(_ arguments: [String], _ input: Data? = nil) throws -> ChildResult {
        if let python = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_PYTHON"] {
            return try ChildProcess.run(python, arguments, input: input)
        }
        return try ChildProcess.run("/usr/bin/env", ["python3"] + arguments, input: input)
    }

    // MARK: - Files of the tests

    static let testsFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private static let script = testsFolder + "/FormatReader/read_vault.py"
}

extension StoredItem {
    /// What the reader is to print for it.
    func printed(row: Int64) -> JSON {
        .stored(self) { $0.base64EncodedString() }.merging(.object(["row": .number(row)]))
    }
}
