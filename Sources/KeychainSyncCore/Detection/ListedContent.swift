// SPDX-License-Identifier: Apache-2.0
// What a carrier tells of contents before they are read.

package import Foundation
import KeychainCrypto

/// A content that a carrier holds under a name, as far as it can be told without reading it.
package struct ListedContent: Hashable, Sendable {
    /// The first four bytes of its hash.
    package let fingerprint: UInt32
    /// In bytes.
    package let size: Int

    package init(fingerprint: UInt32, size: Int) { (self.fingerprint, self.size) = (fingerprint, size) }

    package init(_ bytes: Data) { self.init(fingerprint: ObjectHash.hash(of: bytes).fingerprint, size: bytes.count) }
}

extension Bytes32 {
    var fingerprint: UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}

/// A name under which something else lies than what is known here, or something beside it.
///
/// It is not stored: a machine that has forgotten it reads the contents again.
struct Doubt: Sendable {
    enum Verdict: Equatable {
        /// The key for it, or its author's, is not here.
        case unclear
        case authentic(MemberID)
        /// A confirmed segment that the carrier had not made, as it said.
        case refusedByCarrier
        case refused(Refusal)
    }

    /// As they were listed last.
    private(set) var contents: Set<ListedContent> = []
    private var verdicts: [UInt32: Verdict] = [:]
    /// Whether the contents have been read since.
    private(set) var isRead = false

    mutating func list(_ contents: Set<ListedContent>) {
        if contents != self.contents { (self.contents, isRead) = (contents, false) }
    }

    mutating func add(_ verdict: Verdict, _ bytes: Data) {
        verdicts[ObjectHash.hash(of: bytes).fingerprint] = verdict
        isRead = true
    }

    /// What is still there.
    private var current: [UInt32: Verdict] {
        let there = Set(contents.map(\.fingerprint))
        return verdicts.filter { there.contains($0.key) }
    }

    var authentic: [UInt32: MemberID] {
        current.compactMapValues { if case .authentic(let author) = $0 { author } else { nil } }
    }

    var refusals: [Refusal] {
        current.sorted { $0.key < $1.key }.compactMap {
            if case .refused(let refusal) = $0.value { refusal } else { nil }
        }
    }
}
