"""PostgreSQL on the drive: a small cluster with checksums, accessed through psql."""

import os
import pwd
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from stack import Failed, RigFailed, drop_input, give_to, kill_and_wait, run

TABLES = """
CREATE EXTENSION amcheck;
CREATE TABLE t (number bigint PRIMARY KEY, text text NOT NULL);
CREATE INDEX by_text ON t (md5(text));
CREATE TABLE total (sum bigint NOT NULL);
INSERT INTO total VALUES (0);
"""
# Small, so that checkpoints and reuse of log segments are frequent; all data protection is on.
SETTINGS = """
listen_addresses = ''
fsync = on
synchronous_commit = on
full_page_writes = on
shared_buffers = 4MB
max_connections = 10
min_wal_size = 4MB
max_wal_size = 4MB
checkpoint_timeout = 30s
wal_level = minimal
max_wal_senders = 0
autovacuum_naptime = 1s
"""
CHECK = """
SELECT bt_index_check('t_pkey', true), bt_index_check('by_text', true);
SELECT 'damaged', blkno, offnum, msg FROM verify_heapam('t');
SELECT 'damaged', blkno, offnum, msg FROM verify_heapam('total');
SELECT 'row', number, text FROM t;
SELECT 'total', sum FROM total;
"""
START_WAIT_S = 60
# Messages of a start that fails for a reason other than the data.
RIGS_FAULT = re.compile("Address already in use|could not (bind|create lock file|map anonymous)|"
                        "lock file .* already exists|Permission denied|No space left")


def binaries():
    """Returns the folder with initdb and postgres, or None."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


def user():
    """Returns the user for PostgreSQL, which refuses root."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


class Postgres:
    """The database under test."""

    def __init__(self, work):
        self.name = "postgres"
        self.bin, self.user = binaries(), user()
        # Template and socket are not on the drive.
        self.home = Path(work) / "postgres"
        self.template = self.home / "template"
        self.server = None

    def as_user(self):
        """Returns the arguments with which its programs are started."""
        who = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self.home)}
        return {**who, "env": env, "cwd": "/"}

    def make_template(self):
        """Makes a cluster to copy, once, on the host."""
        self.home.mkdir(exist_ok=True)
        give_to(self.home, self.user)
        run(self.bin / "initdb", "-D", self.template, "-U", "postgres", "-A", "trust", "-k",
            "--no-locale", "-E", "UTF8", "-N", "--wal-segsize=1", **self.as_user())
        with open(self.template / "postgresql.conf", "a", encoding="utf-8") as settings:
            settings.write(SETTINGS)
        self.launch(self.template)
        self.psql(TABLES)
        self.stop(signal.SIGINT)

    def create(self, folder):
        """Copies the cluster to the mounted file system and syncs it."""
        if not self.template.exists():
            self.make_template()
        run("cp", "-a", self.template, folder / "pg")
        run("sync", "-f", folder)

    def launch(self, data):
        """Starts the server and waits until it answers."""
        with open(self.home / "server.log", "ab") as log:
            self.server = subprocess.Popen(
                [str(self.bin / "postgres"), "-D", str(data), "-k", str(self.home)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.as_user())
        until = time.monotonic() + START_WAIT_S
        while time.monotonic() < until:
            if self.server.poll() is not None:
                words = self.last_words()
                blame = RigFailed if RIGS_FAULT.search(words) else Failed
                raise blame(f"PostgreSQL does not start: {words}")
            ready = run(self.bin / "pg_isready", "-q", "-h", self.home, check=False,
                        **self.as_user())
            if ready.returncode == 0:
                return
            time.sleep(0.05)
        raise RigFailed(f"PostgreSQL does not answer: {self.last_words()}")

    def last_words(self):
        """Returns the end of its log."""
        lines = (self.home / "server.log").read_text(errors="replace").splitlines()
        loud = [line for line in lines[-30:] if re.search("FATAL|PANIC|ERROR", line)]
        return " | ".join((loud or lines)[-3:])

    def start(self, folder):
        """Starts the server on the mounted file system; it replays its log."""
        self.launch(folder / "pg")

    def psql_command(self):
        """Returns the command of psql for a script on its input."""
        return [str(self.bin / "psql"), "-X", "-q", "-A", "-t", "-h", str(self.home),
                "-U", "postgres", "-v", "ON_ERROR_STOP=1", "-d", "postgres"]

    def psql(self, script):
        """Runs a script; returns its lines."""
        try:
            done = run(*self.psql_command(), input=script, timeout=120, **self.as_user())
        except RigFailed as error:
            if self.server.poll() is None:
                raise
            raise Failed(f"PostgreSQL ended: {self.last_words()}") from error
        return done.stdout.splitlines()

    def verify(self, folder):
        """Checks indexes and heaps, with checksums; returns all rows and the total."""
        rows, total = [], None
        for line in self.psql(CHECK):
            kind, *rest = line.split("|")
            if kind == "damaged":
                raise Failed(f"verify_heapam: {rest}")
            if kind == "row":
                rows.append((int(rest[0]), rest[1]))
            elif kind == "total":
                total = int(rest[0])
        return rows, total

    def transactions(self, folder, witness, at_most):
        """Commits until a failure or `at_most` transactions; returns true for the latter."""
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(self.psql_command(), stdin=pipe, stdout=pipe, stderr=nothing,
                              text=True, **self.as_user()) as client:
            try:
                for _ in range(at_most):
                    number, text = witness.begin()
                    client.stdin.write(
                        f"BEGIN; INSERT INTO t VALUES ({number}, '{text}');"
                        f" UPDATE total SET sum = sum + {number}; COMMIT;\n"
                        f"SELECT 'ok {number}';\n")
                    client.stdin.flush()
                    if client.stdout.readline() != f"ok {number}\n":
                        return False
                    witness.acknowledge(number)
                return True
            except BrokenPipeError:
                return False
            finally:
                kill_and_wait(client)
                drop_input(client)

    def stop(self, how):
        """Stops the server by a signal."""
        if self.server is None:
            return
        if self.server.poll() is None:
            self.server.send_signal(how)
            try:
                self.server.wait(20)
            except subprocess.TimeoutExpired:
                kill_and_wait(self.server)
        self.server = None

    def kill(self):
        """Stops the server at once, without checkpoint or orderly shutdown."""
        self.stop(signal.SIGQUIT)
