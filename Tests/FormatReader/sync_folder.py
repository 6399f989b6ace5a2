# SPDX-License-Identifier: Apache-2.0
# The objects of a ring in a shared folder, as specified in Docs/FORMAT.md, Sync.

import re
from pathlib import Path

from sync_keys import sha

NAME = re.compile("g/[0-9a-f]{64}|k/[0-9a-f]{16}-[0-9a-f]{32}/[0-9a-f]{32}|[ls]/[0-9a-f]{16}([0-9a-f]{16})?/[0-9a-f]{16}"
                  "|h/[0-9a-f]{32}/[0-9a-f]{16}|j/[0-9a-f]{32}(/[0-9a-f]{32})?")
LARGEST = 1 << 20


class Folder:
    """The objects of one ring, by name. A file whose bytes do not have the hash in its name is none."""

    def __init__(self, folder, ring):
        self.objects, self.damaged = {}, []
        top = Path(folder, "skc1", ring.hex())
        for file in sorted(top.rglob("*.skc")):
            name, _, digits = str(file.relative_to(top))[:-4].rpartition("-")
            if not NAME.fullmatch(name):
                continue
            data = file.read_bytes() if file.stat().st_size <= LARGEST else b""
            if data and sha(data).hex()[:8] == digits:
                self.objects.setdefault(name, []).append(data)
            else:
                self.damaged.append(str(file.relative_to(top)))

    def under(self, prefix):
        return [(name, data) for name, several in self.objects.items() if name.startswith(prefix) for data in several]
