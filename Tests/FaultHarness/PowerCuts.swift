// SPDX-License-Identifier: Apache-2.0
// Power cuts: an operation is recorded once, and the vault is looked at as cuts at many moments leave it.

import FaultShim
import Foundation
import KeychainVault

/// Something that the program under test did to its files.
enum RecordedEvent {
    case create(String, UInt64)
    case write(UInt64, Int, [UInt8])
    case truncate(UInt64, Int)
    case sync(String, UInt64)
    case rename(String, String)
    case unlink(String)
    case mkdir(String)
    case acknowledge

    /// All events of a record, in their order.
    static func read(_ file: String) throws -> [RecordedEvent] {
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))[...]
        var events: [RecordedEvent] = []
        while !bytes.isEmpty {
            guard bytes.count >= MemoryLayout<fault_record_head>.size else { throw HarnessError("a torn record") }
            let head = bytes.withUnsafeBytes { $0.loadUnaligned(as: fault_record_head.self) }
            bytes = bytes.dropFirst(MemoryLayout<fault_record_head>.size)
            let hasData = head.operation == FAULT_RECORD_WRITE.unsigned
            let (pathLength, length) = (Int(head.path_length), hasData ? Int(head.length) : 0)
            guard bytes.count >= pathLength + length else { throw HarnessError("a torn record") }
            let path = Array(bytes.prefix(pathLength))
            events.append(try event(head, path, Array(bytes.dropFirst(pathLength).prefix(length))))
            bytes = bytes.dropFirst(pathLength + length)
        }
        return events
    }

    private static func event(_ head: fault_record_head, _ path: [UInt8], _ data: [UInt8]) throws -> RecordedEvent {
        let names = path.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        let (name, inode) = (names[0], UInt64(head.inode))
        switch Int(head.operation) {
        case FAULT_RECORD_CREATE.whole: return .create(name, inode)
        case FAULT_RECORD_WRITE.whole: return .write(inode, Int(head.offset), data)
        case FAULT_RECORD_TRUNCATE.whole: return .truncate(inode, Int(head.offset))
        case FAULT_RECORD_SYNC.whole: return .sync(name, inode)
        case FAULT_RECORD_RENAME.whole where names.count == 2: return .rename(name, names[1])
        case FAULT_RECORD_UNLINK.whole: return .unlink(name)
        case FAULT_RECORD_MKDIR.whole: return .mkdir(name)
        case FAULT_RECORD_ACKNOWLEDGE.whole: return .acknowledge
        default: throw HarnessError("a record of an unknown kind")
        }
    }
}

/// Cuts of the power while operations run.
struct PowerCuts {
    let campaign: Campaign

    func run(_ operations: [Operation], perOperation count: Int, into tally: inout Tally) throws {
        for operation in operations {
            let recorded = try record(operation)
            for seed in 1...max(1, count / operation.every) { try cut(recorded, UInt64(seed), into: &tally) }
            print("\(operation.name): \(recorded.events.count) changes; \(tally.points) cuts so far")
        }
    }

    struct Recorded {
        let operation: Operation
        let root: String
        let before: Disk
        let events: [RecordedEvent]
    }

    func record(_ operation: Operation) throws -> Recorded {
        let place = try campaign.scratch.copy(of: operation.template)
        let before = try Disk(place.root)
        let file = place.root + ".record"
        let child = try Child(["subject", operation.name, "none", "0", place.root, file])
        let run = try SubjectRun(child.lines(within: Campaign.patience), child.end(within: Campaign.patience))
        guard run.isOver, run.acknowledged == operation.steps.count else {
            throw HarnessError("'\(operation.name)' fails while it is recorded: \(run.failure ?? "it ended early")")
        }
        let events = try RecordedEvent.read(file)
        try events.requireChanges(operation.name)
        return Recorded(operation: operation, root: place.root, before: before, events: events)
    }

    func cut(_ recorded: Recorded, _ seed: UInt64, into tally: inout Tally) throws {
        var generator = SplitMix(seed, recorded.operation.name)
        let moment = recorded.events.moment(&generator)
        let (disk, acknowledged) = recorded.events.replay(moment, on: recorded.before)
        let place = campaign.scratch.place()
        try disk.write(to: place.root, insteadOf: recorded.root, &generator)
        let point = "\(recorded.operation.name)/\(seed)"
        do {
            let last = min(acknowledged + 1, recorded.operation.steps.count)
            try campaign.check(recorded.operation, acknowledged...last, place)
            try campaign.scratch.remove(place)
            tally.count(recorded.operation.name, "power cut", nil, at: point)
        } catch let violation as Violation {
            let text = "after \(moment) of \(recorded.events.count) changes: \(violation)"
            tally.count(recorded.operation.name, "power cut", text, at: point)
        }
    }
}

extension [RecordedEvent] {
    /// Everything that is recorded changes files. Without changes, the shim has intercepted nothing.
    func requireChanges(_ name: String) throws {
        let hasChanges = contains { if case .acknowledge = $0 { false } else { true } }
        guard hasChanges else { throw HarnessError("the shim has recorded no change of '\(name)'") }
    }

    /// What reached the disk, and how many changes were acknowledged, when so many of the events had happened.
    func replay(_ moment: Int, on before: Disk) -> (disk: Disk, acknowledged: Int) {
        var (disk, acknowledged) = (before, 0)
        for event in self[..<moment] {
            disk.apply(event)
            if case .acknowledge = event { acknowledged += 1 }
        }
        return (disk, acknowledged)
    }

    /// How many of the events came before the cut: in half of all cuts the last one is an acknowledgement, since then most
    /// can be lost that must not be.
    func moment(_ generator: inout SplitMix) -> Int {
        let acknowledgements = indices.filter { if case .acknowledge = self[$0] { true } else { false } }
        if generator.next() % 2 == 0, !acknowledgements.isEmpty {
            return acknowledgements[Int(generator.next() % UInt64(acknowledgements.count))] + 1
        }
        return Int(generator.next() % UInt64(count + 1))
    }
}

extension BinaryInteger {
    fileprivate var whole: Int { Int(self) }
}
