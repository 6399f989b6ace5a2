// SPDX-License-Identifier: Apache-2.0
// Scripts with a TPM in software.

import Foundation
import KeychainTestSupport
import Testing

extension Tool {
    static let hasTPM =
        Programs.installed("swtpm") != nil && dlopen("libtss2-tctildr.so.0", RTLD_NOW | RTLD_LOCAL) != nil
    static let tpmIsMissing: Comment = "swtpm or its library is not installed (Debian: swtpm, libtss2-tctildr0)"

    /// A script in which the functions `start` and `stop` start and end a TPM with the state in the folder `tpm`. It is started
    /// before the lines, and writes each command that it gets to `tpm.log`.
    static func scriptWithTPM(_ lines: String) -> String {
        """
        export KEYCHAIN_TPM="swtpm:path=$PWD/tpm.sock" TSS2_LOG=all+NONE
        start() {
            mkdir -p tpm
            swtpm socket --tpm2 --tpmstate dir=tpm --server type=unixio,path=tpm.sock --log file=tpm.log,level=20 \\
                --ctrl type=unixio,path=tpm.sock.ctrl --flags not-need-init,startup-clear >swtpm.log 2>&1 &
            swtpm=$!
            until [ -S tpm.sock ] && [ -S tpm.sock.ctrl ] || ! kill -0 $swtpm; do sleep 0.02; done
        }
        stop() { kill -9 $swtpm; wait $swtpm; rm -f tpm.sock tpm.sock.ctrl; } 2>/dev/null
        trap stop EXIT
        start
        \(lines)
        """
    }
}
