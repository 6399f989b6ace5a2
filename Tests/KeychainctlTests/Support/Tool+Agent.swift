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

/// Parts of scripts with an agent.
enum AgentScript {
    /// Makes the key `key`, whose public half is `pub`, so that only an agent signs with it.
    static func make(_ options: String = "-t ed25519") -> String {
        "ssh-keygen -q \(options) -N '' -C mine -f key; mv key.pub pub; echo message > file"
    }

    static let sign = "ssh-keygen -q -Y sign -n test -f pub file"

    /// A script that fails if it waits for ever.
    static func limited(_ script: String) -> String { "timeout 300 sh -c '\(script)'" }

    /// An askpass program that notes what it is asked, and then does `body`.
    static func asking(_ body: String, variable: String = "SSH_ASKPASS") -> String {
        """
        printf '#!/bin/sh\\necho "$SSH_ASKPASS_PROMPT: $1" >> "%s/asked"\\n%s\\n' "$PWD" '\(body)' > ask
        chmod +x ask; export \(variable)="$PWD/ask"
        """
    }
}
