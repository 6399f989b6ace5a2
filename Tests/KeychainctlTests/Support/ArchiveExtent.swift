// SPDX-License-Identifier: Apache-2.0
// How much the tests of exports and imports try: a sample, or everything.

import Foundation
import Testing

/// `make archives` sets `KEYCHAIN_ARCHIVES=all`, and takes about half an hour.
enum ArchiveExtent {
    private static let isFull = ProcessInfo.processInfo.environment["KEYCHAIN_ARCHIVES"] == "all"

    /// Items that are exported and imported.
    static let items = isFull ? 10_000 : 600

    /// Of the bytes of a file, every one or every thirteenth is changed.
    static let byteStep = isFull ? 1 : 13

    struct Kills: Sendable, CustomTestStringConvertible {
        let items: Int
        /// Of the calls of an import that write, the first and then each of this distance is one at which it is killed.
        let step: Int

        var testDescription: String { "\(items) items, each call of \(step)" }
    }

    /// An import of 10,000 items makes 25,000 such calls. To kill it at each of them would take days.
    static let kills =
        isFull ? [Kills(items: 300, step: 1), Kills(items: 10_000, step: 997)] : [Kills(items: 300, step: 41)]

    /// Tells `Scripts/archives.sh` what was tried.
    static func record(_ what: String, _ number: Int) {
        if isFull { print("archives: \(what): \(number)") }
    }
}
