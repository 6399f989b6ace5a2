// SPDX-License-Identifier: Apache-2.0
// Received objects: checked, kept until they can be applied, and applied.

package import Foundation
import KeychainCrypto

/// Why a segment is not applied now.
enum NotApplied: Error {
    /// It cannot be used at all.
    case refused(Refusal)
    /// Something else must arrive first: the next segment of the log, other logs, entries of the ring log, or a key.
    case waits
    /// Its writer had seen writes that are missing here.
    case lacks(VersionVector)
    /// Written by a removed member, after its last accepted segment.
    case afterRemoval
}

extension Replica {
    /// Takes in objects, in any order and as often as they come, several of one name included.
    package mutating func received(_ objects: [(name: ObjectName, bytes: Data)], at now: UInt64) -> [Effect] {
        var effects: [Effect] = []
        receiveEntries(objects, at: now, &effects)
        // First: whether something else of the name tells of a copy depends on it.
        for case (.segment(let id, let number), let bytes) in objects where own[id]?[number]?.bytes == bytes {
            own[id]?[number]?.isPublished = true
        }
        for (name, bytes) in objects {
            switch name {
            case .segment(let writer, let number): receiveSegment(writer, number, bytes, at: now, &effects)
            case .snapshot(let id, let part): receiveSnapshot(id, part, bytes, &effects)
            case .head(let member, let number): receiveHead(member, number, bytes, at: now, &effects)
            case .entry, .wrap, .invitation, .request: break
            }
        }
        preferFollowed(objects)
        effects += publishBeside(objects) + advance(at: now)
        // Not before: what can be applied at once needs no room.
        waiting.trim()
        return effects
    }

    /// Continues with other keys: fewer after a lock; after an unlock, segments that waited for the keys are applied.
    package mutating func use(_ keyring: Keyring, at now: UInt64) -> [Effect] {
        (self.keyring, doubts) = (keyring, [:])
        return advance(at: now)
    }

    private mutating func receiveSegment(
        _ writer: WriterID, _ number: UInt64, _ bytes: Data, at now: UInt64, _ effects: inout [Effect]
    ) {
        let name = ObjectName.segment(writer, number)
        do {
            let header = try SegmentHeader.read(bytes, ring: log.id)
            guard header.writer == writer, header.number == number else { throw Refusal.wrongName }
            let author = try signer(of: bytes)
            let isRefused = author != nil && noteShown(bytes)
            doubts[name]?.add(isRefused ? .refusedByCarrier : author.map { .authentic($0) } ?? .unclear, bytes)
            if writer == self.writer {
                guard author != nil, own[writer]?[number]?.bytes != bytes else { return }
                effects += receiveOwn(number, bytes, at: now)
                // If it could not start again, it tries when the segment is seen next.
                if writer == self.writer { return }
            }
            try keep(header, bytes, author, &effects)
        } catch {
            refuse(name, bytes, error as? Refusal ?? .malformed, &effects)
        }
    }

    /// The member that signed a segment.
    ///
    /// - Returns: `nil` if that cannot be told yet: its key is not here, or the entry that adds its author.
    func signer(of bytes: Data) throws(Refusal) -> MemberID? {
        let (header, body): (SegmentHeader, SegmentBody)
        do throws(Refusal) {
            (header, body) = try SegmentBody.open(bytes, in: keyring)
        } catch {
            guard error == .noKey else { throw error }
            return nil
        }
        guard let author = log.publicKeys(of: body.author) else { return nil }
        try body.check(header, by: author)
        let owner = header.writer == writer ? member : logs[header.writer]?.tip.author
        guard owner == nil || owner == body.author else { throw .contradiction }
        return body.author
    }

    /// Keeps a segment until it can be applied. One that is known may have a second one beside it.
    private mutating func keep(
        _ header: SegmentHeader, _ bytes: Data, _ author: MemberID?, _ effects: inout [Effect]
    ) throws(Refusal) {
        let tip = logs[header.writer]?.tip
        let (writer, number, next) = (header.writer, header.number, (tip?.number ?? 0) + 1)
        guard number >= next else {
            if let author, let tip, number == tip.number, isCopy(.hash(of: bytes), beside: tip.hash) {
                effects.append(.found(.equivocation(author, number: number)))
            }
            return
        }
        // What follows something else than what was applied takes no room from what follows.
        guard number > next || header.previous == tip?.hash ?? .zero else { throw .contradiction }
        if let author, let held = waiting[writer, number], held != bytes {
            if (try? signer(of: held)) == nil || refusals[.hash(of: held)] != nil {
                waiting.remove(writer, number)
            } else if refusals[.hash(of: bytes)] == nil {
                effects.append(.found(.equivocation(author, number: number)))
            }
        }
        // Without a key it may be anything, and takes only what room there is.
        waiting.add(writer, number, bytes, isSigned: author != nil)
    }

    /// A segment under this machine's own writer, signed by itself: a sign that it lost its memory, or has a clone.
    private mutating func receiveOwn(_ number: UInt64, _ bytes: Data, at now: UInt64) -> [Effect] {
        guard let tip = logs[writer]?.tip, number <= tip.number else { return startAgain(at: now) }
        let isPublished = own[writer]?[number]?.isPublished ?? true
        guard isPublished else { return startAgain(from: number, at: now) }
        let isKnown = own[writer]?[number] != nil || number == tip.number
        return isKnown && .hash(of: bytes) != tip.hash ? [.found(.equivocation(member, number: number))] : []
    }

    /// What lies in the place of a segment of this machine, and is none, keeps it from nobody.
    private func publishBeside(_ objects: [(name: ObjectName, bytes: Data)]) -> [Effect] {
        let names = Set(objects.map(\.name)).sorted()
        return names.compactMap { name in
            guard case .segment(writer, let number) = name, let mine = own[writer]?[number], !mine.isPublished,
                objects.allSatisfy({ $0.name != name || isNone($0.bytes) })
            else { return nil }
            return .writeBeside(name, mine.bytes)
        }
    }

    private func isNone(_ bytes: Data) -> Bool {
        do throws(Refusal) {
            _ = try signer(of: bytes)
            return false
        } catch {
            return true
        }
    }

    private mutating func receiveHead(
        _ member: MemberID, _ number: UInt64, _ bytes: Data, at now: UInt64, _ effects: inout [Effect]
    ) {
        guard member != self.member else { return }
        do {
            let (header, head) = try Head.open(bytes, in: keyring)
            guard header.member == member, header.number == number else { throw Refusal.wrongName }
            guard ring.isActive(member), let author = log.publicKeys(of: member) else { throw Refusal.notAMember }
            try head.check(header, by: author)
            // One that may not write must not make writes of a removed member acceptable.
            if ring.mayWrite(member) { try claim(head.vector) }
            refusedHeads.remove(.head(member, number))
            observations.note(head.vector, here: items.vector, at: now)
            effects += observations.received(
                header, head, .hash(of: bytes), at: now, vector: items.vector, digest: items.digest
            ).map { .found($0) }
        } catch {
            let refusal = error as? Refusal ?? .malformed
            // Of an epoch that the ring has, its key may still come.
            if refusal == .noKey, let epoch = HeadHeader.epoch(of: bytes, log.id), ring.epochs[epoch] != nil { return }
            if refusedHeads.count < Bounds.doubts { refusedHeads.insert(.head(member, number)) }
            if refusal != .noKey { refuse(.head(member, number), bytes, refusal, &effects) }
        }
    }

    /// Notes what an active member that may write has seen.
    private mutating func claim(_ vector: VersionVector) throws(Refusal) {
        var union = claims
        union.join(vector)
        if union.counters.count > Bounds.writers {
            // Writers of which nothing has ever come were perhaps made up.
            union = VersionVector(union.counters.filter { logs[$0.key] != nil || vector[$0.key] > 0 })
        }
        guard union.counters.count <= Bounds.writers else { throw .tooLarge }
        claims = union
    }

    // MARK: - Applying

    /// Applies everything that can be applied now.
    mutating func advance(at now: UInt64) -> [Effect] {
        var (effects, changes) = ([Effect](), [ItemChange]())
        var (moved, checked) = (true, [WriterID: UInt64]())
        while moved {
            moved = joinSnapshots(at: now, &changes, &effects)
            for writer in waiting.writers {
                while leadsToSnapshots(writer, &checked), applyNext(writer, at: now, &changes, &effects) {
                    moved = true
                }
            }
        }
        if !changes.isEmpty { effects.append(.changed(changes)) }
        return effects
    }

    /// - Returns: Whether something was applied, or became acceptable.
    private mutating func applyNext(
        _ writer: WriterID, at now: UInt64, _ changes: inout [ItemChange], _ effects: inout [Effect]
    ) -> Bool {
        let number = (logs[writer]?.tip.number ?? 0) + 1
        waiting.removeAll(of: writer, through: number - 1)
        guard writer != self.writer, let bytes = waiting[writer, number] else { return false }
        let (before, previous) = (claims, logs[writer]?.tip.hash ?? .zero)
        do {
            let (batch, state) = try next(of: writer, from: number)
            try verify(batch)
            changes += items.apply(batch, ringKeys)
            clock.follow(batch.time, at: now)
            if batch.time.isFarAhead(of: now) {
                effects.append(
                    .found(.clockAhead(state.tip.author, milliseconds: batch.time.milliseconds - now)))
            }
            logs[writer] = state
            noteApplied(state.tip)
            if state.tip.number == number { keepConfirmed(bytes, batch, state, after: previous) }
            waiting.removeAll(of: writer, through: state.tip.number)
            return true
        } catch {
            note(error, .segment(writer, number), at: now, &effects)
            return claims != before
        }
    }

    private mutating func note(_ reason: NotApplied, _ name: ObjectName, at now: UInt64, _ effects: inout [Effect]) {
        switch reason {
        case .waits: break
        case .lacks(let vector): observations.note(vector, here: items.vector, at: now)
        case .afterRemoval: effects.append(.found(.refused(name, .afterRemoval)))
        case .refused(let refusal):
            effects.append(.found(.refused(name, refusal)))
            if case .segment(let writer, let number) = name { waiting.remove(writer, number) }
        }
    }

    /// The next transaction of a log, once everything about it but its records has been checked.
    mutating func next(of writer: WriterID, from number: UInt64) throws(NotApplied) -> (Batch, LogState) {
        let known = logs[writer]
        var tip = known?.tip ?? LogTip(author: member, counter: 0, number: 0, hash: .zero)
        var (pieces, epoch): ([UInt8], EpochID?) = ([], known?.epoch)
        while true {
            guard let bytes = waiting[writer, tip.number + 1] else { throw .waits }
            let (header, body) = try opened(bytes)
            guard header.previous == tip.hash else { throw .refused(.contradiction) }
            guard tip.number < number || body.author == tip.author else { throw .refused(.contradiction) }
            guard known == nil || body.author == known?.tip.author else { throw .refused(.contradiction) }
            try check(header.epoch, after: epoch)
            tip = LogTip(author: body.author, counter: tip.counter, number: header.number, hash: .hash(of: bytes))
            (pieces, epoch) = (pieces + body.piece, header.epoch)
            guard body.continues else { break }
            guard tip.number - number + 1 < UInt64(Bounds.continued) else { throw .refused(.tooLarge) }
        }
        let batch = try decoded(pieces, writer, tip, epoch)
        guard batch.after == tip.counter, batch.vector.covers(known?.vector.without(writer) ?? VersionVector()) else {
            throw .refused(.contradiction)
        }
        tip.counter = batch.through
        guard known != nil || hasRoom(forWriterOf: tip.author) else { throw .refused(.tooLarge) }
        try checkAuthor(tip, batch)
        let missing = items.vector.missing(from: batch.vector)
        guard missing.counters.isEmpty else { throw .lacks(batch.vector) }
        var sealed = known?.sealed ?? [:]
        if let epoch { sealed[epoch] = tip.number }
        return (batch, LogState(tip: tip, vector: batch.coverage, sealed: sealed, epoch: epoch))
    }

    private func opened(_ bytes: Data) throws(NotApplied) -> (SegmentHeader, SegmentBody) {
        do {
            let (header, body) = try SegmentBody.open(bytes, in: keyring)
            guard log.knows(body.tips) else { throw NotApplied.waits }
            guard let author = log.publicKeys(of: body.author) else { throw Refusal.notAMember }
            try body.check(header, by: author)
            return (header, body)
        } catch let error as NotApplied {
            throw error
        } catch {
            // The key may arrive with a wrap.
            if error as? Refusal == .noKey { throw .waits }
            throw .refused(error as? Refusal ?? .malformed)
        }
    }

    /// The epoch of a writer never falls, except from one that turned out not to count.
    private func check(_ epoch: EpochID, after last: EpochID?) throws(NotApplied) {
        guard let last, ring.countedEpochs.contains(last), epoch.number < last.number else { return }
        throw .refused(.contradiction)
    }

    private func decoded(_ bytes: [UInt8], _ writer: WriterID, _ tip: LogTip, _ epoch: EpochID?) throws(NotApplied)
        -> Batch
    {
        do {
            return try Batch(bytes, writer: writer, author: tip.author, epoch: epoch ?? ring.current)
        } catch {
            throw .refused(error)
        }
    }

    /// Members that may write are heard. Of removed ones, what the removal accepts, and what a member has seen.
    private mutating func checkAuthor(_ tip: LogTip, _ batch: Batch) throws(NotApplied) {
        if ring.mayWrite(tip.author) {
            do throws(Refusal) {
                return try claim(batch.vector)
            } catch {
                throw .refused(error)
            }
        }
        guard let member = ring.members[tip.author], member.card.role == .device else { throw .refused(.notAMember) }
        if let cut = ring.cuts[tip.author]?[batch.writer], tip.number <= cut.number {
            guard tip.number < cut.number || tip.hash == cut.hash else { throw .refused(.contradiction) }
            return
        }
        guard claims[batch.writer] >= tip.counter else { throw .afterRemoval }
    }

    /// Whether one more writer can be followed. Without a bound a member could make up so many that nobody can go on.
    private func hasRoom(forWriterOf author: MemberID) -> Bool {
        max(logs.count, items.vector.counters.count) < Bounds.writers
            && logs.values.count { $0.tip.author == author } < Bounds.writersOfMember
    }

    /// Checks what every record says about itself, before any of them is applied.
    func verify(_ batch: Batch) throws(NotApplied) {
        do {
            for entry in batch.entries { _ = try open(entry.record) }
        } catch {
            throw error == .noKey ? .waits : .refused(error)
        }
    }
}
