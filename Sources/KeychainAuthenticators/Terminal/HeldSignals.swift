// SPDX-License-Identifier: Apache-2.0
// Catching signals for the length of a question, so that a program is never ended or stopped with echo off.

import Foundation
import KeychainEngine
import Synchronization

/// The rules:
///
/// 1. ^C and ^\ cancel the question, whatever the program does with them otherwise.
/// 2. SIGTERM and a hang-up cancel it too, unless the program ignores them.
/// 3. Handlers belong to the whole process and a signal may arrive on any of its threads, so the handler only writes its
///    number into a pipe that the asking thread waits for. That thread lets them in, even if all others hold them back.
/// 4. Afterwards all is as it was; what did not serve to cancel is sent again, for the program's own handlers.
final class HeldSignals {
    /// When ^Z stops the program, unless the program ignores it.
    enum Stopping {
        /// Once the terminal is restored.
        case afterwards
        /// At once, since another program on the terminal stops at once too.
        case now
    }

    private static let fromTheKeyboard = [SIGINT, SIGQUIT]
    private static let orders = [SIGTERM, SIGHUP]

    private let pipe: WakePipe
    private let stopping: Stopping
    private let isPassingOn: Bool
    private var waitingForTheEnd: [Int32] = []
    private var actions: [CaughtSignal] = []

    /// Becomes readable when a signal has arrived.
    var descriptor: Int32 { pipe.reading }

    /// Catches signals for the length of `body`. Only one question at a time may do so (see `Turn`).
    ///
    /// - Parameter isPassingOn: Whether SIGTERM and SIGHUP reach the program after they have cancelled the question.
    static func during<Result>(
        stopping: Stopping, isPassingOn: Bool, _ body: (HeldSignals) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let held = HeldSignals(try SignalPipe.shared(), stopping, isPassingOn)
        // A handler on another thread may have been slow to write at the end of the question before.
        held.sendAgain()
        defer { held.sendAgain() }
        held.catchAll()
        defer { for action in held.actions { action.restore() } }
        // Only now: what was held back until here arrives at once.
        let mask = held.setMask()
        defer { pthread_sigmask(SIG_SETMASK, [mask], nil) }
        do throws(KeychainError) {
            return try body(held)
        } catch {
            if error.reason == .cancelled { held.dropKeys() }
            throw error
        }
    }

    private init(_ pipe: WakePipe, _ stopping: Stopping, _ isPassingOn: Bool) {
        self.pipe = pipe
        self.stopping = stopping
        self.isPassingOn = isPassingOn
    }

    private func catchAll() {
        actions = Self.fromTheKeyboard.map { CaughtSignal($0) }
        actions += (Self.orders + [SIGTSTP]).compactMap { CaughtSignal(unlessIgnored: $0) }
    }

    /// Whether one of the signals that arrived cancels the question.
    func breakOff() -> Bool {
        var cancels = false
        while let number = pipe.next().map(Int32.init) {
            switch number {
            case SIGTSTP where stopping == .now: stopNow()
            case SIGTSTP: waitingForTheEnd.append(number)
            default:
                cancels = true
                if isPassingOn, Self.orders.contains(number) { waitingForTheEnd.append(number) }
            }
        }
        return cancels
    }

    /// Takes the ^C that has cancelled the question as used, also if the program that asks got it first and has ended before
    /// it was noticed here.
    private func dropKeys() {
        while let number = pipe.next().map(Int32.init) {
            if !Self.fromTheKeyboard.contains(number) { waitingForTheEnd.append(number) }
        }
    }

    /// Lets the signal have the effect that it has otherwise, and goes on when the program does.
    private func stopNow() {
        guard let action = actions.first(where: { $0.number == SIGTSTP }) else { return }
        action.restore()
        pthread_kill(pthread_self(), SIGTSTP)
        action.catchAgain()
    }

    private func sendAgain() {
        while let number = pipe.next() { waitingForTheEnd.append(Int32(number)) }
        for number in waitingForTheEnd { kill(getpid(), number) }
        waitingForTheEnd = []
    }

    /// On this thread, what is caught comes through, and reading or changing the terminal from the background is an error,
    /// which otherwise would stop the program.
    private func setMask() -> sigset_t {
        var before = sigset_t()
        pthread_sigmask(SIG_UNBLOCK, [Self.signalSet(actions.map(\.number))], &before)
        pthread_sigmask(SIG_BLOCK, [Self.signalSet([SIGTTIN, SIGTTOU])], nil)
        return before
    }

    private static func signalSet(_ numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }
}

/// One signal's handler, replaced by ours.
private struct CaughtSignal {
    let number: Int32
    private var previous = sigaction()

    init(_ number: Int32) {
        self.number = number
        sigaction(number, [Self.ours], &previous)
    }

    init?(unlessIgnored number: Int32) {
        var current = sigaction()
        sigaction(number, nil, &current)
        guard unsafeBitCast(current.handler, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) else { return nil }
        self.init(number)
    }

    func restore() { sigaction(number, [previous], nil) }
    func catchAgain() { sigaction(number, [Self.ours], nil) }

    private static var ours: sigaction {
        var ours = sigaction()
        sigemptyset(&ours.sa_mask)
        // System calls on other threads of the program do not notice it.
        ours.sa_flags = SA_RESTART
        ours.handler = SignalPipe.handler
        return ours
    }
}

extension sigaction {
    fileprivate var handler: (@convention(c) (Int32) -> Void)? {
        get {
            #if canImport(Darwin)
                __sigaction_u.__sa_handler
            #else
                __sigaction_handler.sa_handler
            #endif
        }
        set {
            #if canImport(Darwin)
                __sigaction_u.__sa_handler = newValue
            #else
                __sigaction_handler.sa_handler = newValue
            #endif
        }
    }
}

/// The pipe that the handler writes into. It is never closed, since a handler may still be running on another thread.
private enum SignalPipe {
    private static let pipe = Mutex<WakePipe?>(nil)

    static func shared() throws(KeychainError) -> WakePipe {
        try pipe.withLock { (pipe) throws(KeychainError) in
            if let pipe { return pipe }
            let made = try WakePipe()
            signalPipeEnd.store(made.writing, ordering: .sequentiallyConsistent)
            pipe = made
            return made
        }
    }

    /// Does nothing that a signal handler may not do: an atomic read and one system call.
    static let handler: @convention(c) (Int32) -> Void = { number in
        let error = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(signalPipeEnd.load(ordering: .sequentiallyConsistent), &byte, 1)
        errno = error
    }
}

/// Written before the first handler is set, so that no handler is the first to touch it.
private let signalPipeEnd = Atomic<Int32>(-1)
