// SPDX-License-Identifier: Apache-2.0
// The `openssl` program, as the other side of what keys do.

import Foundation
import KeychainTestSupport
import Testing

/// A folder for one test, in which the `openssl` program runs.
struct OpenSSLProgram {
    let folder: TemporaryFolder

    static let path = Programs.installed("openssl")
    static let isMissing: Comment = "the openssl program is not installed"

    init() throws { folder = try TemporaryFolder.inMemory("keychain-openssl") }

    private func file(_ name: String) -> URL { folder.url.appendingPathComponent(name) }

    func write(_ content: Data, _ name: String) throws { try content.write(to: file(name)) }

    func read(_ name: String) throws -> Data { try Data(contentsOf: file(name)) }

    /// Runs `openssl` with words separated by spaces, and requires success.
    @discardableResult
    func callAsFunction(_ command: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.path))
        process.arguments = command.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder.url
        _ = FileManager.default.createFile(atPath: file("output").path, contents: nil)
        let output = try FileHandle(forWritingTo: file("output"))
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run(limitedTo: .testLimit)
        try process.waitForEnd()
        let text = String(decoding: try read("output"), as: UTF8.self)
        try #require(process.terminationStatus == 0, "openssl \(command): \(text)", sourceLocation: sourceLocation)
        return try read("output")
    }
}
