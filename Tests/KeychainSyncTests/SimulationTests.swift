// SPDX-License-Identifier: Apache-2.0
// The simulation for a few seeds; `sync-simulator` runs it for many.

import SyncSimulation
import Testing

struct SimulationTests {
    @Test(arguments: 0..<UInt64(10))
    func machines_afterEverythingThatGoesWrong_haveTheSame(_ group: UInt64) throws {
        for seed in group * 10..<group * 10 + 10 { _ = try Simulation.run(seed: seed) }
    }

    @Test(arguments: 0..<UInt64(2))
    func whatWasSaidOfConfirmedChanges_isTrueOnAllMachines(_ group: UInt64) throws {
        for seed in group * 10..<group * 10 + 10 { _ = try ConfirmedSimulation.run(seed: seed) }
    }

    /// From an image of its disk, of which nothing tells it.
    @Test(arguments: 0..<UInt64(7))
    func machineThatWasRestoredUnknowingly_joinedAgain_hasTheSame(_ group: UInt64) throws {
        for seed in group * 10..<group * 10 + 10 { _ = try Simulation.runWithImage(seed: seed) }
    }

    @Test func newcomer_admittedByAMemberThatWasRemovedMeanwhile_givesUp() throws { _ = try Simulation.run(seed: 254) }

    @Test func writeThatItsRestoredMachineAndTheCarrierBothLost_isMissedByNobody() throws {
        _ = try Simulation.run(seed: 578)
    }

    /// The carrier has lost a wrap, and the machine that has made it was restored from a backup.
    @Test func wrapThatItsRestoredMachineAndTheCarrierBothLost_isMadeAgain() throws {
        _ = try Simulation.run(seed: 11334)
    }

    /// A backup of the machine that made them is put back, and an older state of the carrier.
    @Test func keysThatNobodyHasAnyMore_areReplaced() throws { _ = try Simulation.run(seed: 16236) }
}
