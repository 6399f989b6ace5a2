// SPDX-License-Identifier: Apache-2.0
// One line of a table: a command of `security`, what it writes to each stream, and its exit code.

import Foundation
import Testing

struct SecurityRow: CustomTestStringConvertible, Sendable {
    let line: String
    let output: String
    /// Standard error without the warnings of this tool.
    let errors: String
    let status: Int32

    init(_ line: String, out output: String = "", err errors: String = "", _ status: Int32 = 0) {
        (self.line, self.output, self.errors, self.status) = (line, output, errors, status)
    }

    var testDescription: String { line }

    func check(_ tool: Tool) throws {
        let run = try tool.security(line)
        #expect(run.text == output, "\(line)")
        #expect(run.errorsOfMacOS == errors, "\(line)")
        #expect(run.status == status, "\(line)")
    }
}

extension Tool {
    /// Runs a command of `security`, as a shell would read it.
    @discardableResult
    func security(_ line: String, input: String = "") throws -> Run {
        try shell("\"$CTL\" security \(line)", input: Data(input.utf8))
    }

    /// The same, which has to work.
    func prepare(_ lines: String...) throws {
        for line in lines {
            let run = try security(line)
            try #require(run.status == 0, "\(run.errors)")
        }
    }
}

extension Tool.Run {
    /// What macOS's command would write, too.
    var errorsOfMacOS: String {
        errors.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("security: Warning: ") && !$0.hasSuffix("no effect here.") }
            .joined(separator: "\n")
    }
}
