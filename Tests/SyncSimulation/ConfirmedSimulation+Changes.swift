// SPDX-License-Identifier: Apache-2.0
// Confirmed changes, as a machine makes them, and what the carrier makes of them.

import Foundation
import KeychainSyncCore

extension ConfirmedSimulation {
    /// The steps of `ConfirmedChange`, with a death at any of them.
    ///
    /// - Parameter isAlone: Whether no other machine does anything meanwhile.
    mutating func confirm(_ index: Int, isAlone: Bool = false) throws {
        let item = random.chance(0.6) ? counter : item(UInt8.random(in: 1...2, using: &random))
        var refused: [UInt64] = []
        for _ in 0..<4 {
            guard !random.chance(0.06), let listing = try caughtUp(index) else { return try giveUp(index) }
            let last = machines[index].replica.lastConfirmed
            if let landed = refused.first(where: { attempts[$0].map { .hash(of: $0.bytes) } == last }) {
                counts.add("confirming: refused, and made")
                return confirmed(landed)
            }
            guard let number = try rehearse(index, item, listing) else { continue }
            if !isAlone, random.chance(0.4) { try meanwhile(index) }
            switch try send(number, after: listing) {
            case .created:
                confirmed(number)
                return try apply(number)
            case .changedSince:
                attempts[number]?.outcome = .refused
                if attempts[number]?.isMade == true { attempts[number]?.shown = .made }
                counts.add("confirming: refused")
                try note(number, isCertain: true)
                refused.append(number)
            case nil:
                attempts[number]?.outcome = .unanswered
                return try note(number, isCertain: false)
            }
        }
        counts.add("confirming: never first")
    }

    private mutating func confirmed(_ number: UInt64) {
        counts.add("confirming: confirmed")
        attempts[number]?.outcome = .confirmed
    }

    /// Without the carrier a change is kept as an ordinary one, or not at all.
    private mutating func giveUp(_ index: Int) throws {
        let number = nextNumber()
        guard random.chance(0.5) else { return counts.add("confirming: given up") }
        counts.add("confirming: kept unconfirmed")
        // An item of its own, so that nothing takes its place.
        let item = machines[index].replica.keyring.ring.item(content(number))
        let write = LocalWrite(item: item, .value(content(number), accessibility: 6))
        try perform(index) { replica, now in
            _ = try replica.commit([write], at: now)
            return []
        }
        if machines[index].replica.items[item].shown != nil { kept.insert(number) }
    }

    /// - Returns: `nil` if this machine cannot catch up now.
    private mutating func caughtUp(_ index: Int) throws -> Listing? {
        for _ in 0..<8 {
            let listing = try fetchAll(index)
            if machines[index].replica.isPublished {
                return machines[index].replica.hasApplied(listing) ? listing : nil
            }
            try upload(index)
        }
        return nil
    }

    /// - Returns: The number of an attempt; `nil` if this machine has to catch up.
    private mutating func rehearse(_ index: Int, _ item: SyncID, _ listing: Listing) throws -> UInt64? {
        try live()
        let replica = machines[index].replica
        guard var writer = try replica.confirming(after: listing) else { return nil }
        let shown = try replica.items[item].shown.map { try replica.open($0) } ?? []
        let number = nextNumber()
        let value = content(number, count: item == counter ? Self.count(shown) + 1 : 0)
        do {
            _ = try writer.commit([LocalWrite(item: item, .value(value, accessibility: 6))], at: clock(index))
            guard case .write(let name, let bytes)? = try writer.seal(at: clock(index)).first else { return nil }
            attempts[number] = Attempt(machine: index, name: name, bytes: bytes, item: item)
            return number
        } catch Refusal.noKey {
            return nil
        }
    }

    private mutating func note(_ number: UInt64, isCertain: Bool) throws {
        guard let attempt = attempts[number] else { return }
        try perform(attempt.machine) { replica, now in
            replica.noteRefusal(attempt.name, attempt.bytes, isCertain: isCertain, at: now)
            return []
        }
        attempts[number]?.isNoted = true
    }

    private mutating func apply(_ number: UInt64) throws {
        guard let attempt = attempts[number] else { return }
        try perform(attempt.machine) { replica, now in replica.received([(attempt.name, attempt.bytes)], at: now) }
        try check(
            machines[attempt.machine].replica.lastConfirmed == .hash(of: attempt.bytes),
            "a confirmed change is not applied where it was made")
    }

    // MARK: - The carrier

    private enum Fate {
        case answered, answerLost, requestLost, late, refusedAndMade, refusedAndHidden, silentAndHidden
    }

    /// - Returns: `nil` if there was no answer.
    private mutating func send(_ number: UInt64, after listing: Listing) throws -> AgreeingCarrier.Answer? {
        let revision = listing.revision ?? 0
        for _ in 0..<4 {
            try live()
            attempts[number]?.outcome = .unknown
            var fates: [Fate] = [
                .answered, .answered, .answered, .answered, .answered, .answerLost, .requestLost, .late,
            ]
            if !isHonest { fates += [.refusedAndMade, .refusedAndHidden, .silentAndHidden] }
            let answer = try carryOut(random.pick(fates), number, revision)
            // It may die with an answer that it has not read.
            try live()
            if let answer { return answer }
            counts.add("confirming: no answer")
            if random.chance(0.3) { break }
        }
        return nil
    }

    private mutating func carryOut(
        _ fate: Fate, _ number: UInt64, _ revision: UInt64
    ) throws -> AgreeingCarrier.Answer? {
        switch fate {
        case .answered: return try make(number, revision)
        case .answerLost:
            if case .created = try make(number, revision) { counts.add("confirming: made without an answer") }
            return nil
        case .requestLost: return nil
        case .late:
            late.append((number, revision))
            return nil
        case .refusedAndMade:
            _ = try make(number, revision)
            return .changedSince
        case .refusedAndHidden, .silentAndHidden:
            if !hidden.contains(number) { hidden.append(number) }
            return fate == .refusedAndHidden ? .changedSince : nil
        }
    }

    mutating func carryOutLate(_ index: Int) throws {
        let (number, revision) = late.remove(at: index)
        guard case .created = try make(number, revision) else { return counts.add("confirming: came too late") }
        counts.add("confirming: made late")
        // A carrier that keeps its word does not.
        if attempts[number]?.outcome == .refused { attempts[number]?.shown = .made }
    }

    /// What the carrier makes, it makes after everything that it had: the change has seen all of that.
    private mutating func make(_ number: UInt64, _ revision: UInt64) throws -> AgreeingCarrier.Answer {
        // What it shows beside another it has not made.
        guard let attempt = attempts[number], attempt.shown != .besideAnother else { return .changedSince }
        let (before, dots) = (archive.vector, Set(archive.writes.keys))
        let answer = carrier.publish(attempt.name, attempt.bytes, ifUnchangedSince: revision)
        guard case .created = answer else { return answer }
        attempts[number]?.isMade = true
        try archive.add(attempt.name, attempt.bytes, by: machines[attempt.machine].replica)
        for (dot, write) in archive.writes where !dots.contains(dot) {
            try check(write.context.covers(before), "a change was confirmed that had not seen all before it")
        }
        return answer
    }

    /// Shows what was not made, in the place of nothing or beside what took its place. Machines that have not applied that yet might take
    /// the other for it, and would differ from then on.
    mutating func show(_ index: Int) throws {
        let number = hidden[index]
        guard let attempt = attempts[number], !attempt.isMade else { return }
        let hasOther = machines.contains { $0.replica.hasApplied(Listing(names: [attempt.name])) }
        guard hasOther || carrier.contents(attempt.name).isEmpty else { return }
        if hasOther {
            guard machines.allSatisfy({ $0.replica.hasApplied(Listing(names: [attempt.name])) }) else { return }
            _ = carrier.publish(attempt.name, attempt.bytes, beside: true)
            counts.add("confirming: refused, and shown beside another")
        } else {
            _ = carrier.publish(attempt.name, attempt.bytes)
            try archive.add(attempt.name, attempt.bytes, by: machines[attempt.machine].replica)
            counts.add("confirming: refused, and shown later")
        }
        hidden.remove(at: index)
        attempts[number]?.shown = hasOther ? .besideAnother : .made
        attempts[number]?.isMade = !hasOther
    }
}
