"""SQLite on the drive: a worker process that commits until it cannot, and the check.

As a program: `sqlite.py DATABASE MODE SYNCHRONOUS` reads "number text" lines, commits each, and
answers "ok number"; `sqlite.py check DATABASE` prints what is in it.
"""

import json
import sqlite3
import subprocess
import sys

from stack import Failed, kill_and_wait, run

TABLES = """
CREATE TABLE IF NOT EXISTS t (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS by_text ON t (text);
CREATE TABLE IF NOT EXISTS total (sum INTEGER NOT NULL);
"""


def configure(connection, mode, synchronous):
    """Journal mode and synchronous; refuses if SQLite does not do as told."""
    got = connection.execute(f"PRAGMA journal_mode={mode}").fetchone()[0]
    connection.execute(f"PRAGMA synchronous={synchronous}")
    # Checkpoints of the log come often enough to be cut.
    connection.execute("PRAGMA wal_autocheckpoint=50")
    if got.lower() != mode.lower():
        raise sqlite3.OperationalError(f"journal mode is {got}, not {mode}")


def work(path, mode, synchronous):
    """The worker."""
    connection = sqlite3.connect(path, isolation_level=None)
    configure(connection, mode, synchronous)
    for line in sys.stdin:
        number, text = line.split()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES (?, ?)", (int(number), text))
        connection.execute("UPDATE total SET sum = sum + ?", (int(number),))
        connection.execute("COMMIT")
        print(f"ok {number}", flush=True)


def check(path):
    """The check."""
    connection = sqlite3.connect(path, isolation_level=None)
    said = connection.execute("PRAGMA integrity_check").fetchall()
    if said != [("ok",)]:
        sys.exit(f"integrity_check: {said[:3]}")
    rows = connection.execute("SELECT number, text FROM t").fetchall()
    (total,) = connection.execute("SELECT sum FROM total").fetchone()
    connection.close()
    print(json.dumps({"rows": rows, "total": total}))


class Sqlite:
    """The database under test."""

    def __init__(self, mode, synchronous):
        self.mode, self.synchronous = mode, synchronous
        self.name = f"sqlite-{mode.lower()}-{synchronous.lower()}"
        self.worker = None

    def create(self, folder):
        """An empty database on the mounted file system."""
        connection = sqlite3.connect(folder / "db", isolation_level=None)
        configure(connection, self.mode, "EXTRA")
        connection.executescript(TABLES)
        connection.execute("INSERT INTO total VALUES (0)")
        connection.close()

    def start(self, folder):
        """Nothing runs until `transactions`."""

    def verify(self, folder):
        """SQLite's own check; all rows and the total. In a process of its own: SQLite maps files,
        and a drive without power ends whoever reads such memory."""
        done = run(sys.executable, __file__, "check", folder / "db", check=False)
        if done.returncode != 0:
            words = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
            raise Failed(f"SQLite: {words[-1]}")
        found = json.loads(done.stdout)
        return found["rows"], found["total"]

    def transactions(self, folder, witness, at_most):
        """Commits until it cannot, or `at_most` are done; true when they are."""
        command = [sys.executable, __file__, str(folder / "db"), self.mode, self.synchronous]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as worker:
            self.worker = worker
            try:
                for _ in range(at_most):
                    number, text = witness.begin()
                    worker.stdin.write(f"{number} {text}\n")
                    worker.stdin.flush()
                    if worker.stdout.readline() != f"ok {number}\n":
                        return False
                    witness.acknowledge(number)
                return True
            except BrokenPipeError:
                return False
            finally:
                self.kill()

    def kill(self):
        """Ends the worker as the cut would."""
        if self.worker is not None:
            kill_and_wait(self.worker)
            self.worker = None


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        work(*sys.argv[1:])
