// SPDX-License-Identifier: Apache-2.0
// A program that has no thread for its tasks, again and again.

#if LGTVControl
    import Foundation
    @testable import LGTVControl
    import Testing

    /// Lets everything wait.
    private final class BusyThreads: TaskExecutor {
        private let queue = DispatchQueue(label: "busy")
        private let delay: TimeInterval

        init(delay: TimeInterval) { self.delay = delay }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.asyncAfter(deadline: .now() + delay) { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Suite("A busy program", .timeLimit(.minutes(10)))
    struct BusyProgramTests {
        @Test func tasksThatWaitLongerThanATryMayTake_connectAllTheSame() async throws {
            let tv = try await TVSimulator()
            var options = LGTVControlManager.Options()
            (options.tlsPort, options.port) = (tv.port, deafPort)
            (options.broadcastAddress, options.wakePort) = ("127.0.0.1", deafPort)
            (options.attemptTimeout, options.connectTimeout) = (.milliseconds(400), .seconds(20))
            let dialing = Dialing(options: options, host: "127.0.0.1", mac: try MACAddress(mac), pin: nil)
            let connection = try await Task(executorPreference: BusyThreads(delay: 0.5)) {
                try await dialing.connect()
            }.value
            #expect(connection.isAlive)
            connection.end(.closedHere)
        }
    }
#endif
