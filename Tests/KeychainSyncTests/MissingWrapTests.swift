// SPDX-License-Identifier: Apache-2.0
// Wraps of the current keys that the carrier has lost, when their maker does not have them any more.

import Foundation
import KeychainCrypto
import Testing

@testable import KeychainSyncCore

struct MissingWrapTests {
    /// Three machines. The first has made new keys and was then restored from a backup, and the carrier has lost those of the third.
    private func world() throws -> World {
        var world = try World(3)
        for index in [1, 2] { world.look(index) }
        let backup = world.machines[0]
        world.carryOut(try world.machines[0].rotate(), 0)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.machines[0] = backup
        world.carryOut(world.machines[0].startAgain(at: world.now), 0)
        world.carrier[wrap(in: world)] = nil
        return world
    }

    /// That of the third machine, under the keys that the carrier's entries tell of.
    private func wrap(in world: World) -> ObjectName {
        let epochs = world.carrier.keys.compactMap { if case .wrap(let epoch, _) = $0 { epoch } else { nil } }
        let newest = epochs.max { $0.number < $1.number }
        return .wrap(newest ?? world.machines[0].ring.current, world.machines[2].member)
    }

    private func wait(_ world: inout World) { world.now += Observations.grace }

    @Test func wrap_thatItsMakerHasNoMore_isMadeByAnotherMember() throws {
        var world = try world()
        for index in [1, 2] { world.look(index) }
        #expect(try world.shown(2, "a") == nil)
        wait(&world)
        for index in [1, 2] { world.look(index) }
        #expect(try world.shown(2, "a") == "1")
    }

    @Test func wrap_thatItsMakerHasNoMore_isMadeByItsMaker() throws {
        var world = try world()
        world.look(0)
        wait(&world)
        for index in [0, 2] { world.look(index) }
        #expect(try world.shown(2, "a") == "1")
    }

    /// Something in which there is nothing lies in its place, such as a folder.
    @Test func wrap_inWhosePlaceThereIsNothingToRead_isMadeBesideIt() throws {
        var world = try world()
        world.carrier[wrap(in: world)] = Data()
        for index in [1, 2] { world.look(index) }
        #expect(try world.shown(2, "a") == nil)
        wait(&world)
        for index in [1, 2] { world.look(index) }
        #expect(try world.shown(2, "a") == "1")
    }

    /// Files arrive in any order: its maker has published it, and the carrier shows it later.
    @Test func wrap_thatHasNotBeenMissingForLong_isNotMade() throws {
        var world = try world()
        world.look(1)
        world.now += Observations.grace - 1
        world.look(1)
        #expect(world.carrier[wrap(in: world)] == nil)
    }

    @Test func wrap_thatWasThereInBetween_isMissingAnew() throws {
        var world = try world()
        let name = wrap(in: world)
        world.look(1)
        world.carrier[name] = Data("what has arrived".utf8)
        wait(&world)
        world.look(1)
        world.carrier[name] = nil
        world.look(1)
        #expect(world.carrier[name] == nil)
    }

    @Test func wrap_thatIsMissingSinceBeforeTheProcess_isMade() throws {
        var world = try world()
        world.look(1)
        let replica = world.machines[1]
        world.machines[1] = try Replica(
            stored: replica.changes(since: nil).written, keys: replica.keys, keyring: replica.keyring)
        #expect(world.machines[1].changes(since: replica).isEmpty)
        wait(&world)
        for index in [1, 2] { world.look(index) }
        #expect(try world.shown(2, "a") == "1")
    }

    @Test func wrap_whenTheClockHasGoneBack_isMadeAfterTheSameTime() throws {
        var world = try world()
        world.now += 365 * 86_400_000
        world.look(1)
        world.now -= 365 * 86_400_000
        world.look(1)
        wait(&world)
        for index in [1, 2] { world.look(index) }
        #expect(try world.shown(2, "a") == "1")
    }

    /// Damage, or an attack: a file with that name is there.
    @Test func somethingElseInThePlaceOfAWrap_isRemovedByTheMachineThatNeedsIt() throws {
        var world = try world()
        let name = wrap(in: world)
        world.carrier[name] = Data("none".utf8)
        for index in [1, 2] { world.look(index) }
        #expect(world.carrier[name] == Data("none".utf8))
        wait(&world)
        for index in [1, 2] { world.look(index) }
        #expect(world.carrier[name] == nil)
        for _ in 0..<2 {
            for index in [1, 2] { world.look(index) }
            wait(&world)
        }
        #expect(try world.shown(2, "a") == "1")
    }

    /// Another process has not read it yet.
    @Test func somethingElseInThePlaceOfAWrap_isRemovedByALaterProcess() throws {
        var world = try world()
        let name = wrap(in: world)
        world.carrier[name] = Data("none".utf8)
        world.look(2)
        let replica = world.machines[2]
        world.machines[2] = try Replica(
            stored: replica.changes(since: nil).written, keys: replica.keys, keyring: replica.keyring)
        wait(&world)
        world.look(2)
        #expect(world.carrier[name] == nil)
    }

    /// In whatever the machine has read there before.
    @Test func wrapThatTakesThePlaceOfDamage_isNotRemoved() throws {
        var world = try world()
        let name = wrap(in: world)
        world.carrier[name] = Data("none".utf8)
        world.look(2)
        world.carrier[name] = nil
        wait(&world)
        world.look(1)
        wait(&world)
        world.look(1)
        let good = world.carrier[name]
        world.look(2)
        #expect(good != nil && world.carrier[name] == good)
        #expect(try world.shown(2, "a") == "1")
    }

    /// It would exchange each minute.
    @Test(arguments: [Role.device, .reader])
    func machineThatHasItsKeys_waitsForNoWraps(_ role: Role) throws {
        var world = try World(2)
        try world.join(as: role)
        world.carryOut(try world.machines[0].rotate(), 0)
        let name = ObjectName.wrap(world.machines[0].ring.current, world.machines[2].member)
        let wrap = world.carrier.removeValue(forKey: name)
        world.look(2)
        world.carrier[name] = Data("none".utf8)
        world.look(2)
        world.carrier[name] = wrap
        world.look(2)
        #expect(world.machines[2].wrapsDueTime == nil)
    }

    @Test func wrapOfAMachineThatHasItsKeys_isNotRemoved() throws {
        var world = try World(2)
        for index in [0, 1, 0, 1] {
            wait(&world)
            world.look(index)
        }
        #expect(world.machines.allSatisfy { world.carrier[.wrap($0.ring.current, $0.member)] != nil })
    }

    @Test func wrap_ofARemovedMachine_isNotMade() throws {
        var world = try world()
        world.look(1)
        world.carryOut(try world.machines[1].remove([world.machines[2].member], at: world.now), 1)
        wait(&world)
        for _ in 0..<2 { world.look(1) }
        let wraps = world.carrier.keys.filter {
            if case .wrap(let epoch, world.machines[2].member) = $0 { epoch.number > 1 } else { false }
        }
        #expect(wraps.isEmpty)
    }

    /// A machine that no person has let in again gets no keys.
    @Test func wrap_whileMembersAreUndecided_isNotMade() throws {
        var world = try world()
        world.look(1)
        wait(&world)
        _ = world.machines[1].listed(world.listing(), at: world.now, wrapping: false)
        #expect(!world.machines[1].wraps.keys.contains(wrap(in: world)))
    }

    // MARK: - Keys that nobody has

    /// The machine that made the newest keys is restored together with the carrier. The other one has only seen that there are new keys.
    private func worldWithoutKeys() throws -> World {
        var world = try World(2)
        world.look(1)
        let (machine, carrier) = (world.machines[0], world.carrier)
        world.carryOut(try world.machines[0].rotate(), 0)
        world.look(1) { if case .wrap = $0 { true } else { false } }
        (world.machines[0], world.carrier) = (machine, carrier)
        world.carryOut(world.machines[0].startAgain(at: world.now), 0)
        try world.write(1, ["a": "1"])
        #expect(throws: Refusal.noKey) { try world.machines[1].seal(at: world.now) }
        // It puts back what the carrier has lost.
        world.look(1)
        world.look(0)
        return world
    }

    /// Whether the other machine can send what it has written.
    private func expectSent(_ world: inout World) throws {
        world.look(1)
        try world.upload(1)
        world.look(0)
        #expect(try world.shown(0, "a") == "1")
    }

    @Test func keysThatNobodyHas_areReplacedByTheirMaker() throws {
        var world = try worldWithoutKeys()
        try world.upload(0)
        try expectSent(&world)
    }

    @Test func keysThatNobodyHas_areReplacedByTheirMaker_alsoIfItGetsKeysOfItsOwn() throws {
        var world = try worldWithoutKeys()
        world.carryOut(try world.machines[0].renewIdentity(at: world.now), 0)
        try expectSent(&world)
    }
}
