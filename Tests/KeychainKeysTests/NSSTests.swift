// SPDX-License-Identifier: Apache-2.0
// PKCS#12 files of NSS, which are BER with indefinite lengths, and ours in its hands.

import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

private let tools = ["certutil", "pk12util"].map { "/usr/bin/\($0)" }

@Suite(.enabled(if: tools.allSatisfy(FileManager.default.isExecutableFile), "the tools of NSS are not installed"))
struct NSSTests {
    private let passphrase = "correct horse"

    private func run(_ tool: Int, _ command: String, in folder: borrowing OpenSSL) throws -> String {
        let result = try folder.attempt(tools[tool], command.split(separator: " ").map(String.init))
        let text = String(decoding: result.output, as: UTF8.self)
        try #require(result.succeeded, "\(command): \(text)")
        return text
    }

    private func makeDatabase(_ folder: borrowing OpenSSL) throws {
        try folder.write(Data(), "empty")
        try folder.write(Data((passphrase + "\n").utf8), "passphrase")
        try folder.write(Data([UInt8].random(count: 64)), "noise")
        _ = try run(0, "-N -d . -f empty --empty-password", in: folder)
    }

    @Test func file_ofNSS_isRead() throws {
        let folder = try OpenSSL()
        try makeDatabase(folder)
        _ = try run(0, "-S -d . -n leaf -s CN=Leaf -x -t u,u,u -z noise -k ec -q nistp256 -f empty", in: folder)
        _ = try run(1, "-o f.p12 -n leaf -d . -w passphrase -k empty", in: folder)
        let file = try folder.read("f.p12")
        #expect(file.starts(with: [0x30, 0x80]))
        let identity = try #require(PKCS12(file, passphrase: SecretBytes(passphrase)).identities().first)
        #expect(identity.key.kind == .p256 && identity.chain.map(\.commonName) == ["Leaf"] && identity.name == "leaf")
    }

    @Test func file_ofOurs_isReadByNSS() throws {
        let folder = try OpenSSL()
        try makeDatabase(folder)
        let identity = PKCS12.Identity(
            key: try KnownKey.privateKey(KnownKey.p256), chain: [try Certificate(der: KnownCertificate.der)],
            name: "ours")
        try folder.write(identity.file(passphrase: SecretBytes(passphrase), rounds: 2048), "ours.p12")
        _ = try run(1, "-i ours.p12 -d . -w passphrase -k empty", in: folder)
        #expect(try run(0, "-K -d . -f empty", in: folder).contains("ours"))
    }
}
