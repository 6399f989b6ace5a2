// SPDX-License-Identifier: Apache-2.0
// Catches signals during a question, so that a program is never ended or stopped with echo off.

import Foundation
import KeychainEngine
import Synchronization

/// The rules:
///
/// 1. ^C and ^\ cancel the question, even if the program handles or ignores them.
/// 2. SIGTERM and a hang-up cancel it too, unless the program ignores them.
/// 3. ^Z stops the program at once, unless the program ignores it.
/// 4. Handlers belong to the whole process, and a signal may arrive on any of its threads. So the handler only writes
///    the signal's number into a pipe, and the asking thread reads it. That thread accepts the signals even if all
///    others block them.
/// 5. Afterwards everything is restored. Signals that did not cancel the question are sent again, for the program's own
///    handlers.
///
/// `keychain_terminal_guard` handles the other signals that would end the program.
final class HeldSignals {
    /// What a signal requires of the asking thread.
    enum Request {
        case cancel
        /// Call ``stop()`` after the terminal is restored.
        case stop
        /// The program was stopped in another way (SIGSTOP) and continues.
        case goOn
    }

    private static let fromTheKeyboard = [SIGINT, SIGQUIT]
    private static let orders = [SIGTERM, SIGHUP]
    private static let stopping = [SIGTSTP, SIGCONT]

    private let pipe: WakePipe
    private let isPassingOn: Bool
    private var waitingForTheEnd: [Int32] = []
    private var actions: [CaughtSignal] = []

    /// Becomes readable when a signal has arrived.
    var descriptor: Int32 { pipe.reading }

    /// Catches signals during `body`. Only one question at a time may do so (see `Turn`).
    ///
    /// - Parameter isPassingOn: Whether SIGTERM and SIGHUP are passed to the program after they have cancelled the
    ///   question.
    static func during<Result>(
        isPassingOn: Bool, _ body: (HeldSignals) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let held = HeldSignals(try SignalPipe.shared(), isPassingOn)
        // A handler on another thread may have written late, after the previous question ended.
        held.sendAgain()
        lastCancelling.store(0, ordering: .relaxed)
        defer { held.sendAgain() }
        held.catchAll()
        defer { for action in held.actions { action.restore() } }
        // Unblocked only now: pending signals arrive at once.
        let mask = held.setMask()
        defer { pthread_sigmask(SIG_SETMASK, [mask], nil) }
        do throws(KeychainError) {
            return try body(held)
        } catch {
            if error.reason == .cancelled { held.dropKeys() }
            throw error
        }
    }

    /// The signal that cancelled the last question; `nil` if none did.
    static var cancelling: Int32? {
        let number = lastCancelling.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    private init(_ pipe: WakePipe, _ isPassingOn: Bool) {
        self.pipe = pipe
        self.isPassingOn = isPassingOn
    }

    private func catchAll() {
        actions = Self.fromTheKeyboard.map { CaughtSignal($0) }
        actions += (Self.orders + [SIGTSTP]).compactMap { CaughtSignal(unlessIgnored: $0) }
        // A program's own handler of SIGCONT must run at once.
        if CaughtSignal.isDefault(SIGCONT) { actions.append(CaughtSignal(SIGCONT)) }
    }

    /// The requests of the received signals, one after another; `nil` if there are no more.
    func next() -> Request? {
        guard let number = pipe.next().map(Int32.init) else { return nil }
        if number == SIGTSTP { return .stop }
        if number == SIGCONT { return .goOn }
        noteCancelling(number)
        if isPassingOn, Self.orders.contains(number) { waitingForTheEnd.append(number) }
        return .cancel
    }

    private func noteCancelling(_ number: Int32) {
        lastCancelling.store(number, ordering: .relaxed)
    }

    /// Discards the ^C that has cancelled the question, also if the asking program received it first and ended before
    /// it was noticed here.
    private func dropKeys() {
        takeWaitingKeys()
        while let number = pipe.next().map(Int32.init) {
            if Self.fromTheKeyboard.contains(number) {
                noteCancelling(number)
            } else {
                waitingForTheEnd.append(number)
            }
        }
    }

    /// A ^C for all programs on the terminal may be pending until a thread runs that accepts it. On a busy machine this
    /// may be after the end of the other program, and the host's own handler would receive it.
    private func takeWaitingKeys() {
        #if os(Linux)
            let keys = Self.signalSet(Self.fromTheKeyboard)
            pthread_sigmask(SIG_BLOCK, [keys], nil)
            var number = Int32(0)
            repeat {
                number = sigtimedwait([keys], nil, [timespec()])
                if number > 0 { noteCancelling(number) }
            } while number > 0 || errno == EINTR
        #endif
    }

    /// Gives ^Z its usual effect, and returns when the program continues.
    func stop() {
        let stopping = actions.filter { Self.stopping.contains($0.number) }
        for action in stopping { action.restore() }
        pthread_kill(pthread_self(), SIGTSTP)
        for action in stopping { action.catchAgain() }
    }

    private func sendAgain() {
        while let number = pipe.next() { waitingForTheEnd.append(Int32(number)) }
        waitingForTheEnd.removeAll { $0 == SIGCONT }
        for number in waitingForTheEnd { kill(getpid(), number) }
        waitingForTheEnd = []
    }

    /// This thread accepts the caught signals. Reading or changing the terminal from the background fails with an error
    /// instead of stopping the program.
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
        guard !Self.has(number, SIG_IGN) else { return nil }
        self.init(number)
    }

    static func isDefault(_ number: Int32) -> Bool { has(number, SIG_DFL) }

    private static func has(_ number: Int32, _ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
        var current = sigaction()
        sigaction(number, nil, &current)
        return unsafeBitCast(current.handler, to: Int.self) == unsafeBitCast(handler, to: Int.self)
    }

    /// A handler that the program has set in the meantime stays.
    func restore() {
        guard Self.has(number, SignalPipe.handler) else { return }
        sigaction(number, [previous], nil)
    }

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

/// The pipe that the handler writes into. It is not closed in the process that made it, since a handler may still be running on
/// another thread.
private enum SignalPipe {
    private static let pipe = ProcessPipe { made in
        signalPipeEnd.store(made.writing, ordering: .sequentiallyConsistent)
        signalPipeOwner.store(getpid(), ordering: .sequentiallyConsistent)
    }

    static func shared() throws(KeychainError) -> WakePipe { try pipe.shared() }

    /// Does only what is allowed in a signal handler: atomic reads and system calls. In the child of a fork the pipe may still be
    /// that of the parent, whose question the signal does not concern.
    static let handler: @convention(c) (Int32) -> Void = { number in
        guard signalPipeOwner.load(ordering: .sequentiallyConsistent) == getpid() else { return }
        let error = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(signalPipeEnd.load(ordering: .sequentiallyConsistent), &byte, 1)
        errno = error
    }
}

/// Read after the question, by the code that asked it.
private let lastCancelling = Atomic<Int32>(0)

/// Written before the first handler is set, so that no handler is the first to touch it.
private let signalPipeEnd = Atomic<Int32>(-1)

/// The process that made the pipe.
private let signalPipeOwner = Atomic<Int32>(-1)
