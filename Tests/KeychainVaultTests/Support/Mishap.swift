// SPDX-License-Identifier: Apache-2.0
// Something that happens in the middle of a call. Debug builds only, since others reach no points.

#if DEBUG
    import Testing

    @testable import KeychainVault

    enum Mishap {
        @TaskLocal private static var current: [(point: PausePoint, body: @Sendable () throws -> Void)] = []

        /// One for all tests of the process, which run at the same time.
        private static let isObserving: Void = PausePoint.observe { point in
            for mishap in current where mishap.point == point {
                do { try mishap.body() } catch { Issue.record(error) }
            }
        }

        /// Runs `mishap` each time that `body` reaches the point on its own thread. Calls can be nested.
        static func at(
            _ point: PausePoint, _ mishap: @escaping @Sendable () throws -> Void, during body: () throws -> Void
        ) throws {
            isObserving
            try $current.withValue(current + [(point, mishap)]) { try body() }
        }
    }
#endif
