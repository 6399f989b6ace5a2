// SPDX-License-Identifier: Apache-2.0
// The `openssl` program, as the other side of every format and algorithm.

import Foundation
import KeychainTestSupport
import SecretMemory
import Testing

/// A folder for one test, in which the `openssl` program runs.
struct OpenSSL: ~Copyable {
    let folder: URL

    static let path = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    /// The reason that the test run prints for tests that it leaves out.
    static let isMissing: Comment = "the openssl program is not installed"

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("keychain-keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func write(_ content: Data, _ name: String) throws { try content.write(to: folder.appendingPathComponent(name)) }

    func write(_ content: SecretBytes, _ name: String) throws {
        try write(content.withUnsafeBytes { Data($0) }, name)
    }

    func read(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }

    func secret(_ name: String) throws -> SecretBytes { SecretBytes(try read(name)) }

    /// Runs a program in the folder.
    ///
    /// - Returns: What it printed, and whether it succeeded.
    func attempt(_ program: String? = path, _ arguments: [String]) throws -> (output: Data, succeeded: Bool) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(program))
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let name = "output-\(UUID().uuidString)"
        _ = FileManager.default.createFile(atPath: folder.appendingPathComponent(name).path, contents: nil)
        let output = try FileHandle(forWritingTo: folder.appendingPathComponent(name))
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run(limitedTo: .testLimit)
        try process.waitForEnd()
        return (try read(name), process.terminationStatus == 0)
    }

    /// Runs `openssl` with words separated by spaces, and requires success.
    @discardableResult
    func callAsFunction(_ command: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Data {
        let result = try attempt(Self.path, command.split(separator: " ").map(String.init))
        let text = String(decoding: result.output, as: UTF8.self)
        try #require(result.succeeded, "openssl \(command): \(text)", sourceLocation: sourceLocation)
        return result.output
    }
}
