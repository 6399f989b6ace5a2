// SPDX-License-Identifier: Apache-2.0
// Names of files in a shared folder.

import Foundation
import KeychainCrypto
import KeychainSyncCore

/// An object's name, followed by the beginning of its hash. A second object of the same name is a second file, and the
/// name of an incomplete file does not match its content.
struct FileName: Hashable {
    static let suffix = ".skc"
    private static let digits = 8

    let object: ObjectName
    /// Eight hexadecimal digits.
    let hash: String

    init(_ object: ObjectName, _ bytes: Data) { (self.object, hash) = (object, Self.hash(bytes)) }

    /// - Parameters:
    ///   - folder: The path below the ring, such as `l/` and the writer.
    ///   - file: Any file name in it.
    /// - Returns: `nil` for other files, such as hidden files and the conflict copies of a sync tool.
    init?(_ folder: String, _ file: String) {
        let stem = file.utf8.dropLast(Self.suffix.utf8.count)
        let (hash, name) = (stem.suffix(Self.digits), stem.dropLast(Self.digits))
        guard file.utf8[stem.endIndex...].elementsEqual(Self.suffix.utf8), hash.count == Self.digits,
            hash.allSatisfy(Self.isDigit), name.last == UInt8(ascii: "-"),
            let object = ObjectName("\(folder)/\(Substring(name.dropLast()))")
        else { return nil }
        (self.object, self.hash) = (object, String(Substring(hash)))
    }

    /// The folder below the ring, and the file in it.
    var parts: (folder: [String], file: String) {
        let parts = object.text.split(separator: "/").map(String.init)
        return (Array(parts.dropLast()), "\(parts.last ?? "")-\(hash)\(Self.suffix)")
    }

    var fingerprint: UInt32 { UInt32(hash, radix: 16) ?? 0 }

    func isOf(_ bytes: Data) -> Bool { Self.hash(bytes) == hash }

    private static func hash(_ bytes: Data) -> String { String(Checksum.sha256(bytes).prefix(digits / 2).hexadecimal) }

    private static func isDigit(_ character: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(character)
    }
}

extension Data {
    /// Lower case only: some tools change the case of names, and such files are ignored.
    fileprivate var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
