// SPDX-License-Identifier: Apache-2.0
// The file of git-credential-store: one URL with user name and password in each line.

import Foundation
import KeychainKit

enum GitCredentialsFormat {
    static func records(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [ImportRecord] {
        var records: [ImportRecord] = []
        for line in try ImportText.lines(bytes) {
            let content = line.bytes.trimmed
            // git passes over lines that are not a URL; comments are such lines.
            guard let first = content.first, first != UInt8(ascii: "#") else { continue }
            records.append(try record(Array(content), line.number))
            guard records.count <= ImportLimits.entries else { throw .tooManyEntries }
        }
        return records
    }

    private static func record(_ url: [UInt8], _ line: Int) throws(KeychainError) -> ImportRecord {
        guard let parts = parts(url) else {
            throw .unreadable(line: line, "It is not a URL with a user name and a password.")
        }
        let origin = "line \(line)"
        guard let user = String(validating: parts.user, as: UTF8.self) else {
            return ImportRecord(skipping: nil, "the user name is not text", origin: origin)
        }
        let address = WebAddress(parts.address)
        guard var server = address.server else {
            return ImportRecord(skipping: nil, "the protocol or the port is not supported", origin: origin)
        }
        guard address.leftOut.isEmpty else {
            return ImportRecord(skipping: server.text, "it has a query or a fragment without a path", origin: origin)
        }
        server.path = parts.path
        guard !parts.password.isEmpty else {
            return ImportRecord(skipping: server.text, "it has no password", origin: origin)
        }
        return ImportRecord(
            ImportedItem(place: .server(server), account: user, value: parts.password), origin: origin)
    }

    /// `PROTOCOL://USER:PASSWORD@HOST…`; user name, password and path are percent-encoded.
    private static func parts(_ url: [UInt8]) -> (user: Data, password: Data, address: String, path: String?)? {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            url[(colon + 1)...].starts(with: Array("//".utf8))
        else { return nil }
        let authority = url[(colon + 3)...].prefix { $0 != UInt8(ascii: "/") }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")),
            let separator = authority[..<at].firstIndex(of: UInt8(ascii: ":")),
            let user = authority[..<separator].percentDecoded,
            let password = authority[(separator + 1)..<at].percentDecoded,
            let path = url[authority.endIndex...].percentDecoded, let text = String(validating: path, as: UTF8.self)
        else { return nil }
        let host = url[..<(colon + 3)] + authority[(at + 1)...]
        return (user, password, String(decoding: host, as: UTF8.self), path.count > 1 ? text : nil)
    }
}
