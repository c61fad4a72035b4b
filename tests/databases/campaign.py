"""A series of cuts on one drive, file system and database. The result of each recovery is compared
with the witness."""

import random
import time
from dataclasses import dataclass, field

from stack import Failed, RigFailed, Stack
from witness import Witness

# More than any campaign needs: a cut that does not come is a fault of the test.
TRANSACTIONS_MAX = 4000
# Most flushes between arming a cut and the cut.
FLUSHES_MAX = 100
# Every fifth cut is armed before mounting: it falls in the recovery of file system or database.
EARLY_EVERY = 5


@dataclass
class Tally:
    """Results of one combination."""

    name: str
    cuts: int = 0
    checked: int = 0
    acknowledged: int = 0
    cuts_with_loss: int = 0
    lost: int = 0
    damaged: int = 0
    broken: int = 0
    unblamed: int = 0
    # Commits acknowledged after the file system had shut down, and the lost ones among them.
    late: int = 0
    late_lost: int = 0
    seconds: float = 0.0
    words: list = field(default_factory=list)
    # (cut, armed before mounting, begun, acknowledged, result of recovery)
    history: list = field(default_factory=list)


class Campaign:
    """Cuts on one combination; `aim` is "flush" or "acknowledged" (power off by the switch)."""

    def __init__(self, server, kind, database, seed, aim="flush"):
        self.server, self.database, self.aim = server, database, aim
        self.stack = Stack(server, kind)
        self.seed = seed
        self.random = random.Random(f"{seed} {kind} {database.name}")
        self.tally = Tally(f"{kind} {database.name}")
        self.witness = None
        self.fresh = 0
        # Promises that the drive has broken since the file system was made.
        self.broken_here = 0

    def begin_afresh(self):
        """Makes a new file system with an empty database."""
        if self.witness is not None:
            self.witness.close()
        self.fresh += 1
        self.broken_here = 0
        try:
            self.stack.make()
            self.stack.mount()
            self.database.create(self.stack.mount_at)
            self.stack.detach()
        except Failed as error:
            # No cut has happened yet.
            raise RigFailed(f"a new file system: {error}") from error
        name = f"witness-{self.tally.name.replace(' ', '-')}-{self.fresh}"
        self.witness = Witness(self.server.work / name, f"{self.seed} {self.fresh}")

    def run(self, cuts, cuts_until_loss=0):
        """Makes `cuts` cuts, then a last check; while nothing is lost, further cuts, up to
        `cuts_until_loss`."""
        began = time.monotonic()
        try:
            self.begin_afresh()
            for number in range(1, max(cuts, cuts_until_loss) + 1):
                if number > cuts and self.has_loss():
                    break
                self.one_cut(number)
            self.guard(self.look)
        finally:
            self.database.kill()
            self.stack.detach()
            if self.witness is not None:
                self.witness.close()
        self.tally.seconds = time.monotonic() - began
        return self.tally

    def has_loss(self):
        """Returns whether anything was lost or damaged."""
        return self.tally.lost > 0 or self.tally.damaged > 0

    def one_cut(self, number):
        """Works until the power is cut, and restores it."""
        is_early = self.aim == "flush" and number % EARLY_EVERY == 0
        if is_early:
            self.arm(self.random.randint(1, 12))
        try:
            if self.guard(self.look):
                if not is_early:
                    self.arm(self.random.randint(1, FLUSHES_MAX))
                self.guard(self.load)
        finally:
            self.database.kill()
        if self.server.is_on():
            raise RigFailed(f"cut {number} of {self.tally.name} did not come")
        self.stack.detach()
        status = self.server.power("on")
        self.tally.cuts += 1
        found = self.count_broken(status)
        about = (self.witness.begun, max(self.witness.acknowledged, default=0))
        self.tally.history.append((self.tally.cuts, is_early, *about, found))

    def count_broken(self, status):
        """Returns the result of recovery, and counts the promises that the drive broke."""
        found = status.get("found", {})
        self.tally.broken += found.get("broken", 0)
        self.broken_here += found.get("broken", 0)
        return found

    def arm(self, nth):
        """Arms a cut inside a coming flush."""
        if self.aim == "flush":
            self.server.power("cut-when", "--flush", str(nth), "--inside")

    def guard(self, step):
        """Runs a step; returns false if the power was cut meanwhile. Damage found with power on is
        a loss; a rig that fails with power on ends the campaign."""
        try:
            step()
            return True
        except (Failed, RigFailed) as error:
            if not self.server.is_on():
                return False
            if isinstance(error, RigFailed):
                raise
            self.failed(str(error))
            return (step == self.look or self.guard(self.look)) and self.guard(step)

    def failed(self, words):
        """Counts a database or file system that did not recover, and begins with a new one."""
        self.tally.damaged += 1
        self.blame(words)
        self.database.kill()
        # An armed cut must not fall while making a file system. Unmounting flushes: it may fall
        # before that.
        status = self.server.power("status")
        armed = "armed" in status or not status["powered"]
        self.server.power("disarm")
        self.stack.detach()
        if not self.server.is_on():
            self.count_broken(self.server.power("on"))
        self.begin_afresh()
        if armed:
            self.arm(1 + self.random.randrange(FLUSHES_MAX))

    def blame(self, words):
        """Blames the layer at fault, by the drive's own account."""
        if self.broken_here == 0:
            self.tally.unblamed += 1
        if len(self.tally.words) < 5:
            self.tally.words.append(f"cut {self.tally.cuts}: {words[:300]}")

    def look(self):
        """Replays, checks file system and database, and compares."""
        self.database.kill()
        self.stack.detach()
        self.stack.mount()
        self.stack.unmount()
        self.stack.check()
        self.stack.detach()
        self.stack.mount()
        folder = self.stack.mount_at
        self.database.start(folder)
        rows, total = self.database.verify(folder)
        lost, problems = self.witness.judge(rows, total)
        self.tally.late_lost += len(self.witness.late - {number for number, _ in rows})
        self.witness.late.clear()
        self.tally.checked += 1
        if problems:
            raise Failed("; ".join(problems[:3]))
        if lost:
            self.tally.cuts_with_loss += 1
            self.tally.lost += len(lost)
            self.blame(f"{len(lost)} acknowledged lost, the last of them {lost[-1]}")
            # Each loss is reported once.
            self.witness.acknowledged -= set(lost)

    def load(self):
        """Runs transactions until the cut."""
        before, late = len(self.witness.acknowledged), len(self.witness.late)
        at_most = TRANSACTIONS_MAX
        if self.aim == "acknowledged":
            at_most = self.random.randint(1, 100)
        all_done = self.database.transactions(self.stack.mount_at, self.witness, at_most)
        self.tally.acknowledged += len(self.witness.acknowledged) - before
        self.tally.late += len(self.witness.late) - late
        if self.aim == "acknowledged" and all_done:
            self.server.power("off")
        elif all_done:
            raise RigFailed(f"{at_most} transactions, and the cut did not come")
        if self.server.is_on():
            raise Failed("transactions ended although the drive has power")
