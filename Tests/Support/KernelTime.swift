// SPDX-License-Identifier: Apache-2.0
// What the kernel says about a key's time, as `/proc/keys` shows it.

import Foundation
package import SecretMemory

package enum KernelTime {
    package static let isShown = access("/proc/keys", R_OK) == 0

    /// Whether the key has so little time left that the kernel counts it in seconds; that is less than one minute.
    ///
    /// - Returns: `nil` if there is no such key.
    package static func isShort(_ key: KernelKeyring.Key) throws -> Bool? { try shown(key)?.hasSuffix("s") }

    /// The same for seconds and minutes; that is less than one hour. "perm" is no number of minutes.
    ///
    /// - Returns: `nil` if there is no such key.
    package static func isUnderAnHour(_ key: KernelKeyring.Key) throws -> Bool? {
        try shown(key).map { time in
            (time.hasSuffix("s") || time.hasSuffix("m")) && time.dropLast().allSatisfy(\.isNumber)
        }
    }

    private static func shown(_ key: KernelKeyring.Key) throws -> Substring? {
        let serial = String(format: "%08x", UInt32(bitPattern: key.serial))
        // "2a6f8c1b I--Q---     1  29s 3f010000  1000  1000 user      description: 297"
        let words = try text().split(separator: "\n")
            .map { $0.split(separator: " ") }.first { $0.first.map(String.init) == serial }
        guard let words, words.count > 3 else { return nil }
        return words[3]
    }

    /// To its end: Foundation's ways to read a whole file stop after the kernel's first four kilobytes.
    private static func text() throws -> String {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/keys"))
        defer { file.closeFile() }
        return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
}
