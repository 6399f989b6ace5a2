// SPDX-License-Identifier: Apache-2.0
// What machines exchange, read by a second implementation: `Tests/FormatReader/read_sync.py`, written from Docs/FORMAT.md.

import Foundation
import Testing

@Suite("the format of sync", .enabled(if: SyncReader.python != nil, SyncReader.requirement))
struct SyncFormatTests {
    private let tool: Tool
    private let reader: SyncReader

    init() throws {
        tool = try Tool()
        reader = try SyncReader(tool)
        try FileManager.default.createDirectory(
            at: tool.home.appendingPathComponent("shared"), withIntermediateDirectories: false)
    }

    /// A ring of two machines with a recovery key, and items.
    private func makeRing() throws {
        try script(
            """
            "$CTL" sync init --folder shared --name laptop && "$CTL" sync recovery-key > key && "$CTL" sync now || exit
            export HOME="$HOME/desktop" && mkdir "$HOME" || exit
            "$CTL" sync join --folder shared --name desktop --ring-key-fd 3 3< key || exit
            for name in alice bob carol; do
                printf "secret of $name" | "$CTL" set --synchronizable -s s -a "$name" || exit
            done
            "$CTL" sync now
            """)
        try script("\"$CTL\" sync now")
    }

    private func script(_ text: String) throws {
        let run = try tool.shell(text)
        try #require(run.status == 0, "\(run.errors)")
    }

    @Test func vectors_readByTheSecondImplementation_haveTheSameResults() throws {
        let results = try #require(try reader.vectors() as? [String: [String: String]])
        let vectors = try SyncReader.expectedVectors()
        #expect(vectors.count >= 15)
        #expect(results == vectors)
    }

    @Test func segments_readFromTheFolder_haveAllItems() throws {
        try makeRing()
        let found = try reader.read()
        #expect(found.status == 0)
        #expect(found.values == ["alice": "secret of alice", "bob": "secret of bob", "carol": "secret of carol"])
        #expect(found.segments == found.files(in: "l") && found.segments > 0)
    }

    @Test func snapshotAndWhatCameLater_readFromTheFolder_haveAllItemsButTheDeletedOne() throws {
        try makeRing()
        try script(
            """
            "$CTL" sync remove desktop --yes || exit
            printf later | "$CTL" set --synchronizable -s s -a alice && "$CTL" delete -s s -a bob && "$CTL" sync now
            """)
        let found = try reader.read()
        #expect(found.status == 0 && found.files(in: "s") >= 2)
        #expect(found.values == ["alice": "later", "carol": "secret of carol"])
    }

    @Test func concurrentValues_readFromTheFolder_areShownAsTheToolShowsThem() throws {
        try makeRing()
        try script(
            """
            printf one | "$CTL" set --synchronizable -s s -a bob && export HERE="$HOME" HOME="$HOME/desktop" || exit
            printf other | "$CTL" set --synchronizable -s s -a bob && "$CTL" sync now || exit
            HOME="$HERE" "$CTL" sync now
            """)
        let found = try reader.read()
        #expect(found.status == 0 && found.numberOfValues["bob"] == 2)
        #expect(try Data((found.values["bob"] ?? "").utf8) == tool.get(service: "s", account: "bob"))
    }

    @Test(arguments: ["l", "g", "k", "h"])
    func fileThatIsCut_isReported(_ kind: String) throws {
        try makeRing()
        try script(
            """
            file=$(find shared/skc1/*/\(kind) -name '*.skc' | sort | head -n 1)
            head -c 700 "$file" > cut && cat cut > "$file"
            """)
        // Without its only entry or wrap the ring may not open at all.
        #expect(try reader.read().status != 0)
    }
}

/// Runs the second implementation over the folder `shared` of a home, with the recovery key in the file `key`.
struct SyncReader {
    let tool: Tool

    init(_ tool: Tool) throws { self.tool = tool }

    static let requirement: Comment = "needs Python with the package 'cryptography' (KEYCHAIN_TEST_PYTHON names one)"

    static let python: String? = {
        let named = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_PYTHON"]
        let candidates = [named, "/usr/bin/python3", "/usr/local/bin/python3"].compactMap(\.self)
        do {
            let tool = try Tool()
            return try candidates.first { try tool.shell("'\($0)' -c 'import cryptography'").status == 0 }
        } catch {
            return nil
        }
    }()

    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    private static let vectorFile = tests.appendingPathComponent("Vectors/sync.json")

    private func run(_ arguments: String) throws -> Tool.Run {
        let script = Self.tests.appendingPathComponent("FormatReader/read_sync.py").path
        return try tool.shell("'\(Self.python ?? "python3")' '\(script)' \(arguments)")
    }

    func vectors() throws -> Any {
        let run = try run("--vectors '\(Self.vectorFile.path)'")
        try #require(run.status == 0, "\(run.errors)")
        return try JSONSerialization.jsonObject(with: run.output)
    }

    static func expectedVectors() throws -> [String: [String: String]] {
        let content = try JSONSerialization.jsonObject(with: Data(contentsOf: vectorFile)) as? [String: Any]
        let vectors = content?["vectors"] as? [[String: Any]] ?? []
        var expected: [String: [String: String]] = [:]
        for vector in vectors {
            expected[try #require(vector["name"] as? String)] = vector["expect"] as? [String: String]
        }
        return expected
    }

    struct Found {
        let status: Int32
        let folder: URL
        let content: [String: Any]

        private var items: [(account: String, item: [String: Any])] {
            (content["items"] as? [[String: Any]] ?? []).map { item in
                let attributes = item["attributes"] as? [String: [String: Any]]
                return (attributes?["acct"]?["value"] as? String ?? "", item)
            }
        }

        var values: [String: String] {
            let pairs = items.map { ($0.account, Data(base64Encoded: $0.item["value"] as? String ?? "") ?? Data()) }
            return Dictionary(uniqueKeysWithValues: pairs.map { ($0.0, String(decoding: $0.1, as: UTF8.self)) })
        }

        var numberOfValues: [String: Int] {
            Dictionary(uniqueKeysWithValues: items.map { ($0.account, $0.item["values"] as? Int ?? 0) })
        }

        /// How many segments it has used.
        var segments: Int { content["segments"] as? Int ?? 0 }

        /// How many files of a kind lie in the folder.
        func files(in kind: String) -> Int {
            let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            return paths.count { $0.contains("/\(kind)/") && $0.hasSuffix(".skc") }
        }
    }

    func read() throws -> Found {
        let run = try run("shared --recovery-key-fd 3 3< key")
        let content = run.output.isEmpty ? [:] : try JSONSerialization.jsonObject(with: run.output)
        let folder = tool.home.appendingPathComponent("shared")
        return Found(status: run.status, folder: folder, content: content as? [String: Any] ?? [:])
    }
}
