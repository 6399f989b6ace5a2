// SPDX-License-Identifier: Apache-2.0
// Exchanges whenever something has changed, here or elsewhere.

package import KeychainEngine
import KeychainSyncCore
import KeychainVault
import SecretMemory

extension RingMember {
    /// Exchanges now, whenever an item is changed here or something comes from another machine, when something is due that was left to
    /// others or to the next exchange, and once an hour, until the task is cancelled.
    ///
    /// A failure ends nothing: there is another try after a pause that grows to a minute. A vault that is locked is such a failure.
    ///
    /// - Parameters:
    ///   - pauses: The first pause after a failure, and the longest; and the shortest before an exchange that is due.
    ///   - tell: Told of each exchange, and of each failure.
    /// - Throws: `unavailable` if the vault is in no ring, or is no longer, or cannot be observed.
    package func watch(
        pauses: (first: Duration, longest: Duration, due: Duration) = (.seconds(1), .seconds(60), .seconds(60)),
        _ tell: @escaping @Sendable (Result<ExchangeReport, KeychainError>) -> Void
    ) async throws(KeychainError) {
        try await checkIsInRing()
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let observation = try vault.observe { [self] in
            // An exchange tells why the vault cannot be read, and tries again.
            if hasNews(ifUnreadable: true) { signal.yield() }
        }
        defer { withExtendedLifetime(observation) {} }
        // Machines that are idle also say what they have, and notice that another one is silent.
        let hourly = Self.repeating(.seconds(3600), signal)
        defer { hourly.cancel() }
        var carried: (place: CarrierPlace, task: Task<Void, Never>)?
        defer { carried?.task.cancel() }
        var due: Task<Void, Never>?
        defer { due?.cancel() }
        var pause = pauses.first
        signal.yield()
        for await _ in signals {
            do throws(KeychainError) {
                let report = try await exchange()
                tell(.success(report))
                pause = pauses.first
                due?.cancel()
                // One that has not read everything is continued soon.
                let wait = report.isComplete ? timeUntilDue : .zero
                due = wait.map { [pauses] in Self.once(after: max($0, pauses.due), signal) }
                // Its last steps have collected a change that came too late to be sent.
                if hasNews(ifUnreadable: false) { signal.yield() }
                if let state = known, state.place != carried?.place {
                    carried?.task.cancel()
                    carried = (state.place, Self.forward(try carrier(of: state), signal))
                }
            } catch {
                guard error.reason != .cancelled else { break }
                tell(.failure(error))
                try await checkIsInRing()
                // A signal in the meantime may come from the failed exchange itself.
                guard await Self.sleeps(pause) else { break }
                pause = min(pause * 2, pauses.longest)
                signal.yield()
            }
        }
    }

    /// Whether the vault has new keys, or a change that is not sealed yet. What is sealed and was not published, since the process that
    /// did that was killed, waits for the next exchange.
    ///
    /// An exchange is a write too, and must not lead to the next one by what it had to leave. That is known from its own transaction,
    /// since between the last of these and a look at the vault others write. Any step, of this process or of another one, may have
    /// collected a change without sending it.
    func hasNews(ifUnreadable isNews: Bool) -> Bool {
        do throws(KeychainError) {
            if let mark = try vault.outboxMark, mark != left.withLock({ $0 }) { return true }
            if try vault.hasRingPart(beginningWith: PartName.outgoingFirst) { return true }
            return try hasNewKeys()
        } catch {
            return isNews
        }
    }

    /// Whether the vault has new keys, and this machine can replace its own in the ring.
    private func hasNewKeys() throws(KeychainError) -> Bool {
        guard let known, known.mayWrite, !known.isRenewalPostponed, let generation = try vault.keyGeneration else {
            return false
        }
        return generation != known.keyGeneration
    }

    /// By this machine's clock, from now on.
    private var timeUntilDue: Duration? {
        known?.dueTime.map { [now] due in .milliseconds(due < now ? 0 : min(due - now, 3_600_000)) }
    }

    private func checkIsInRing() async throws(KeychainError) {
        guard try await blocking({ [vault] () throws(KeychainError) -> Bool in try vault.isInRing }) else {
            throw .notInRing
        }
    }

    static func forward(_ carrier: any Carrier, _ signal: AsyncStream<Void>.Continuation) -> Task<Void, Never> {
        Task { for await _ in carrier.changes() { signal.yield() } }
    }

    static func repeating(
        _ interval: Duration, _ signal: AsyncStream<Void>.Continuation
    ) -> Task<Void, Never> {
        Task { while await sleeps(interval) { signal.yield() } }
    }

    private static func once(
        after interval: Duration, _ signal: AsyncStream<Void>.Continuation
    ) -> Task<Void, Never> {
        Task { if await sleeps(interval) { signal.yield() } }
    }

    /// - Returns: `false` if the task was cancelled.
    private static func sleeps(_ duration: Duration) async -> Bool {
        do { try await Task.sleep(for: duration) } catch { return false }
        return true
    }
}
