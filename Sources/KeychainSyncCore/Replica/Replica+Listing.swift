// SPDX-License-Identifier: Apache-2.0
// Compares a carrier's listing: what to fetch, what to write again, what to report.

package import Foundation

extension Replica {
    /// Looks at what a carrier holds: what to fetch, what to put back. Once nothing new is to be fetched, it also compares what is
    /// there with what is known here.
    ///
    /// - Parameter isWrapping: Whether members may get keys that they lack.
    package mutating func listed(_ listing: Listing, at now: UInt64, wrapping isWrapping: Bool = true) -> [Effect] {
        forgetRefusals(at: now)
        noteShown(in: listing)
        earlyWraps.formIntersection(listing.names)
        unlisted = unlisted.filter { !listing.names.contains(.entry($0)) }
        noteListedSnapshots(listing)
        let covered = covered(by: listing)
        for (id, snapshot) in snapshots where !snapshot.isJoined && !listing.names.contains(.snapshot(id, part: 0)) {
            snapshots[id] = nil
        }
        unheardSnapshots = unheardSnapshots.filter { listing.names.contains(.snapshot($0.key, part: 0)) }
        // First: what it makes may be hidden.
        var effects = checkWraps(in: listing, at: now, wrapping: isWrapping)
        let hidden = hidden(in: listing)
        doubt(listing, hidden)
        effects += putBack(listing, covered, hidden)
        effects += removeCovered(listing, coveredOwn(by: listing))
        noteCollected(listing)
        let wanted = news(in: listing)
        noteWanted(wanted, in: listing)
        return wanted.isEmpty ? conclude(listing) + effects : effects + [.read(wanted)]
    }

    /// The revision that the carrier shows next is taken for its first one.
    package mutating func forgetRevision() { observations.forgetRevision() }

    /// Compares what a carrier holds with what is known here, when everything that can be fetched has come: before, a snapshot that
    /// took the place of something might be missing. Something may be wanted still: it cannot be read.
    package mutating func conclude(_ listing: Listing) -> [Effect] {
        // What takes the place of anything since its removal, a removed machine cannot read.
        guard ring.isActive(member) else { return [] }
        let hidden = hidden(in: listing)
        let shown = Listing(
            names: listing.names.subtracting(hidden).subtracting(refusedHeads), revision: listing.revision)
        // Without the newest key, a snapshot that took the place of segments cannot be told from their loss.
        let canTell = keyring.epochs[ring.current] != nil
        var effects = observations.compare(
            shown, logs: canTell ? knownNumbers : [:], covered: covered(by: listing),
            entries: Set(entries.keys).subtracting(unlisted), members: Set(ring.active.map(\.id))
        ).map { Effect.found($0) }
        effects += doubted(in: listing) + shownAfterRefusal
        for (id, snapshot) in snapshots.sorted(by: { $0.key < $1.key })
        where canTell && snapshot.isJoined && !snapshot.names.allSatisfy(listing.names.contains) {
            let isReplaced = snapshots.values.contains {
                $0.header.id != id && $0.isJoined && $0.manifest.vector.covers(snapshot.manifest.vector)
                    && isOpened($0, byAllWhoOpen: snapshot)
            }
            let isGone = unlistedSnapshots.remove(id) == nil
            if isGone, !isReplaced { effects.append(.found(.snapshotMissing(id))) }
            snapshots[id] = nil
        }
        return effects
    }

    private mutating func noteListedSnapshots(_ listing: Listing) {
        unlistedSnapshots = unlistedSnapshots.filter { id in
            guard let known = snapshots[id] else { return false }
            return !known.names.allSatisfy(listing.names.contains)
        }
    }

    /// Findings for everything that is overdue.
    package mutating func overdue(at now: UInt64) -> [Effect] {
        noteStalled(at: now)
        let others = ring.active.map(\.id).filter { $0 != member }
        let overdue = observations.overdue(at: now, here: items.vector, members: others)
        let logs = overdueLogs(at: now, beside: overdue)
        return (overdue + logs + (lacksKeys ? [.keysMissing] : [])).map { .found($0) }
    }

    /// Whether a key is missing here with which members that may write have sealed something.
    private var lacksKeys: Bool {
        guard keyring.epochs[ring.current] != nil else { return true }
        return waiting.writers.contains { writer in
            guard let tip = logs[writer]?.tip, ring.mayWrite(tip.author), let next = waiting[writer, tip.number + 1],
                let epoch = (try? SegmentHeader.read(next, ring: log.id))?.epoch
            else { return false }
            return ring.countedEpochs.contains(epoch) && keyring.epochs[epoch] == nil
        }
    }

    /// Whether the last head of this machine is gone from the carrier, so that others take it for a machine that went back.
    package func isHeadMissing(in listing: Listing) -> Bool {
        lastHead.number > 0 && !listing.names.contains(.head(member, lastHead.number))
    }

    /// The last segment of each log that a complete snapshot of the listing covers.
    ///
    /// - Parameters:
    ///   - epoch: Only of snapshots under its keys.
    ///   - isOfMembers: Only of snapshots of members that may write.
    ///   - isCovered: Only of logs of which this holds.
    private func covered(
        by listing: Listing, under epoch: EpochID? = nil, ofMembers isOfMembers: Bool = false,
        where isCovered: (WriterID, LogTip) -> Bool = { _, _ in true }
    ) -> [WriterID: UInt64] {
        snapshots.values.filter { $0.isJoined && $0.names.allSatisfy(listing.names.contains) }
            .filter { epoch == nil || $0.header.epoch == epoch }
            .filter { !isOfMembers || ring.mayWrite($0.manifest.author) }
            .flatMap { $0.manifest.logs.filter { isCovered($0.key, $0.value) }.map { ($0.key, $0.value.number) } }
            .reduce(into: [:]) { $0[$1.0] = max($0[$1.0] ?? 0, $1.1) }
    }

    /// The last of this machine's own segments that a snapshot of the listing stands for. One that follows a copy of this machine stands
    /// for none that differ, and one of a removed member is not used by machines that do not have it yet.
    private func coveredOwn(by listing: Listing) -> [WriterID: UInt64] {
        covered(
            by: listing, ofMembers: true,
            where: { id, tip in own[id]?[tip.number].map { .hash(of: $0.bytes) == tip.hash } ?? true })
    }

    /// The last segments that are known to be on the carrier.
    private var knownNumbers: [WriterID: UInt64] {
        var numbers = logs.mapValues(\.tip.number)
        for (id, segments) in own {
            if let first = segments.filter({ !$0.value.isPublished }).keys.min() { numbers[id] = first - 1 }
        }
        return numbers
    }

    /// How many segments a machine that joins has to read beside the snapshots, as far as they are any.
    package func uncoveredSegmentCount(in listing: Listing) -> Int {
        let covered = covered(by: listing)
        return listing.names.count { name in
            guard case .segment(let id, let number) = name, number > covered[id] ?? 0 else { return false }
            if number <= logs[id]?.tip.number ?? 0 { return true }
            return waiting[id, number].map { (try? signer(of: $0)) != nil } ?? false
        }
    }

    /// Whether a machine that joins could take a segment of a copied machine for the one that is known here: no snapshot covers it.
    package func isAmbiguous(_ listing: Listing) -> Bool {
        let covered = covered(by: listing)
        return listing.names.contains { name in
            guard case .segment(let id, let number) = name else { return false }
            return number > covered[id] ?? 0 && hasCopy(id, number)
        }
    }

    /// What this machine wrote and the carrier lacks goes up again, gaps included.
    private mutating func putBack(
        _ listing: Listing, _ covered: [WriterID: UInt64], _ hidden: Set<ObjectName>
    ) -> [Effect] {
        var effects: [Effect] = []
        func put(_ name: ObjectName, _ bytes: Data, beside isAllowed: Bool) {
            if !listing.names.contains(name) {
                effects.append(.write(name, bytes))
            } else if hidden.contains(name) {
                effects.append(isAllowed ? .writeBeside(name, bytes) : .write(name, bytes))
            }
        }
        for (name, bytes) in wraps.sorted(by: { $0.key < $1.key }) { put(name, bytes, beside: true) }
        for (hash, bytes) in entries.sorted(by: { $0.key < $1.key }) {
            let name = ObjectName.entry(hash)
            // Others may have sealed the same entry in other bytes.
            guard let doubt = doubts[name], hidden.contains(name) else {
                if !listing.names.contains(name) { effects.append(.write(name, bytes)) }
                continue
            }
            if doubt.isRead, doubt.authentic.isEmpty { effects.append(.writeBeside(name, bytes)) }
        }
        let coveredOwn = coveredOwn(by: listing)
        for (id, segments) in own.sorted(by: { $0.key < $1.key }) {
            for (number, segment) in segments.sorted(by: { $0.key < $1.key }) where number > coveredOwn[id] ?? 0 {
                put(.segment(id, number), segment.bytes, beside: segment.isPublished)
            }
        }
        needsSnapshot = !isComplete(listing, covered, hidden) || !isReadable(listing)
        return effects
    }

    /// Whether the carrier has everything that is known here, or will have it after the uploads.
    /// A segment in whose place another one lies is not there.
    private func isComplete(
        _ listing: Listing, _ covered: [WriterID: UInt64], _ hidden: Set<ObjectName>
    ) -> Bool {
        var there = (own as [WriterID: [UInt64: OwnSegment]]).mapValues { Set($0.keys) }
        for case .segment(let id, let number) in listing.names.subtracting(hidden) {
            there[id, default: []].insert(number)
        }
        return logs.allSatisfy { id, state in
            let (first, last) = (covered[id] ?? 0, state.tip.number)
            guard first < last else { return true }
            return UInt64((there[id] ?? []).filter { $0 > first && $0 <= last }.count) == last - first
        }
    }

    /// Whether a member with only the keys of the current epoch could read everything.
    private func isReadable(_ listing: Listing) -> Bool {
        let covered = covered(by: listing, under: ring.current)
        return logs.allSatisfy { id, state in
            state.sealed.allSatisfy { $0.key == ring.current || $0.value <= covered[id] ?? 0 }
        }
    }

    /// Own segments and snapshots that a complete snapshot covers, and own heads except the last two. Nobody else removes the snapshots
    /// of removed members.
    private mutating func removeCovered(_ listing: Listing, _ covered: [WriterID: UInt64]) -> [Effect] {
        var names: [ObjectName] = []
        for id in own.keys.sorted() {
            for number in (own[id] ?? [:]).keys.sorted() where number <= covered[id] ?? 0 {
                own[id]?[number] = nil
                names.append(.segment(id, number))
            }
        }
        let known = snapshots.merging(unheardSnapshots) { heard, _ in heard }
        for (_, snapshot) in known.sorted(by: { $0.key < $1.key }) where isReplaced(snapshot, in: listing) {
            names += snapshot.names
        }
        // After a restoration the next number is far away, and until there is such a head the last ones are the former ones.
        let heads = listing.names.compactMap { if case .head(member, let number) = $0 { number } else { nil } }
        names += heads.filter { $0 <= lastHead.number }.sorted().dropLast(2).map { .head(member, $0) }
        names = names.filter(listing.names.contains)
        return names.isEmpty ? [] : [.remove(names)]
    }

    /// Whether another snapshot stands for all of this one. Two that stand for the same remove each other only in one order.
    private func isReplaced(_ old: KnownSnapshot, in listing: Listing) -> Bool {
        let isRemoved = ring.members[old.manifest.author]?.isRemoved == true
        guard isRemoved || old.manifest.author == member else { return false }
        return snapshots.values.contains { new in
            new.isJoined && new.header.id != old.header.id && new.names.allSatisfy(listing.names.contains)
                && ring.mayWrite(new.manifest.author) && new.manifest.vector.covers(old.manifest.vector)
                && isOpened(new, byAllWhoOpen: old)
                && (isRemoved || new.manifest.vector != old.manifest.vector || new.header.epoch != old.header.epoch
                    || new.header.id < old.header.id)
        }
    }

    /// Whether a machine that joins, which has the keys of the current epoch only, loses nothing if one snapshot takes the place of the
    /// other one. Of two with different epochs this holds in one order at most.
    private func isOpened(_ new: KnownSnapshot, byAllWhoOpen old: KnownSnapshot) -> Bool {
        let (new, old) = (new.header.epoch, old.header.epoch)
        return new == old || new == ring.current || (old != ring.current && new.number > old.number)
    }

    /// What is to be fetched of a listing next, as far as it can be told before ``listed(_:at:)`` has seen it. Segments come last:
    /// snapshots tell which of them others have applied.
    package func news(in listing: Listing) -> [ObjectName] {
        let collected = collected
        let wanted = listing.names.filter { name in
            if isJunk(name, in: listing), !isDoubtful(name) { return false }
            return switch name {
            case .entry(let hash): entries[hash] == nil || isDoubtful(name)
            case .wrap(let epoch, let recipient): keyring.epochs[epoch] == nil && wrappingKey(of: recipient) != nil
            case .segment(let id, let number): isWanted(id, number, in: listing) || isDoubtful(name)
            case .snapshot(let id, let part): isWanted(id, part, collected)
            case .head(let member, let number):
                // That of a removed member is no use to anybody, and lies there for ever.
                member != self.member && ring.members[member]?.isRemoved != true
                    && number > observations.heads[member]?.number ?? 0
            case .invitation, .request: false
            }
        }.sorted()
        return wanted.filter { !$0.isSegment } + inTurn(wanted.filter(\.isSegment), of: listing)
    }

    /// Whether what ``listed(_:at:)`` wants to put back is still to be put back: since then this machine may have become another writer.
    package func isOwn(_ name: ObjectName, _ bytes: Data) -> Bool {
        guard case .segment(let writer, let number) = name else { return true }
        return own[writer]?[number]?.bytes == bytes
    }

    private func isDoubtful(_ name: ObjectName) -> Bool { doubts[name]?.isRead == false }

    private func isWanted(_ writer: WriterID, _ number: UInt64, in listing: Listing) -> Bool {
        if let mine = own[writer]?[number], !mine.isPublished {
            // Under an earlier writer of this machine, it may lie there without this machine having been told.
            let contents = listing.contents[.segment(writer, number)]
            return writer == self.writer || contents?.contains(mine.content) ?? true
        }
        guard number > logs[writer]?.tip.number ?? 0 else { return false }
        guard let held = waiting[writer, number] else { return true }
        // Anybody can put something of an unknown epoch there. What its author has written may lie there by now.
        let contents = listing.contents[.segment(writer, number)] ?? []
        if contents == [ListedContent(held)] { return false }
        return (try? signer(of: held)) == nil
    }

    private func isWanted(_ id: SnapshotID, _ part: UInt16, _ collected: Set<SnapshotID>) -> Bool {
        guard let known = snapshots[id] else { return part == 0 }
        return collected.contains(id) && part > 0 && Int(part) <= known.manifest.parts.count
            && known.parts[Int(part)] == nil
    }
}
