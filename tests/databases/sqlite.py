"""SQLite on the drive: a worker process that commits until it fails, and the check.

As a program: `sqlite.py DATABASE MODE SYNCHRONOUS` reads "number text" lines, commits each, and
answers "ok number", or "late number" if the file system had already shut down; `sqlite.py check
DATABASE` prints the contents. Both exit with status `SAID_NO` if SQLite fails.

Why "late": in DELETE mode a commit is the removal of the journal, and `synchronous=EXTRA` syncs the
directory after it. Two layers above the drive report success although nothing was synced: SQLite's
`unixDelete` treats a directory that cannot be opened as synced, and xfs (seen with Linux 6.18)
answers 0 to the fsync of a previously opened directory after it has shut down. The commit is then
acknowledged, and undone by the next mount. An xfs that has shut down cannot be opened, so the
worker checks that after each commit; in DELETE mode only, because other modes sync no directory.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys

from stack import Failed, RigFailed, drop_input, kill_and_wait, run

# Exit status if SQLite failed, not Python.
SAID_NO = 9
# Seconds within which a worker that has given up exits.
ENDS_S = 20

TABLES = """
CREATE TABLE IF NOT EXISTS t (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS by_text ON t (text);
CREATE TABLE IF NOT EXISTS total (sum INTEGER NOT NULL);
"""


# As the pragma numbers them.
LEVELS = ["OFF", "NORMAL", "FULL", "EXTRA"]


def configure(connection, mode, synchronous):
    """Sets journal mode and synchronous; fails if SQLite does not accept them."""
    got = connection.execute(f"PRAGMA journal_mode={mode}").fetchone()[0]
    connection.execute(f"PRAGMA synchronous={synchronous}")
    level = connection.execute("PRAGMA synchronous").fetchone()[0]
    # SQLite takes an unknown word for a level of its own choice.
    if LEVELS[level] != synchronous.upper():
        raise sqlite3.OperationalError(f"synchronous is {LEVELS[level]}, not {synchronous}")
    # Checkpoints of the log are frequent enough for cuts to hit them.
    connection.execute("PRAGMA wal_autocheckpoint=50")
    if got.lower() != mode.lower():
        raise sqlite3.OperationalError(f"journal mode is {got}, not {mode}")


def work(path, mode, synchronous):
    """Runs the worker."""
    connection = sqlite3.connect(path, isolation_level=None)
    configure(connection, mode, synchronous)
    for line in sys.stdin:
        number, text = line.split()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES (?, ?)", (int(number), text))
        connection.execute("UPDATE total SET sum = sum + ?", (int(number),))
        connection.execute("COMMIT")
        is_late = mode.upper() == "DELETE" and not is_there(os.path.dirname(path))
        print(f"{'late' if is_late else 'ok'} {number}", flush=True)


def is_there(folder):
    """Returns whether the file system still answers."""
    try:
        os.close(os.open(folder, os.O_RDONLY))
        return True
    except OSError:
        return False


def check(path):
    """Runs the check."""
    connection = sqlite3.connect(path, isolation_level=None)
    said = connection.execute("PRAGMA integrity_check").fetchall()
    if said != [("ok",)]:
        raise sqlite3.DatabaseError(f"integrity_check: {said[:3]}")
    rows = connection.execute("SELECT number, text FROM t").fetchall()
    totals = connection.execute("SELECT sum FROM total").fetchall()
    connection.close()
    # Its single row was there before the first cut.
    if len(totals) != 1:
        raise sqlite3.DatabaseError(f"table total has {len(totals)} rows, not 1")
    total = totals[0][0]
    print(json.dumps({"rows": rows, "total": total}))


class Sqlite:
    """The database under test."""

    def __init__(self, mode, synchronous):
        self.mode, self.synchronous = mode, synchronous
        self.name = f"sqlite-{mode.lower()}-{synchronous.lower()}"
        self.worker = None

    def create(self, folder):
        """Creates an empty database on the mounted file system."""
        connection = sqlite3.connect(folder / "db", isolation_level=None)
        configure(connection, self.mode, "EXTRA")
        connection.executescript(TABLES)
        connection.execute("INSERT INTO total VALUES (0)")
        connection.close()

    def start(self, folder):
        """Does nothing: no process runs before `transactions`."""

    def verify(self, folder):
        """Runs SQLite's own check; returns all rows and the total. The check runs in its own
        process: SQLite maps files, and reading such memory on a drive without power kills the
        process."""
        done = run(sys.executable, __file__, "check", folder / "db", check=False)
        if done.returncode != 0:
            words = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
            blame = Failed if done.returncode == SAID_NO else RigFailed
            raise blame(f"SQLite: {words[-1]}")
        found = json.loads(done.stdout)
        return found["rows"], found["total"]

    def transactions(self, folder, witness, at_most):
        """Commits until a failure or `at_most` transactions; returns true for the latter."""
        command = [sys.executable, __file__, str(folder / "db"), self.mode, self.synchronous]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as worker:
            self.worker = worker
            try:
                for _ in range(at_most):
                    number, text = witness.begin()
                    worker.stdin.write(f"{number} {text}\n")
                    worker.stdin.flush()
                    answer = worker.stdout.readline()
                    if answer == f"late {number}\n":
                        witness.acknowledge_late(number)
                    if answer != f"ok {number}\n":
                        self.told_why(worker)
                        return False
                    witness.acknowledge(number)
                return True
            except BrokenPipeError:
                self.told_why(worker)
                return False
            finally:
                self.kill()
                drop_input(worker)

    @staticmethod
    def told_why(worker):
        """Fails the rig if the worker ended for a reason other than an error of SQLite."""
        try:
            status = worker.wait(ENDS_S)
        except subprocess.TimeoutExpired:
            return
        # Reading memory mapped from a drive without power raises SIGBUS.
        if status not in (0, SAID_NO, -signal.SIGBUS):
            raise RigFailed(f"the worker ended with {status}: {worker.stderr.read()[-500:]}")

    def kill(self):
        """Kills the worker, as the cut would."""
        if self.worker is not None:
            kill_and_wait(self.worker)
            self.worker = None


if __name__ == "__main__":
    try:
        if sys.argv[1] == "check":
            check(sys.argv[2])
        else:
            work(*sys.argv[1:])
    except sqlite3.Error as error:
        print(error, file=sys.stderr)
        sys.exit(SAID_NO)
