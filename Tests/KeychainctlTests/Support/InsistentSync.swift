// SPDX-License-Identifier: Apache-2.0
// Syncing over an etcd beside many other tests.

/// The function `now` of a script: `sync now`, as a person would run it. It tries again while the etcd does not answer in time.
let insistentSyncNow = """
    now() {
      local end=$(($(date +%s) + 600)) status
      until "$CTL" sync now; do
        status=$?
        [ $status = 13 ] && [ "$(date +%s)" -lt $end ] || return $status
      done
    }
    """
