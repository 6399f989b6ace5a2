// SPDX-License-Identifier: Apache-2.0
// Schedules: one process runs at a time, and which one, is decided at every pause point.

import Foundation
import KeychainVault

/// An order in which processes run: one runs until it ends or waits, or hands over to the next.
struct Schedule {
    let scenario: Scenario
    let first: Int
    /// Where another process comes in between: the numbers of these chances, in ascending order. Chances are counted from 0, and are the
    /// pause points at which more than one process can go on.
    let switches: [Int]

    /// What runs this one again.
    var name: String { "\(scenario.name)/\(first)/\(switches.map(String.init).joined(separator: ","))" }
}

/// A process in a schedule.
private struct Player {
    enum State: Equatable {
        case ready, paused, waiting, running, finished
    }

    let child: Child?
    var calls: [[String]]
    var state = State.ready
    /// Where it was seen last.
    var point = ""
    /// The place in the history of the call under way.
    var call: Int?
    /// For how many seconds it was waited for since it was seen last.
    var silentFor = 0.0
    /// The call was answered while its thread went on: it ran out of time.
    var isLate = false
    var isTimed: Bool { call != nil && calls.first?.first?.hasPrefix("timed") == true }
}

/// Runs one schedule.
struct Interleaving {
    let schedule: Schedule
    private var players: [Player]
    private var history: History
    private var decision = 0
    private var chance = 0
    private var trace: [String] = []
    private let place: Place

    /// How long a released process may be silent before another one runs: it waits for something inside SQLite.
    private static let silence = 0.15
    /// A process that is silent so long, while no other one can run, hangs. A busy machine may stop one for a second.
    private static let longestSilence = 40.0

    init(_ schedule: Schedule, _ place: Place, _ children: [Child]) throws {
        (self.schedule, self.place) = (schedule, place)
        let scenario = schedule.scenario
        history = History(backup: scenario.template.state.backup ?? [:])
        var children = children[...]
        players = try schedule.scenario.processes.map { calls in
            let isOutsider = calls == [Scenario.removal]
            guard let child = isOutsider ? nil : children.popFirst() else {
                return Player(child: nil, calls: [[Scenario.removal]])
            }
            let opener = scenario.template.state.person ?? .deviceKey
            child.send("open\t\(scenario.isSharedByKernel ? "kernel" : opener.rawValue)\t\(place.root)")
            try Self.awaitOpening(child)
            return Player(child: child, calls: calls.map { $0.split(separator: " ").map(String.init) })
        }
    }

    /// A thread from the previous schedule continues meanwhile.
    private static func awaitOpening(_ child: Child) throws {
        while true {
            switch child.line(within: 20) {
            case .line("done ok"): return
            case .line(let line) where line.hasPrefix("at "): child.send("go")
            case .line(let line): throw HarnessError("a vault was not opened: \(line)")
            case .ended, .late: throw HarnessError("a vault was not opened")
            }
        }
    }

    /// - Returns: How many chances there were to let another process in, and the points that were passed.
    /// - Throws: A violation.
    mutating func run() throws -> (chances: Int, trace: [String]) {
        var current = schedule.first % players.count
        while let next = choose(current) {
            current = next
            try step(current)
            decision += 1
            guard decision < 5000 else { throw Violation("the processes come to no end: \(history.description)") }
        }
        return (chance, trace)
    }

    var finalStates: [[String: String]] {
        var items = schedule.scenario.template.state.items
        if schedule.scenario.isSharedByKernel { items[History.lock] = "" }
        return history.finalStates(from: items, refusals: schedule.scenario.refusals)
            .map { $0.filter { $0.key != History.lock } }
    }
    var description: String { history.description }

    /// A thread whose call has timed out may still be on its way to a pause point, where it would keep SQLite's lock for ever.
    func letAllGo() {
        for player in players { player.child?.send("free") }
    }

    private mutating func choose(_ current: Int) -> Int? {
        let others = (1..<players.count).map { (current + $0) % players.count }
        let able = others.filter { [.ready, .paused].contains(players[$0].state) }
        if [.ready, .paused].contains(players[current].state), !isReplaced(by: able) { return current }
        if let next = able.first {
            letTimePass(current)
            return next
        }
        // All wait: for each other, or for a process that has continued meanwhile.
        return (others + [current]).first { players[$0].state != .finished }
    }

    /// Whether a process that could go on makes room for one of these.
    private mutating func isReplaced(by others: [Int]) -> Bool {
        // Which process begins is no chance: a schedule of its own begins with the other one.
        guard decision > 0, !others.isEmpty else { return false }
        defer { chance += 1 }
        return schedule.switches.contains(chance)
    }

    /// A timed call that does not run gets to the end of its time.
    private mutating func letTimePass(_ number: Int) {
        guard players[number].isTimed, !players[number].isLate, let child = players[number].child,
            let call = players[number].call, [.paused, .waiting].contains(players[number].state)
        else { return }
        guard case .line(let line) = child.line(within: 0.012), line.hasPrefix("done ") else { return }
        history.end(call, String(line.dropFirst(5)))
        players[number].isLate = true
    }

    private mutating func step(_ number: Int) throws {
        // A process that waited for a lock may have it now.
        for other in players.indices where other != number && players[other].state == .waiting {
            players[other].state = .paused
        }
        guard let child = players[number].child else { return removeLockFile(number) }
        switch players[number].state {
        case .ready:
            players[number].call = history.begin(players[number].calls[0])
            child.send("call\t" + players[number].calls[0].joined(separator: "\t"))
        case .running: break
        default: child.send("go")
        }
        // Nothing is held after this point.
        if players[number].isLate, players[number].point == "lockReleased" { return finishCall(number) }
        let othersCanRun = players.indices.contains { $0 != number && players[$0].state != .finished }
        let longest = othersCanRun ? Self.silence : Self.longestSilence
        try take(child, number, within: players[number].isLate ? 0.3 : longest)
    }

    private mutating func take(_ child: Child, _ number: Int, within patience: Double) throws {
        switch child.line(within: patience) {
        case .line(let line) where line.hasPrefix("at "):
            players[number].point = String(line.dropFirst(3))
            players[number].silentFor = 0
            trace.append("\(number)\(players[number].point)")
            players[number].state = line == "at lockWaiting" ? .waiting : .paused
        case .line(let line):
            let wasTimed = players[number].isTimed && line.hasPrefix("done timedOut")
            if let call = players[number].call { history.end(call, String(line.dropFirst(5))) }
            guard wasTimed else { return finishCall(number) }
            // Its thread is still on its way to the next point.
            players[number].isLate = true
            try take(child, number, within: 0.3)
        case .late where players[number].isLate: finishCall(number)
        case .late:
            players[number].silentFor += patience
            let canOthersRun = players.contains { $0.state == .paused }
            guard players[number].silentFor < Self.longestSilence || canOthersRun else {
                throw Violation("a process hangs: \(history.description)")
            }
            players[number].state = .running
        case .ended: throw Violation("a process died: \(history.description)")
        }
    }

    private mutating func finishCall(_ number: Int) {
        players[number].calls.removeFirst()
        (players[number].call, players[number].isLate, players[number].point) = (nil, false, "")
        players[number].silentFor = 0
        players[number].state = players[number].calls.isEmpty ? .finished : .ready
    }

    private mutating func removeLockFile(_ number: Int) {
        unlink(place.folder + "/vault.lock")
        trace.append("\(number)removed")
        players[number].state = .finished
    }
}
