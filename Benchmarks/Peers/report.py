# SPDX-License-Identifier: Apache-2.0
"""The section of the document."""

TITLE = "Beside the peers"
COLUMNS = ("read", "fresh", "add", "update", "delete", "list")

HEAD = """## {title}

`make bench-peers` writes this section. It installs the peers, starts them in a throw-away session, and measures them in turns in one run:
{date}, {machine}. At the end a synchronized write of 4 KB (`fdatasync`) took {sync}; at the start the load average was {load}.
The more else the machine does, the less a figure means by itself; the contenders share what disturbs them.

All store the same secrets of 39 bytes under the same names. Each figure is the median of up to {rounds} rounds' medians. The libraries are measured
inside the client's process, without the pipe that carries the commands. Commands are measured as whole processes, with their processor time in
brackets, without that of a daemon. Client libraries are measured in the language that the table names; Python adds its own cost.
"""

NOTES = """- **fresh process**: a process that starts, reads one item and ends.
- **add**, **update**, **delete**: as durable as the last table says; not all wait for the disk.
- **list**: the names of 1,000 items of one service, whatever the size of the store; of 100 in a store of 100. `secret-tool` and `pass` have no names
  alone: `secret-tool search` also reads the secrets.
- **KeychainKit**: a read is a search; the time in brackets is that of a value that was read before and has not changed since.
- **1, 8 clients**: so many processes at once, calls per second together; for a command, so many at a time.
- **memory**: Pss of one client and of the daemons it needs, the bus included. A command's own memory lasts as long as it runs, and is left out.
- **failed**: no call succeeded. A failure that a later call did not repeat is only in the list below.
- **bytes per item**: what the file system has allocated to the store, less what it had while empty. A write-ahead log is
  part of it, and counts for little only in a large store.
"""

REMARKS = """
"Seen of an addition" is what `strace` saw of the client and its daemon. GNOME Keyring, KeePassXC and KWallet rewrite their whole store for each
change; KeePassXC and KWallet answer before the secret is on the disk. `pass` and `gopass` sync nothing: after a power cut the file may be empty.
KeePassXC 2.7 asks a person before libsecret may replace an item, so its update finds the item and sets its secret. The `gopass` of Debian 12 is a program
of that name that uses the folder of `pass`, not the one of gopass.pw; it takes secrets only from a terminal or an editor, which here is `cat`. The keys of
GnuPG have no passphrase, as if the agent had it already. The vault opens by its device key, its newest state is remembered in a file, and SQLite has
the vault's settings (WAL, `synchronous=FULL`, `secure_delete`).
"""


def section(facts, rows_by_size, clients, missing, stops):
    parts = [HEAD.format(title=TITLE, **facts), images()]
    for size, rows in rows_by_size.items():
        parts += [f"### {size:,} items\n", times(rows, size), space(rows, size)]
    failures = [f"- {row['name']}, {size:,} items, {operation}: {words}" for size, rows in rows_by_size.items()
                for row in rows for operation, words in row["failures"].items()]
    parts += [NOTES, "### Where peers stopped or failed\n", "\n".join([*stops, *failures] or ["- Nowhere."]) + "\n"]
    parts += ["### The peers\n", peers(clients)]
    if missing:
        parts.append("\n".join(f"- Not measured: {name}: {reason}" for name, reason in missing.items()) + "\n")
    return "\n".join(parts)


def images():
    texts = {"read": "Time of a read by the size of the store", "add": "Time of an addition by the size of the store",
             "clients": "Reads and updates per second by one and by eight clients", "memory": "Memory and bytes on disk"}
    return "\n".join(f"![{text}](Images/peers-{name}.svg)" for name, text in texts.items()) + "\n"


def table(head, rows):
    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join(["| " + " | ".join(head) + " |", rule, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def times(rows, size):
    head = ["", "read", "fresh process", "add", "update", "delete", "list"]
    return table(head, [[label(row, size), *(cell(row, column) for column in COLUMNS)] for row in rows])


def label(row, size):
    return row["name"] if row["size"] == size else f"{row['name']}, {row['size']:,} items"


def cell(row, column):
    if column not in row["medians"]:
        return "failed" if column in row["failures"] else "–"
    wall, processor = row["medians"][column]
    again = row["medians"].get("again") if column == "read" else None
    extra = again[0] if again else processor if processor is not None else None
    return duration(wall) + (f" ({duration(extra)})" if extra is not None else "")


def duration(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6)):
        if nanoseconds >= size:
            return f"{significant(nanoseconds / size)} {unit}"
    return f"{significant(nanoseconds / 1e3)} µs"


def significant(number):
    return f"{number:,.0f}" if number >= 100 else f"{number:.0f}" if number >= 10 else f"{number:.1f}"


def space(rows, size):
    head = ["", "reads/s, 1 client", "8 clients", "updates/s, 1 client", "8 clients", "memory: client + daemons", "bytes per item"]
    return table(head, [[label(row, size), *throughput(row), memory(row), on_disk(row)] for row in rows])


def throughput(row):
    for key in ("read 1", "read 8", "update 1", "update 8"):
        number = row["throughput"].get(key)
        yield "–" if number is None else significant(number)


def memory(row):
    client, daemons = row["memory"]
    return f"{'(command)' if row['is_command'] else megabytes(client)} + {megabytes(daemons)}"


def megabytes(number):
    return "not readable" if number is None else f"{number / 1e6:.1f} MB" if number else "0"


def on_disk(row):
    return "none" if row["bytes"] is None else f"{row['bytes']:,.0f}"


def peers(clients):
    rows = [[client[key] for key in ("name", "version", "language", "durability", "filling")] for client in clients]
    return table(["", "version", "client", "seen of an addition", "filled by"], rows).replace("---:", "---") + REMARKS
