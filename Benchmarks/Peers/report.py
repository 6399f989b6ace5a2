# SPDX-License-Identifier: Apache-2.0
"""The section of the document."""

TITLE = "Beside the peers"
COLUMNS = ("read", "fresh", "add", "update", "delete", "list")

HEAD = """## {title}

`make bench-peers` writes this section. It installs the peers, starts them in a throw-away session, and measures them in turns in one run:
{date}, {machine}. A synchronized write of 4 KB (`fdatasync`) takes {sync} there.

All store the same secrets of 39 bytes under the same names. Each figure is the median of up to {rounds} rounds' medians. The libraries are measured
inside the client's process, without the pipe that carries the commands. Commands are measured as whole processes, with their processor time in
brackets, without that of a daemon. Client libraries are measured in the language that the table names; Python adds its own cost.
"""

NOTES = """- **fresh process**: a process that starts, reads one item and ends.
- **add**, **update**, **delete**: each as durable as the next table but one says; not all wait for the disk.
- **list**: the names of 1,000 items of one service, whatever the size of the store; of 100 in a store of 100. `secret-tool` and `pass` have no names
  alone: `secret-tool search` also reads the secrets.
- **KeychainKit**: a read is a search; the time in brackets is that of a value that was read before and has not changed since.
- **1, 8 clients**: so many processes at once, calls per second together; for a command, so many at a time.
- **memory**: Pss of one client and of the daemons it needs, the bus included. A command's own memory lasts as long as it runs, and is left out.
- **bytes per item**: what the file system has allocated to the store, less what it had while empty.
"""


def section(facts, rows_by_size, clients, missing, durability, stops):
    parts = [HEAD.format(title=TITLE, **facts), images()]
    for size, rows in rows_by_size.items():
        parts += [f"### {size:,} items\n", times(rows, size), space(rows, size)]
    failures = [f"- {row['name']}, {size:,} items, {operation}: {words}" for size, rows in rows_by_size.items()
                for row in rows for operation, words in row["failures"].items()]
    parts += [NOTES, "### Where peers stopped\n", "\n".join([*stops, *failures] or ["- Nowhere."]) + "\n"]
    parts += ["### The peers\n", peers(clients, durability)]
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
    return " + ".join(megabytes(number, kind) for number, kind in zip(row["memory"], ("client", "daemons")))


def megabytes(number, kind):
    if number is None:
        return "not readable"
    return f"{number / 1e6:.1f} MB" if number else "(command)" if kind == "client" else "0"


def on_disk(row):
    return "none" if row["bytes"] is None else f"{row['bytes']:,.0f}"


def peers(clients, durability):
    rows = [[client["name"], client["version"], client["language"], durability.get(client["name"], "as the one above"), client["filling"]]
            for client in clients]
    text = table(["", "version", "client", "seen of an addition", "filled by"], rows).replace("---:", "---")
    return text
