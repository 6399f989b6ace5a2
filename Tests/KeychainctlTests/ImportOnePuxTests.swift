// SPDX-License-Identifier: Apache-2.0
// Importing .1pux archives: as programs write them, and as no program does.

import Foundation
import Testing

@Suite("import of .1pux archives", .enabled(if: Tool.hasPython, "python3 is not installed"))
struct ImportOnePuxTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// The first argument says what is special about the archive.
    private static let script = """
        import io, struct, sys, zipfile
        kind, name = sys.argv[2], "export.data"
        data = b'''{"accounts": [{"vaults": [{"items": [{"details": {"loginFields": [
            {"value": "ivan", "designation": "username"}, {"value": "hunter2", "designation": "password"}]},
            "overview": {"title": "Example", "url": "https://example.com"}}]}]}]}'''
        method = {"stored": zipfile.ZIP_STORED, "bzip2": zipfile.ZIP_BZIP2}.get(kind, zipfile.ZIP_DEFLATED)
        class Pipe(io.BytesIO):
            seekable = lambda self: False
            def tell(self): raise OSError
            def seek(self, *_): raise OSError
        buffer = Pipe() if kind == "streamed" else io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive:
            if kind != "first": archive.writestr("export.attributes", b'{"version": 3}')
            if kind == "bomb": data = bytes(70 << 20)
            if kind == "nested": data = b"PK\\x03\\x04" + data
            if kind != "missing": archive.writestr(name, data)
            if kind == "twice": archive.writestr(name, data)
            if kind == "others": archive.writestr("../../evil", b"x"); archive.writestr("files/a", bytes(1 << 20))
            if kind == "comment": archive.comment = b"PK\\x05\\x06" + bytes(30)
        a = bytearray(buffer.getvalue())
        entry = a.rindex(b"PK\\x01\\x02")
        local = struct.unpack_from("<I", a, entry + 42)[0]
        end = a.rindex(b"PK\\x05\\x06")
        def put(form, place, value): struct.pack_into(form, a, place, value)
        if kind == "encrypted": put("<H", entry + 8, 1); put("<H", local + 6, 1)
        if kind == "smaller": put("<I", entry + 24, len(data) - 1); put("<I", local + 22, len(data) - 1)
        if kind == "larger": put("<I", entry + 24, len(data) + 1); put("<I", local + 22, len(data) + 1)
        if kind == "sum": put("<I", entry + 16, 1); put("<I", local + 14, 1)
        if kind == "renamed": a[local + 30] ^= 1
        if kind == "beyond": put("<I", entry + 42, 0x7FFFFFF0)
        if kind == "long": put("<I", entry + 20, 0x7FFFFFF0); put("<I", local + 18, 0x7FFFFFF0)
        if kind == "contradiction": put("<I", local + 22, 7)
        if kind == "damaged": a[local + 30 + len(name) + 20] ^= 0xFF
        if kind == "count": put("<H", end + 8, 60000); put("<H", end + 10, 60000)
        if kind == "zip64": put("<I", end + 16, 0xFFFFFFFF)
        if kind == "behind": a += b"x"
        if kind == "cut": del a[-30:]
        open("archive.1pux", "wb").write(a)
        """

    private func importArchive(_ kind: String) throws -> Tool.Run {
        try tool.python(Self.script, kind)
        return try tool.shell("\"$CTL\" import 1password archive.1pux")
    }

    @Test(arguments: ["deflated", "stored", "streamed", "first", "others", "comment"])
    func archive_asProgramsWriteIt_isImported(kind: String) throws {
        let run = try importArchive(kind)
        #expect(run.status == 0, "\(run.everything)")
        #expect(try tool.run("get", "--server", "example.com", "-a", "ivan").text == "hunter2")
    }

    @Test func archive_withOtherFiles_isReportedWithTheirNumber() throws {
        let run = try importArchive("others")
        #expect(run.text.contains("left out       the archive: 2 other file(s) are not"), "\(run.everything)")
    }

    @Test(arguments: [
        ("missing", 64, "no 'export.data'"), ("twice", 64, "several members"), ("bomb", 18, "larger than 64 MiB"),
        ("nested", 64, "is a ZIP archive"), ("encrypted", 14, "encrypted"), ("bzip2", 14, "'deflate'"),
        ("smaller", 64, "contradict"), ("larger", 64, "contradict"), ("sum", 64, "contradict"),
        ("renamed", 64, "contradict"), ("beyond", 64, "contradict"), ("long", 64, "contradict"),
        ("contradiction", 64, "contradict"), ("damaged", 64, "contradict"), ("count", 64, "contradict"),
        ("zip64", 64, "ZIP64"), ("behind", 64, "directory is missing"), ("cut", 64, "directory is missing"),
    ])
    func archive_thatIsBad_isAnErrorAndImportsNothing(kind: String, status: Int, words: String) throws {
        let run = try importArchive(kind)
        #expect(run.status == Int32(status) && run.errors.contains(words), "\(run.everything)")
        #expect(run.text.isEmpty && !run.errors.contains("hunter2"))
        #expect(!FileManager.default.fileExists(atPath: tool.database.path))
    }

    /// No byte of an archive can be changed so that something else is imported.
    @Test func archive_withAnyByteChanged_isAnErrorOrTheSame() throws {
        try tool.python(Self.script, "deflated")
        let run = try tool.shell(
            """
            python3 - <<'END'
            import subprocess, os
            good = open("archive.1pux", "rb").read()
            bad = []
            for index in range(0, len(good), 9):
                data = bytearray(good); data[index] ^= 0x55
                done = subprocess.run([os.environ["CTL"], "import", "1password", "-", "--dry-run"], input=bytes(data), capture_output=True)
                lines = [line for line in done.stdout.splitlines(True) if not line.startswith(b"left out")]
                if done.returncode == 0 and lines != [b"would add      ivan at https://example.com (entry 1)\\n"]: bad.append(index)
                if done.returncode not in (0, 14, 18, 64): bad.append((index, done.returncode))
            print(bad)
            END
            """)
        #expect(run.text == "[]\n", "\(run.everything)")
    }
}
