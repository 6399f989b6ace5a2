// SPDX-License-Identifier: Apache-2.0
// A program that has no thread for its tasks, or does not read what comes.

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

    @Suite("A busy program", .timeLimit(.minutes(60)))
    struct BusyProgramTests {
        @Test func tasks_thatWaitLongerThanATryMayTake_connectAllTheSame() async throws {
            let tv = try await TVSimulator()
            let dialing = try dialing(tv)
            let connection = try await Task(executorPreference: BusyThreads(delay: 0.5)) {
                try await dialing.connect()
            }.value
            #expect(connection.isAlive)
            connection.end(.closedHere)
        }

        /// The data is not read here, so what arrives has to be limited.
        @Test func moreAnswersThanWereAskedFor_endTheConnection() async throws {
            let many = Array(repeating: SimulatedFrame.text(#"{"type":"response","id":"ID"}"#), count: 10_000)
            let tv = try await TVSimulator(.misbehaves(many))
            let connection = try await dialing(tv).connect()
            let (id, inbox) = connection.expectAnswers()
            connection.send(try Requests.request(id, "ssap://audio/getVolume", nil))
            await withCheckedContinuation { ended in connection.whenEnded { ended.resume() } }
            let end = await reason {
                while true { _ = try await inbox.next(by: .now + .seconds(100), late: ConnectionError.noAnswer) }
            }
            #expect(end == .invalidResponse)
        }

        private func dialing(_ tv: TVSimulator) throws -> Dialing {
            var options = LGTVControlManager.Options()
            (options.tlsPort, options.port) = (tv.port, deafPort)
            (options.broadcastAddress, options.wakePort) = ("127.0.0.1", deafPort)
            (options.attemptTimeout, options.connectTimeout) = (.milliseconds(400), .seconds(600))
            return Dialing(options: options, host: "127.0.0.1", mac: try MACAddress(mac), pin: nil)
        }
    }
#endif
