// SPDX-License-Identifier: Apache-2.0
// Sync, as programs use it.

public import KeychainEngine
import KeychainSyncCore
public import KeychainVault
import SecretMemory

/// Shares the synchronizable items of this machine's keychain with the user's other machines, end to end encrypted.
///
/// ```swift
/// let sync = try KeychainSync()
/// let report = try await sync.now(timeout: .seconds(5))
/// print("\(report.received) items came, and \(report.sent) changes went")
/// ```
///
/// It works on the same vault as KeychainKit's `SecretStore`: what a program saves as synchronizable goes out with the next
/// exchange, and what comes in is there for all programs, which hear of it as of any change. Saving and reading never wait for an
/// exchange. An object for each use is cheap; all of them, in all processes, share the state that is in the vault.
///
/// Nothing happens by itself: something has to call ``now(timeout:)`` from time to time, or ``watch(_:)``, or
/// `keychainctl sync watch` has to run.
///
/// Does not protect against the members of the ring: each machine reads and changes all items that are shared. Does not prevent that
/// the carrier holds changes back: that is noticed, and ``SyncStatus/notices`` says so.
public final class KeychainSync: Sendable {
    let member: RingMember
    let clock: any Clock<Duration>
    private let listeners = Guarded(SyncListeners())

    /// The sync of a vault.
    ///
    /// ```swift
    /// let location = try VaultLocation(folder: folder, deviceKeyFile: deviceKeyFile)
    /// let sync = try KeychainSync(vault: .at(location))
    /// ```
    ///
    /// - Parameters:
    ///   - vault: The vault that the program's stores use. `nil`: the user's vault, which `SecretStore` uses as well, or the one that
    ///     the environment names.
    ///   - ways: What the program has beside shared folders, such as `etcd` of the module `KeychainSyncEtcd`.
    /// - Throws: `unavailable` if no folder can be found for the user's vault; `unsafeLocation` if the environment names an unusable
    ///   one; `invalidParameter` if it has a setting that does not exist. It does not throw if the vault is in no ring, or not made yet.
    public convenience init(vault: Vault? = nil, ways: [SyncWay] = []) throws(KeychainError) {
        let environment = ProcessEnvironment.current
        let chosen: Vault
        if let vault {
            chosen = vault
        } else {
            chosen = Vault.at(try .fromEnvironment(environment), try .fromEnvironment(environment))
        }
        self.init(RingMember(chosen, kinds: ways.map(\.kind)))
    }

    package init(_ member: RingMember, clock: any Clock<Duration> = ContinuousClock()) {
        (self.member, self.clock) = (member, clock)
    }

    // MARK: - State

    /// Whether the vault is in a ring.
    ///
    /// - Throws: The vault's errors, such as `corrupt`. A vault that does not exist is in no ring.
    public var isInRing: Bool {
        get async throws(KeychainError) {
            try await member.blocking { [member] () throws(KeychainError) in try member.vault.isInRing }
        }
    }

    /// What this machine knows about its ring. It needs neither the carrier nor a network.
    ///
    /// - Throws: `unavailable` if the vault is in no ring; `locked`; the vault's errors.
    public func status() async throws(KeychainError) -> SyncStatus {
        SyncStatus(try await member.status())
    }

    /// Forgets the notices that stay until the user has decided what to do. What is noticed again comes back.
    ///
    /// - Returns: What is forgotten; also what was noticed after the caller has looked.
    /// - Throws: `unavailable` if the vault is in no ring; `locked`; the vault's errors.
    @discardableResult
    public func dismissNotices() async throws(KeychainError) -> [SyncNotice] {
        try await member.dismissNotices().map(SyncNotice.init)
    }

    /// The state now, and again after each change of it, without polling.
    ///
    /// A vault that is locked or in no ring does not end the sequence: it is an element too. Several changes may be one element, and
    /// equal states follow each other only once. The sequence ends when its task is cancelled or it is no longer used.
    ///
    /// - Throws: `unavailable` if the vault cannot be observed, because the system's limits on watching files are reached.
    public func statuses() throws(KeychainError) -> AsyncStream<Result<SyncStatus, KeychainError>> {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (stream, continuation) = AsyncStream.makeStream(of: Result<SyncStatus, KeychainError>.self)
        let observation = try member.vault.observe { signal.yield() }
        let number = listeners.withLock { $0.add(signal) }
        signal.yield()
        let task = Task { [self] in
            var last: Result<SyncStatus, KeychainError>?
            for await _ in signals {
                let new = await result()
                if new != last { continuation.yield(new) }
                last = new
            }
        }
        continuation.onTermination = { [listeners] _ in
            withExtendedLifetime(observation) { listeners.withLock { $0.remove(number) } }
            task.cancel()
            signal.finish()
        }
        return stream
    }

    private func result() async -> Result<SyncStatus, KeychainError> {
        do throws(KeychainError) { return .success(try await status()) } catch { return .failure(error) }
    }

    // MARK: - Exchanging

    /// Fetches and applies what other machines have published, and publishes the changes of this one.
    ///
    /// Processes exchange one after the other; reading and writing items does not wait for them. When the task is cancelled, or the time
    /// is up, the exchange ends after its present step. What an exchange has done stays done, and the next one continues.
    ///
    /// - Parameter timeout: How long it may take, the wait for other processes included. When the time is up, what was done until
    ///   then is returned, with ``SyncReport/isComplete`` `false`; a step that has begun is not part of it. An exchange that has not
    ///   read everything is not complete either.
    /// - Throws: `unavailable` if the vault is in no ring, sync is paused, or the carrier cannot be reached; `unsupported` if the ring
    ///   is at a place that no way of this program leads to, such as etcd; `missingEntitlement` if this machine was removed from the
    ///   ring; `locked`; `newerFormat` if another machine uses a newer version; `cancelled`; errors of the
    ///   carrier, such as `diskFull`; the vault's errors.
    @discardableResult
    public func now(timeout: Duration = .seconds(30)) async throws(KeychainError) -> SyncReport {
        defer { listeners.withLock { $0.signal() } }
        return try await TimedExchange(member, timeout, clock).report()
    }

    /// Exchanges now, whenever an item is changed here or something comes from another machine, and once an hour, until the task is
    /// cancelled. For a process that has to share by itself, such as a server.
    ///
    /// A failure ends nothing: after it there is another try, after a second at first and after a minute at most.
    ///
    /// - Parameter tell: Told of each exchange and each failure, on any thread. The next exchange waits until it returns.
    /// - Throws: `unavailable` if the vault is in no ring, leaves it, or cannot be observed.
    public func watch(
        _ tell: @escaping @Sendable (Result<SyncReport, KeychainError>) -> Void = { _ in }
    ) async throws(KeychainError) {
        try await member.watch { [self] outcome in
            listeners.withLock { $0.signal() }
            tell(outcome.map { SyncReport($0) })
        }
    }

    /// Stops exchanging on this machine, in all processes, until ``resume()``. Changes are kept.
    ///
    /// - Throws: `unavailable` if the vault is in no ring; `locked`; the vault's errors.
    public func pause() async throws(KeychainError) { try await member.pause() }

    /// Continues exchanging. It does not exchange itself.
    ///
    /// - Throws: As ``pause()``.
    public func resume() async throws(KeychainError) { try await member.pause(false) }
}
