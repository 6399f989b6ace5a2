// SPDX-License-Identifier: Apache-2.0
// Short spellings for the tests of history and undo.

import Foundation
import Testing

let thirdSecret = Data("staple battery".utf8)

extension Tool {
    /// What `history --json` shows, the latest change first.
    func history(_ arguments: String) throws -> [[String: Any]] {
        let run = try shell("\"$CTL\" history --json \(arguments)")
        try #require(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
    }

    /// The changes as "command: parts", the latest first.
    func changes(_ arguments: String = "") throws -> [String] {
        try history(arguments).map { version in
            let parts = version["changes"] as? [String] ?? []
            return "\(version["command"] as? String ?? ""): \(parts.joined(separator: ","))"
        }
    }

    /// Runs a script that has to work.
    @discardableResult
    func must(_ script: String, input: Data = Data()) throws -> Run {
        let run = try shell(script, input: input)
        try #require(run.status == 0, "\(run.errors)")
        return run
    }
}
