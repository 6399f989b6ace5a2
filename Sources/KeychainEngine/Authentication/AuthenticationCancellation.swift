// SPDX-License-Identifier: Apache-2.0
// Cancelling a question from another thread.

import SecretMemory

/// Lets one thread cancel a question that another thread is asking.
public final class AuthenticationCancellation: Sendable {
    private struct State {
        var isCancelled = false
        var nextNumber = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())

    public init() {}

    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Runs all handlers, on this thread; a second call does nothing.
    public func cancel() {
        let handlers = state.withLock { state in
            defer { state.handlers = [:] }
            state.isCancelled = true
            return state.handlers.sorted { $0.key < $1.key }.map(\.value)
        }
        for handler in handlers { handler() }
    }

    /// Runs `handler` once when this is cancelled: at once if it already is, and never after the registration was
    /// released.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) -> Registration {
        let number: Int? = state.withLock { state in
            guard !state.isCancelled else { return nil }
            state.nextNumber += 1
            state.handlers[state.nextNumber] = handler
            return state.nextNumber
        }
        if number == nil { handler() }
        return Registration { [weak self] in
            guard let number, let self else { return }
            self.state.withLock { $0.handlers[number] = nil }
        }
    }

    /// Keeps a handler registered for as long as it lives.
    public final class Registration: Sendable {
        private let end: @Sendable () -> Void

        fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = end }

        deinit { end() }
    }
}
