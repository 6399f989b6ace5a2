// SPDX-License-Identifier: Apache-2.0
// The answer of an SSH agent that lists its keys, within the limits of OpenSSH's clients.

import Foundation
import KeychainAuthenticators

/// The keys that an agent offers. OpenSSH's clients refuse a list that exceeds a limit as a whole, so further keys are left
/// out.
struct SSHAgentList {
    typealias Identity = (encoding: Data, comment: String)

    /// The limit of OpenSSH, in bytes.
    static let longest = 256 << 10
    /// The limit of OpenSSH, in keys.
    static let most = 2048
    /// In bytes, with its control characters escaped.
    static let longestComment = 1024
    private static let ellipsis = "…"

    /// The number of keys that are left out.
    let leftOut: Int
    private let entries: [Identity]

    /// Each key is offered once: servers count what a client offers, and soon refuse it.
    init(_ identities: [Identity]) {
        var known: Set<Data> = []
        let unique = identities.filter { known.insert($0.encoding).inserted }
        // The type of the message, and the number of keys.
        var length = 1 + 4
        entries = Array(
            unique.prefix(Self.most).prefix(while: { identity in
                length += Self.length(of: identity)
                return length <= Self.longest
            }))
        leftOut = unique.count - entries.count
    }

    /// Two strings, with their lengths.
    static func length(of identity: Identity) -> Int { 8 + identity.encoding.count + identity.comment.utf8.count }

    var message: Data {
        var answer = SSHMessageWriter(12)
        answer.number(UInt32(entries.count))
        for (encoding, comment) in entries {
            answer.string(encoding)
            answer.string(Data(comment.utf8))
        }
        return answer.message
    }

    /// Why keys are left out; `nil` if none are.
    var complaint: String? {
        guard leftOut > 0 else { return nil }
        return "ssh takes at most \(Self.most) keys and \(Self.longest >> 10) KiB from an agent, so keys were not "
            + "offered: \(leftOut). Start the agent with the --tag of each key that you need."
    }

    /// A name as a comment: control characters are escaped, and the end of a name that is too long is left out.
    static func comment(_ name: String) -> String {
        var comment = ""
        var cut = 0
        for character in name {
            comment += String(character).escapingControls()
            guard comment.utf8.count <= longestComment else {
                return String(decoding: comment.utf8.prefix(cut), as: UTF8.self) + ellipsis
            }
            if comment.utf8.count + ellipsis.utf8.count <= longestComment { cut = comment.utf8.count }
        }
        return comment
    }
}
