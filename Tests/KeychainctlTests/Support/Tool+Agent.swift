// SPDX-License-Identifier: Apache-2.0
// Scripts with an SSH agent of the tool.

import Foundation
import Testing

extension Tool {
    /// Runs a script with an agent on `$PWD/s`, which ends with the script. What the agent says is in the file `log`.
    ///
    /// In the script, `fails WORDS` ends it if that command succeeds.
    ///
    /// - Parameter before: A script that runs before the agent is started, to set its variables.
    func shellWithAgent(_ script: String, options: String = "", before: String = ":") throws -> Run {
        try shell(Self.scriptWithAgent(script, options: options, before: before))
    }

    static func scriptWithAgent(_ script: String, options: String = "", before: String = ":") -> String {
        """
        set -e; \(before)
        fails() { if "$@" > /dev/null 2>&1; then echo "succeeded: $*"; exit 90; fi; }
        mkfifo out; "$CTL" ssh-agent --socket "$PWD/s" \(options) > out 2> log & agent=$!
        trap 'kill $agent 2> /dev/null || :; wait $agent || :' EXIT
        read -r line < out; eval "$line"; test "$SSH_AUTH_SOCK" = "$PWD/s"
        \(script)
        """
    }
}
