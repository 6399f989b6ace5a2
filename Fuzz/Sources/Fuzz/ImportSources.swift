// SPDX-License-Identifier: Apache-2.0
// The files of other programs that `keychainctl import` reads.

import Foundation
import KeychainKit

@testable import keychainctl

enum ImportSources {
    private static let formats: [ImportFormat] = [
        .netrc, .gitCredentials, .docker, .env, .keepassxc, .bitwarden, .onePassword, .firefox, .chrome, .keychainDump,
    ]

    static func any(_ bytes: Data) {
        var input = FuzzInput(bytes)
        let format = input.element(of: formats)
        check(records(input.rest, format))
    }

    static func keepass(_ bytes: Data) {
        check(records(Data("<".utf8) + bytes.drop { $0 == UInt8(ascii: "<") }, .keepassxc))
        text(bytes)
    }

    /// As an archive, and as the only member of one.
    static func onePux(_ bytes: Data) {
        check(records(Data("PK\u{3}\u{4}".utf8) + bytes.dropFirst(4), .onePassword))
        let archive = stored(bytes, as: "export.data")
        let member = archive.withUnsafeBytes {
            try? ZIPArchive($0, format: "an archive").member("export.data", limit: 1 << 14)
        }
        require(member == (bytes.count <= 1 << 14 ? bytes : nil), "a member is read as it was written")
        for limit in [0, bytes.count / 2] where limit < bytes.count {
            let part = archive.withUnsafeBytes {
                try? ZIPArchive($0, format: "an archive").member("export.data", limit: limit)
            }
            require(part == nil, "no more than the limit is read")
        }
    }

    private static func records(_ bytes: Data, _ format: ImportFormat) -> [ImportRecord]? {
        let reader = ImportReader(format: format, path: nil, keepsWhole: false, service: "fuzz")
        return bytes.withUnsafeBytes { try? reader.records($0, "fuzz") }
    }

    static func check(_ records: [ImportRecord]?) {
        for case .item(let item) in records?.map(\.content) ?? [] {
            let names = [item.account, item.label, item.comment].compactMap { $0 }
            require(names.allSatisfy { !$0.utf8.contains(0) }, "no name contains a zero byte")
            require(item.value.count <= ImportLimits.field, "no value is longer than the limit")
        }
    }

    /// Text that is written as XML is read as it was, but for the ends of lines.
    private static func text(_ bytes: Data) {
        guard String(validating: bytes, as: UTF8.self) != nil, bytes.allSatisfy({ $0 >= 0x20 }) else { return }
        let written = Data(bytes.flatMap { $0 < 0x80 ? Array("&#\($0);".utf8) : [$0] })
        let read = written.withUnsafeBytes { try? XMLText.decoded($0[...], limit: bytes.count) }
        require(read == bytes, "text of XML is read as it was written")
    }

    // MARK: - Archives

    private static func stored(_ content: Data, as name: String) -> Data {
        let numbers = long(Inflation.checksum(content)) + long(content.count) + long(content.count)
        let lengths = short(name.utf8.count) + short(0)
        let local =
            Data("PK\u{3}\u{4}".utf8) + short(20) + Data(count: 8) + numbers + lengths + Data(name.utf8) + content
        let entry =
            Data("PK\u{1}\u{2}".utf8) + short(20) + short(20) + Data(count: 8) + numbers + lengths + Data(count: 14)
            + Data(name.utf8)
        return local + entry + Data("PK\u{5}\u{6}".utf8) + Data(count: 4) + short(1) + short(1) + long(entry.count)
            + long(local.count) + short(0)
    }

    private static func short(_ number: Int) -> Data { withUnsafeBytes(of: UInt16(number).littleEndian) { Data($0) } }

    private static func long(_ number: some BinaryInteger) -> Data {
        withUnsafeBytes(of: UInt32(number).littleEndian) { Data($0) }
    }
}
