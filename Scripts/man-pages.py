#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the man pages of the tool: one for it, and one for each of its commands.

    man-pages.py TOOL FOLDER     TOOL is a built keychainctl; the pages are written into FOLDER

The pages say what `--help` says: they are made from the tool's own description of its commands (`--experimental-dump-help`), and
the usage lines from the help itself. SOURCE_DATE_EPOCH is the date of the pages; without it, that of the last commit, or today.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The links to the tool that other programs start, and the commands that they stand for.
LINKS = {"git-credential-keychain": "git-credential", "docker-credential-keychain": "docker-credential",
         "keychain-askpass": "askpass"}
# What is indented in these sections is shown as it is: its line breaks and columns mean something.
AS_WRITTEN = {"EXAMPLES", "EXIT CODES"}
SECTION_NAMES = {"EXIT CODES": "EXIT STATUS"}
HEADING = re.compile(r"[A-Z][A-Z ]+")


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: man-pages.py TOOL FOLDER")
    tool, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    root = described(tool)
    version = output(tool, "--version").strip()
    pages = {}
    for path, command in commands(root, [root["commandName"]]):
        # Not `COMMAND --help`: `security` takes that as macOS does, as a mistake.
        usage = usage_lines(output(tool, "help", *path[1:]), path)
        pages["-".join(path)] = Page(path, command, usage, version).text()
    for link, command in LINKS.items():
        page = f"{root['commandName']}-{command}"
        if page in pages:
            pages[link] = f".so man1/{page}.1\n"
    for name, text in pages.items():
        (folder / f"{name}.1").write_text(text, encoding="ascii")
    print(f"{len(pages)} man pages are in {folder}.")


def described(tool: pathlib.Path) -> dict:
    try:
        return json.loads(output(tool, "--experimental-dump-help"))["command"]
    except (ValueError, KeyError, TypeError):
        sys.exit(f"'{tool}' does not describe its commands. Is it keychainctl?")


def output(tool: pathlib.Path, *arguments: str) -> str:
    run = subprocess.run([tool, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    if run.returncode != 0:
        sys.exit(f"'{tool.name} {' '.join(arguments)}' failed: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout.decode("utf-8")


def commands(command: dict, path: list[str]):
    """Every command with its path, those with a page of their own: all except `help`, and hidden ones that no link stands for."""
    yield path, command
    for sub in subcommands(command):
        yield from commands(sub, [*path, sub["commandName"]])


def subcommands(command: dict) -> list[dict]:
    return [sub for sub in command.get("subcommands", [])
            if sub["commandName"] != "help" and (sub.get("shouldDisplay", True) or sub["commandName"] in LINKS.values())]


def usage_lines(help_text: str, path: list[str]) -> list[str]:
    """The lines after USAGE, each a form of the command."""
    found = re.search(r"^USAGE: ?(.*?)(?:\n\n|\Z)", help_text, re.MULTILINE | re.DOTALL)
    lines = [line.strip() for line in found[1].splitlines()] if found else []
    return [line for line in lines if line] or [" ".join(path)]


class Page:
    def __init__(self, path: list[str], command: dict, usage: list[str], version: str):
        self.path, self.command, self.usage, self.version = path, command, usage, version
        self.lines: list[str] = []

    def text(self) -> str:
        name = "-".join(self.path)
        title = [f'"{escaped(word)}"' for word in (name.upper(), "1", f"{self.path[0]} {self.version}", "User Commands")]
        # mandoc reads a date only if nothing in it is escaped.
        self.lines.append(" ".join([".TH", *title[:2], date(), *title[2:]]))
        # Broken or stretched names could not be searched for, or copied.
        self.lines += [".nh", ".ad l"]
        self.section("NAME")
        self.words(f"{name} - {self.command.get('abstract', '').rstrip('.')}")
        self.section("SYNOPSIS")
        self.synopsis()
        before, sections = split(self.command.get("discussion", ""))
        self.section("DESCRIPTION")
        self.paragraphs(before or [self.command.get("abstract", "")])
        self.options()
        self.subcommand_list()
        for title, lines in sections:
            self.section(SECTION_NAMES.get(title, title))
            self.paragraphs(lines)
        self.see_also()
        return "\n".join(self.lines) + "\n"

    # What a page consists of

    def synopsis(self) -> None:
        for number, line in enumerate(self.usage):
            if number:
                self.lines.append(".br")
            known = " ".join(self.path)
            rest = line[len(known):] if line.startswith(known) else line
            start = f"\\fB{escaped(known)}\\fR" if line.startswith(known) else ""
            self.lines.append(start + re.sub(r"<([^<>]+)>", lambda name: f"\\fI{name[1]}\\fR", escaped(rest)))

    def options(self) -> None:
        shown = [argument for argument in self.command.get("arguments", []) if argument.get("shouldDisplay", True)]
        titles = list(dict.fromkeys(argument.get("sectionTitle") or "Options" for argument in shown))
        # Options without a title come last, as in the help.
        for title in sorted(titles, key=lambda title: title == "Options"):
            self.section(title.upper())
            for names, argument in merged([a for a in shown if (a.get("sectionTitle") or "Options") == title]):
                self.lines += [".TP", names]
                self.words(description(argument))

    def subcommand_list(self) -> None:
        subs = subcommands(self.command)
        if not subs:
            return
        self.section("COMMANDS")
        for sub in subs:
            self.lines += [".TP", f"\\fB{escaped('-'.join([*self.path, sub['commandName']]))}\\fR(1)"]
            self.words(sub.get("abstract") or "See its page.")

    def see_also(self) -> None:
        above = ["-".join(self.path[:length]) for length in range(1, len(self.path))]
        if above:
            self.section("SEE ALSO")
            self.lines.append(", ".join(f"\\fB{escaped(name)}\\fR(1)" for name in above))

    # Text

    def section(self, title: str) -> None:
        self.lines.append(f'.SH "{escaped(title)}"')

    def words(self, text: str) -> None:
        self.lines.append(line_of_text(text))

    def paragraphs(self, lines: list[str]) -> None:
        """Prose is filled again; lines that are indented are shown as they are."""
        for number, block in enumerate(blocks(lines)):
            if block[0].startswith(" "):
                self.lines.append(".PP" if number else ".")
                self.as_written(block)
            else:
                if number:
                    self.lines.append(".PP")
                self.words(" ".join(line.strip() for line in block))

    def as_written(self, lines: list[str]) -> None:
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        self.lines += [".nf", ".RS 2"]
        self.lines += [line_of_text(line[indent:]) if line.strip() else ".sp" for line in lines]
        self.lines += [".RE", ".fi"]


def split(discussion: str) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The lines before the first heading, and those of each heading, without the indentation of the prose."""
    before: list[str] = []
    sections: list[tuple[str, list[str]]] = []
    for line in discussion.splitlines():
        if HEADING.fullmatch(line):
            sections.append((line, []))
        elif sections:
            sections[-1][1].append(line if sections[-1][0] in AS_WRITTEN else re.sub("^  ", "", line))
        else:
            before.append(line)
    return before, sections


def blocks(lines: list[str]) -> list[list[str]]:
    """Paragraphs, and runs of indented lines: the latter may contain blank lines."""
    result: list[list[str]] = []
    ended = True
    for line in lines:
        if not line.strip():
            ended = True
        elif result and not ended and result[-1][0].startswith(" ") == line.startswith(" "):
            result[-1].append(line)
        elif result and ended and result[-1][0].startswith(" ") and line.startswith(" "):
            result[-1] += ["", line]
        else:
            result.append([line])
        if line.strip():
            ended = False
    return result


def merged(arguments: list[dict]):
    """The names of each argument, for the page. `--x` and `--no-x` with the same description are one entry."""
    index = 0
    while index < len(arguments):
        argument, names = arguments[index], spelled(arguments[index])
        after = arguments[index + 1] if index + 1 < len(arguments) else None
        if after and after["kind"] == "flag" and after.get("valueName") == f"no-{argument.get('valueName')}" \
                and after.get("abstract") == argument.get("abstract"):
            names += ", " + spelled(after)
            index += 1
        yield names, argument
        index += 1


def spelled(argument: dict) -> str:
    value = f"\\fI{escaped(argument.get('valueName') or 'value')}\\fR"
    if argument["kind"] == "positional":
        return value + (" ..." if argument.get("isRepeating") else "")
    hyphens = {"short": "-", "long": "--", "longWithSingleDash": "-"}
    names = sorted(argument.get("names") or [], key=lambda name: name["kind"] != "short")
    text = ", ".join(f"\\fB{escaped(hyphens[name['kind']] + name['name'])}\\fR" for name in names)
    return f"{text} {value}" if argument["kind"] == "option" else text


def description(argument: dict) -> str:
    parts = [argument.get("abstract") or "", argument.get("discussion") or ""]
    if argument.get("defaultValue"):
        parts.append(f"The default is {argument['defaultValue']}.")
    if argument.get("allValues"):
        parts.append(f"One of: {', '.join(argument['allValues'])}.")
    return " ".join(part.strip() for part in parts if part.strip()) or "See the description."


def line_of_text(text: str) -> str:
    """Text that is no request, whatever it begins with."""
    shown = escaped(text)
    return "\\&" + shown if shown[:1] in (".", "'") else shown


def escaped(text: str) -> str:
    """Plain text for roff: every character is shown as it is, so that commands can be copied from the page."""
    special = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", '"': "\\(dq"}
    return "".join(special.get(char) or (char if " " <= char <= "~" else "" if char < " " else f"\\[u{ord(char):04X}]")
                   for char in text)


def date() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or commit_time() or str(int(time.time()))
    return time.strftime("%Y-%m-%d", time.gmtime(int(epoch)))


def commit_time() -> str:
    try:
        run = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True,
                             text=True)
    except OSError:
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


if __name__ == "__main__":
    main()
