// SPDX-License-Identifier: Apache-2.0
// What a machine has sent that was removed from the ring.

import Foundation
import Testing

@Suite("changes of a removed machine")
struct SyncRemovedTests {
    /// Two folders that show each other's files later. Of the one of the desktop the laptop sees nothing before the removal.
    @Test func changes_thatComeAfterTheRemovalOfTheirMachine_areCountedInTheStatus() throws {
        let tool = try Tool()
        let run = try tool.shell(
            """
            set -e; mkdir shared desktop; "$CTL" sync init --folder shared --name laptop
            "$CTL" sync invite --name desktop > code
            HOME="$HOME/desktop" "$CTL" sync join --folder shared --wait 600s --code-fd 3 3< code & other=$!
            while kill -0 $other 2> /dev/null; do "$CTL" sync now; done
            wait $other; cp -R shared before
            for account in a b; do
                echo v | HOME="$HOME/desktop" "$CTL" set --synchronizable -s s -a $account
                HOME="$HOME/desktop" "$CTL" sync now
            done
            mv shared late; mv before shared; "$CTL" sync remove desktop --yes
            cp -Rn late/. shared || true
            "$CTL" sync now; "$CTL" sync now
            """)
        try #require(run.status == 0, "\(run.errors)")
        let status = try tool.run("sync", "status", "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: status.output) as? [String: Any])
        #expect(object["unused"] as? Int == 2 && object["items"] as? Int == 0)
        let text = try tool.run("sync", "status").text
        #expect(text.contains("changes of removed machines that are not applied here: 2. "), "\(text)")
    }
}
