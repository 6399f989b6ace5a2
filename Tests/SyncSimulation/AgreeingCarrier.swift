// SPDX-License-Identifier: Apache-2.0
// A carrier on which all machines agree, as one etcd is.

import Foundation
import KeychainSyncCore

/// Each call happens at one moment, and all machines see the same. It loses nothing, and may lie about what it has refused.
struct AgreeingCarrier {
    enum Answer { case created, changedSince }

    private var objects: [ObjectName: [Data]] = [:]
    private var listed: [ObjectName: Set<ListedContent>] = [:]
    private var revision: UInt64 = 1
    /// The revision of the last segment, or entry of the ring log.
    private var lastWrite: UInt64 = 1

    var listing: Listing {
        Listing(names: Set(objects.keys), revision: revision, contents: listed)
    }

    func contents(_ name: ObjectName) -> [Data] { objects[name] ?? [] }

    var sorted: [(name: ObjectName, bytes: Data)] {
        objects.sorted { $0.key < $1.key }.flatMap { name, contents in contents.map { (name, $0) } }
    }

    mutating func publish(_ name: ObjectName, _ bytes: Data, beside isBeside: Bool = false) -> Publication {
        if contents(name).contains(bytes) { return .alreadySame }
        if case .segment = name, !isBeside, !contents(name).isEmpty { return .otherThere }
        objects[name, default: []].append(bytes)
        listed[name, default: []].insert(ListedContent(bytes))
        revision += 1
        switch name {
        case .segment, .entry: lastWrite = revision
        default: break
        }
        return .created
    }

    /// Publishes a segment if none, and no entry, came since a listing.
    mutating func publish(_ name: ObjectName, _ bytes: Data, ifUnchangedSince revision: UInt64) -> Answer {
        if contents(name).contains(bytes) { return .created }
        guard lastWrite <= revision, contents(name).isEmpty else { return .changedSince }
        _ = publish(name, bytes)
        return .created
    }

    mutating func remove(_ names: [ObjectName]) { for name in names { (objects[name], listed[name]) = (nil, nil) } }
}
