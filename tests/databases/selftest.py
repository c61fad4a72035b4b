"""Checks that the test distinguishes its own faults from findings. Needs neither root nor a drive.

    python3 -B tests/databases/selftest.py
"""

import os
import signal
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

from campaign import Campaign
from sqlite import SAID_NO, Sqlite
from stack import Failed, RigFailed, run
from witness import Witness


class Commands(unittest.TestCase):
    """Statuses of commands, and the layer at fault."""

    def script(self, name, body):
        """Makes a command with the given name."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def test_damage_is_what_a_command_calls_damage(self):
        """Statuses of damage."""
        for name, status in [("mount", 32), ("e2fsck", 4), ("e2fsck", 12),
                             ("xfs_repair", 1), ("psql", 3)]:
            with self.assertRaises(Failed):
                run(self.script(name, f"exit {status}"))

    def test_all_else_is_the_rig(self):
        """Missing, hanging, misused, busy."""
        rigs = [("mount", "exit 1"), ("mount", "echo already mounted; exit 32"),
                ("e2fsck", "exit 8"), ("e2fsck", "exit 16"), ("xfs_repair", "exit 2"),
                ("losetup", "exit 1"), ("mkfs.ext4", "exit 1"), ("psql", "exit 2")]
        for name, body in rigs:
            with self.assertRaises(RigFailed, msg=f"{name} {body}"):
                run(self.script(name, body))
        with self.assertRaises(RigFailed):
            run("mkfs-that-is-not-there")
        with self.assertRaises(RigFailed):
            run(self.script("e2fsck", "exec sleep 60"), timeout=0.1)


class FakeServer:
    """A drive that has power until it is released while a cut is armed."""

    def __init__(self, work):
        self.work, self.file = Path(work), Path(work) / "none"
        self.powered, self.armed, self.asked = True, False, []

    def is_on(self):
        """Power is on."""
        return self.powered

    def power(self, *words):
        """The switch."""
        self.asked.append(words[0])
        if words[0] == "on":
            self.powered = True
        if words[0] == "disarm":
            self.armed = False
        armed = {"armed": {}} if self.armed else {}
        return {"powered": self.powered, "found": {"broken": 3}, **armed}

    def let_go(self):
        """Unmounting flushes."""
        self.powered = self.powered and not self.armed


class Guard(unittest.TestCase):
    """A canary must not pass because the test is broken."""

    def test_a_fault_of_the_rig_is_no_loss(self):
        """It ends the campaign, uncounted."""
        with tempfile.TemporaryDirectory() as work:
            campaign = Campaign(FakeServer(work), "ext4", Sqlite("WAL", "FULL"), 1)

            def step():
                raise RigFailed("losetup is missing")

            with self.assertRaises(RigFailed):
                campaign.guard(step)
            self.assertFalse(campaign.has_loss())


    def test_no_cut_falls_while_a_file_system_is_made(self):
        """The armed cut is taken back first; if it has fallen, power returns and is counted."""
        for fell in (False, True):
            with tempfile.TemporaryDirectory() as work:
                server = FakeServer(work)
                campaign = Campaign(server, "ext4", Sqlite("WAL", "FULL"), 1)
                server.armed, server.powered = True, not fell
                campaign.stack.detach = server.let_go
                campaign.begin_afresh = lambda server=server: self.assertTrue(server.powered)
                campaign.failed("malformed")
                self.assertEqual(campaign.tally.damaged, 1)
                self.assertEqual(campaign.tally.broken, 3 if fell else 0)
                self.assertEqual(server.asked[-1], "cut-when")


class Check(unittest.TestCase):
    """SQLite's own check, and our check of its contents."""

    def test_a_database_that_lost_its_first_row_is_damaged(self):
        """The drive reverted to a state before the row, and SQLite finds nothing wrong."""
        with tempfile.TemporaryDirectory() as folder:
            database = Sqlite("WAL", "FULL")
            database.create(Path(folder))
            self.assertEqual(database.verify(Path(folder)), ([], 0))
            with sqlite3.connect(Path(folder) / "db") as connection:
                connection.execute("DELETE FROM total")
            connection.close()
            with self.assertRaises(Failed):
                database.verify(Path(folder))


class Worker(unittest.TestCase):
    """Worker of SQLite."""

    def test_a_worker_that_breaks_is_the_rig(self):
        """Only SQLite's own errors are findings."""
        with tempfile.TemporaryDirectory() as work:
            database = Sqlite("DELETE", "EXTRA")
            witness = Witness(Path(work) / "witness", "1")
            # No tables: SQLite fails, with its own status.
            self.assertFalse(database.transactions(Path(work), witness, 3))
            self.assertEqual(witness.acknowledged, set())
            database.create(Path(work))
            self.assertTrue(database.transactions(Path(work), witness, 3))
            for database.mode, database.synchronous in [("NONSENSE", "EXTRA"), ("WAL", "FALL")]:
                self.assertFalse(database.transactions(Path(work), witness, 3))
            own, sys.executable = sys.executable, "false"
            try:
                with self.assertRaises(RigFailed):
                    database.transactions(Path(work), witness, 3)
            finally:
                sys.executable = own
            witness.close()

    def test_statuses_differ(self):
        """Exit statuses of Python itself are not errors of SQLite."""
        self.assertNotIn(SAID_NO, (0, 1, 2, -signal.SIGBUS))

    def test_a_commit_after_the_file_system_has_gone_is_no_acknowledgement(self):
        """The row may be missing without a loss; it may also be there."""
        with tempfile.TemporaryDirectory() as work:
            witness = Witness(os.path.join(work, "witness"), "1")
            number, text = witness.begin()
            witness.acknowledge_late(number)
            self.assertEqual(witness.judge([], 0), ([], []))
            self.assertEqual(witness.judge([(number, text)], number), ([], []))
            witness.close()


if __name__ == "__main__":
    unittest.main()
