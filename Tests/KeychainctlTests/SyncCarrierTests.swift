// SPDX-License-Identifier: Apache-2.0
// Three machines over real carriers, with faults: the sample of Scripts/check-sync.py, which `make carriers` runs with more items.

import Foundation
import KeychainTestSupport
import Testing

@Suite("carriers of sync", .enabled(if: SyncReader.python != nil, SyncReader.requirement))
struct SyncCarrierTests {
    private static let hasGit = Programs.installed("git") != nil
    private static let hasSyncthing = Programs.installed("syncthing") != nil

    @Test func threeMachines_overOneFolderWithFaults_haveTheSameItems() throws {
        try sample("folder")
    }

    @Test(.enabled(if: hasGit, "git is not installed"))
    func threeMachines_overGitWithFaults_haveTheSameItems() throws {
        try sample("git")
    }

    @Test(.enabled(if: hasSyncthing, "syncthing is not installed"))
    func threeMachines_overSyncthingWithFaults_haveTheSameItems() throws {
        try sample("syncthing")
    }

    #if Etcd
        private static let hasEtcd = Programs.installed("etcd") != nil && Programs.installed("etcdctl") != nil

        @Test(.enabled(if: hasEtcd, "etcd or etcdctl is not installed (Debian: etcd-server, etcd-client)"))
        func threeMachines_overEtcdWithFaults_haveTheSameItems() throws {
            try sample("etcd", Tool.withAllTraits)
        }

        @Test(.enabled(if: hasEtcd, "etcd or etcdctl is not installed (Debian: etcd-server, etcd-client)"))
        func programWithoutEtcd_isReportedBeforeAnythingIsTried() throws {
            let folder = try Tool()
            let refusing = folder.home.appendingPathComponent("refusing")
            try Data("#!/bin/sh\necho built without etcd >&2; exit 14\n".utf8).write(to: refusing)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: refusing.path)
            let run = try Self.run("folder --carrier etcd", refusing.path)
            #expect(run.status == 1)
            #expect(run.errors.contains("built without etcd") && run.errors.contains("Nothing was tried"))
            #expect(run.text.isEmpty)
        }
    #endif

    private func sample(_ carrier: String, _ program: String = Tool.executable) throws {
        let run = try Self.run(carrier, program)
        // In one line, since a summary of failed tests shows only the first one.
        let told = (run.errors + run.text).split(whereSeparator: \.isNewline).joined(separator: "; ")
        try #require(run.status == 0, "\(told)")
        #expect(run.text.contains(/[1-9][0-9]{2} items on each machine/), "\(told)")
        #expect(run.text.contains("Lost: 0, wrong: 0, different: 0. Conflicts that all list: 3. Faults: "))
    }

    private static func run(_ carrier: String, _ program: String) throws -> Tool.Run {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let script = tests.deletingLastPathComponent().appendingPathComponent("Scripts/check-sync.py").path
        return try Tool(program).shell(
            """
            export TMPDIR="$HOME" KEYCHAINCTL="$CTL" EXERCISER='\(Programs.built("exerciser"))'
            export KEYCHAIN_TEST_PYTHON='\(SyncReader.python ?? "python3")'
            # A failure is told if it ends before this test ends it.
            exec "$KEYCHAIN_TEST_PYTHON" '\(script)' --sample --deadline 400 --carrier \(carrier)
            """)
    }
}
