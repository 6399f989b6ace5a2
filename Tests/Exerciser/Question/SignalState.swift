// SPDX-License-Identifier: Apache-2.0
// How signals are treated in this process, to see whether a question changed it; and what reaches its own handlers.

import Foundation
import Synchronization

struct SignalState: Equatable {
    private var mask: [UInt8] = []
    private var actions: [String] = []
    /// The C library's own mark, which it leaves on whatever it has set once.
    private static let restorer: Int32 = 0x0400_0000

    static func set(_ numbers: Int32...) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }

    static var ofThisThread: SignalState {
        var state = SignalState()
        var mask = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &mask)
        state.mask = Swift.withUnsafeBytes(of: mask) { Array($0.prefix(8)) }
        for number in Int32(1)...31 {
            var action = sigaction()
            sigaction(number, nil, &action)
            let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            state.actions.append("\(handler) \(action.sa_flags & ~Self.restorer)")
        }
        return state
    }
}

/// Handlers as a program has them.
enum HostSignals {
    static let pipe = Pipe()
    static let last = Atomic<Int32>(0)
    static let end = Atomic<Int32>(-1)

    static func install(ignoring ignored: Int32?, handling handled: Int32?) {
        last.store(0, ordering: .relaxed)
        end.store(pipe.fileHandleForWriting.fileDescriptor, ordering: .sequentiallyConsistent)
        for number in [SIGTERM, SIGHUP, SIGINT] + (handled.map { [$0] } ?? []) {
            signal(number) { number in
                HostSignals.last.store(number, ordering: .sequentiallyConsistent)
                var byte: UInt8 = 1
                _ = write(HostSignals.end.load(ordering: .sequentiallyConsistent), &byte, 1)
            }
        }
        if let ignored { signal(ignored, SIG_IGN) }
    }

    /// The number of the last signal that a handler was called for.
    static var received: Int32 { last.load(ordering: .sequentiallyConsistent) }

    static func await() { _ = pipe.fileHandleForReading.readData(ofLength: 1) }
}
