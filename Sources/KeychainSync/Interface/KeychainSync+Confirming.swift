// SPDX-License-Identifier: Apache-2.0
// Changes that all machines agree on.

public import KeychainEngine

extension KeychainSync {
    /// The vault as a store whose changes return when all machines agree on them. Only a ring over etcd can do that.
    ///
    /// ```swift
    /// let sync = try KeychainSync(ways: [.etcd])
    /// let store = SecretStore(service: "com.example.app", synchronizable: true)
    /// let agreed = store.through(sync.confirming(within: .seconds(5)))
    /// try await agreed.save(token, for: "a")
    /// try await agreed.update(Int.self, for: "count") { $0 = ($0 ?? 0) + 1 }
    /// ```
    ///
    /// When a change returns, it is on a majority of etcd's nodes, and no machine has made a change that this one had not seen before it.
    /// So two machines that count lose no count, and of two that create one item one gets `duplicateItem`. A transaction is one change.
    /// If another machine is faster, this one catches up, and the closure of an `update` or `transaction` runs again. It does not mean
    /// that the others have it yet: each gets it with its next exchange.
    ///
    /// Only synchronizable items can be changed, and less than 1 MiB at once. Reading is as from the vault, and not confirmed: what was
    /// read is compared when the change is made. Make asynchronous calls, or call from a thread that may wait. A `Timeout` of the
    /// store that is shorter than `limit` ends a call before its change is made. If an item is added, its persistent reference is known
    /// only once it is read.
    ///
    /// Does not protect against an etcd that lies to its users: it can tell two machines that each was first. Both changes are then kept,
    /// as of any two that did not see each other, and ``SyncStatus/notices`` or the compare code tell of it.
    ///
    /// What the changes throw in addition:
    ///
    /// | Reason | |
    /// |---|---|
    /// | `unavailable` | etcd cannot be reached or has no majority, sync is paused, a person has to decide about a machine (``keep(machines:)``), or the vault is in no ring. See `keepsUnconfirmed`. |
    /// | `timedOut` | The limit was reached. The message says whether nothing was changed, or whether that is not known: the next exchange then brings the change if it was made. |
    /// | `busy` | Other machines were faster each time. Nothing was changed. |
    /// | `diskFull` | etcd is full, and nothing was changed; or the disk of this machine is, and the message says that the change is made. |
    /// | `unsupported` | The machines exchange through a folder, or no way of this program leads to them. Nothing was changed. |
    /// | `invalidParameter` | An item is not shared with other machines. Nothing was changed. |
    /// | `tooLarge` | The change is too large. Nothing was changed. |
    /// | `missingEntitlement`, `newerFormat` | As ``now(timeout:)``. Nothing was changed. |
    ///
    /// - Parameters:
    ///   - limit: How long one change may take, waiting for other processes and machines included.
    ///   - keepsUnconfirmed: Whether a change that throws `unavailable` stays on this machine as an ordinary one, which goes out with the
    ///     next exchange; in no ring nothing is kept. Pass `false` if the program tries again and the change must not be made twice,
    ///     such as a count: then nothing was changed.
    public func confirming(within limit: Duration, keepsUnconfirmed: Bool = true) -> any TransactionalStore {
        ConfirmingStore(
            ConfirmedChange(member: member, limit: limit, clock: clock), keepsUnconfirmed: keepsUnconfirmed)
    }
}
