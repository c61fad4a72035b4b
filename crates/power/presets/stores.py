"""Workload and check of one database on the drive of `ssdlab crashtest`: in the folder SSDLAB_DATA,
or without it on an ext4 of its own.

    stores.py fill|check DATABASE SETTING

Each transaction adds row n, whose text follows from n, and n to a total. `fill` marks a row when the
database has reported its commit, and kills the database at the end: an orderly end would flush.
`check` exits with 1 and says `damaged` or `lost` first, or with 77 if it could not do its work.
"""

import errno
import hashlib
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROWS = int(os.environ.get("COUNT", "30"))
FOLDER = Path(os.environ.get("SSDLAB_DIR", "."))
COULD_NOT = 77
ANSWERS_S = 60


class Damaged(Exception):
    """The database, or the file system below it, says that it is damaged, or contradicts itself."""


def run(*command, **more):
    """Runs a command; returns what it printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", check=False, **more)
    if done.returncode != 0:
        raise OSError(f"{command[0]}: status {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()


def text_of(number):
    """Returns the text of a row: 256 to 1600 hexadecimal digits."""
    return hashlib.sha256(str(number).encode()).hexdigest() * (4 + number % 22)


class Lmdb:
    """LMDB; the setting is `sync`, `nometasync` or `nosync`."""

    def __init__(self, folder, setting):
        import lmdb
        flags = {"sync": {}, "nometasync": {"metasync": False}, "nosync": {"sync": False}}[setting]
        try:
            self.base = lmdb.open(str(folder / "lmdb"), map_size=16 << 20, **flags)
        except lmdb.Error as error:
            raise Damaged(error) from error
        self.error = lmdb.Error

    def commit(self, number, total):
        """Commits one transaction."""
        with self.base.begin(write=True) as transaction:
            transaction.put(b"row %d" % number, text_of(number).encode())
            transaction.put(b"total", b"%d" % total)

    def read(self):
        """Returns all rows, and the total."""
        try:
            with self.base.begin() as transaction:
                return decode((bytes(key), bytes(value)) for key, value in transaction.cursor())
        except self.error as error:
            raise Damaged(error) from error


class LevelDb:
    """LevelDB; the setting is `sync` or `nosync`."""

    def __init__(self, folder, setting):
        import plyvel
        self.sync = {"sync": True, "nosync": False}[setting]
        try:
            # Small: its log becomes a table several times.
            self.base = plyvel.DB(str(folder / "leveldb"), create_if_missing=True,
                                  write_buffer_size=1 << 16, paranoid_checks=True)
        except plyvel.Error as error:
            raise Damaged(error) from error
        self.error = plyvel.Error

    def commit(self, number, total):
        """Commits one transaction."""
        with self.base.write_batch(transaction=True, sync=self.sync) as batch:
            batch.put(b"row %d" % number, text_of(number).encode())
            batch.put(b"total", b"%d" % total)

    def read(self):
        """Returns all rows, and the total."""
        try:
            return decode(self.base.iterator(verify_checksums=True))
        except self.error as error:
            raise Damaged(error) from error


class RocksDb:
    """RocksDB by the binding rocksdict; the setting is `sync` or `nosync`."""

    def __init__(self, folder, setting):
        import rocksdict
        self.batch = rocksdict.WriteBatch
        self.write = rocksdict.WriteOptions()
        self.write.sync = {"sync": True, "nosync": False}[setting]
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(True)
        # Small: its log becomes a table several times.
        options.set_write_buffer_size(1 << 16)
        self.error = Exception  # It has no error of its own.
        try:
            self.base = rocksdict.Rdict(str(folder / "rocksdb"), options)
        except self.error as error:
            raise Damaged(error) from error

    def commit(self, number, total):
        """Commits one transaction."""
        batch = self.batch(raw_mode=True)
        batch.put(b"row %d" % number, text_of(number).encode())
        batch.put(b"total", b"%d" % total)
        self.base.write(batch, self.write)

    def read(self):
        """Returns all rows, and the total."""
        try:
            return decode((bytes(key), bytes(value)) for key, value in self.base.items())
        except self.error as error:
            raise Damaged(error) from error


def decode(pairs):
    """Takes apart what a store of keys and values holds; keys that nobody wrote are damage."""
    rows, total = [], 0
    for key, value in pairs:
        try:
            if key == b"total":
                total = int(value)
            else:
                rows.append((int(key.removeprefix(b"row ")), value.decode()))
        except ValueError as error:
            raise Damaged(f"a key {key[:40]!r}: {error}") from error
    return rows, total


class DuckDb:
    """DuckDB; its only setting is `default`."""

    def __init__(self, folder, setting):
        import duckdb
        assert setting == "default"
        try:
            self.base = duckdb.connect(str(folder / "duck"))
            # Its log becomes part of the file several times.
            self.base.execute("SET wal_autocheckpoint = '8KB'")
            self.base.execute("CREATE TABLE IF NOT EXISTS t (number BIGINT, text VARCHAR)")
            self.base.execute("CREATE TABLE IF NOT EXISTS total (sum BIGINT)")
        except duckdb.Error as error:
            raise Damaged(error) from error
        self.error = duckdb.Error

    def commit(self, number, total):
        """Commits one transaction."""
        self.base.execute("BEGIN")
        self.base.execute("INSERT INTO t VALUES (?, ?)", (number, text_of(number)))
        self.base.execute("DELETE FROM total")
        self.base.execute("INSERT INTO total VALUES (?)", (total,))
        self.base.execute("COMMIT")

    def read(self):
        """Returns all rows, and the total."""
        try:
            rows = self.base.execute("SELECT number, text FROM t").fetchall()
            totals = self.base.execute("SELECT sum FROM total").fetchall()
        except self.error as error:
            raise Damaged(error) from error
        return rows, sum(row[0] for row in totals)


class Redis:
    """Redis with its append-only file; the setting is that of `appendfsync`.

    A size can be durable on ext4 before the data: the log then ends in zeroes, of commands that
    were never acknowledged, and Redis 7 does not start (https://github.com/redis/redis/issues/5177).
    The check then repairs the log as its message says, once, and judges the rest.
    """

    def __init__(self, folder, setting):
        self.setting, self.path, self.log = setting, FOLDER / "redis", FOLDER / "redis.log"
        self.home = folder / "redis"
        self.home.mkdir(exist_ok=True)
        try:
            self.start()
        except Damaged:
            if "Bad file format" not in self.log.read_text():
                raise
            manifest = self.home / "appendonlydir" / "appendonly.aof.manifest"
            subprocess.run(["redis-check-aof", "--fix", manifest], input="y\n", text=True,
                           capture_output=True, check=False)
            self.start()

    def start(self):
        """Starts the server, which loads its log, and waits until it answers."""
        options = {"port": 0, "unixsocket": self.path, "dir": self.home, "appendonly": "yes",
                   "save": "", "appendfsync": self.setting, "auto-aof-rewrite-percentage": 100,
                   "auto-aof-rewrite-min-size": "12kb", "logfile": self.log}
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self.server = subprocess.Popen(["redis-server", *words], stdout=subprocess.DEVNULL)
        until = time.monotonic() + ANSWERS_S
        while True:
            if self.server.poll() is not None:
                raise Damaged(f"it does not start: {self.log.read_text()[-300:]}")
            try:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(str(self.path))
                self.answers = self.socket.makefile("rb")
                if self.ask("PING") == "PONG":
                    return
            except (OSError, KeyError):
                pass
            if time.monotonic() > until:
                raise OSError("Redis does not answer")
            time.sleep(0.01)

    def ask(self, *words):
        """Sends a command; returns its answer."""
        parts = [str(word).encode() for word in words]
        head = b"*%d\r\n" % len(parts)
        self.socket.sendall(head + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        return self.answer()

    def answer(self):
        """Reads one answer of the server."""
        line = self.answers.readline().rstrip(b"\r\n")
        kind, rest = line[:1], line[1:].decode()
        if kind == b"-":
            raise KeyError(rest)
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        if kind == b"$":
            return None if rest == "-1" else self.answers.read(int(rest) + 2)[:-2].decode()
        if not kind:
            raise OSError("Redis hung up")
        return int(rest) if kind == b":" else rest

    def commit(self, number, total):
        """Commits one transaction."""
        self.ask("MULTI")
        self.ask("SET", f"row {number}", text_of(number))
        self.ask("SET", "total", total)
        self.ask("EXEC")

    def read(self):
        """Returns all rows, and the total."""
        keys = self.ask("KEYS", "*")
        values = self.ask("MGET", *keys) if keys else []
        return decode((key.encode(), value.encode()) for key, value in zip(keys, values))

    def kill(self, task):
        """Ends it as a cut would, but not before it has synced."""
        if task == "fill" and self.setting == "everysec":
            time.sleep(2)
        self.server.kill()
        self.server.wait()


class Postgres:
    """PostgreSQL; the setting is a line of its configuration."""

    CONFIG = """
listen_addresses = ''
shared_buffers = 1MB
max_connections = 5
max_wal_senders = 0
wal_level = minimal
min_wal_size = 2MB
max_wal_size = 2MB
autovacuum = off
wal_writer_delay = 10s
"""

    def __init__(self, folder, setting):
        found = shutil.which("initdb")
        folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        self.bin = Path(found).resolve().parent if found else folders[-1]
        user = next(pwd.getpwnam(name) for name in ("postgres", "nobody") if is_user(name))
        self.home, data = FOLDER / "home", folder / "pg"
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self.home)}
        self.who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "env": env,
                    "cwd": "/"}
        FOLDER.chmod(0o755)
        for own in (self.home, data):
            if not own.exists():
                own.mkdir(0o700)
                os.chown(own, user.pw_uid, user.pw_gid)
        is_new = not (data / "PG_VERSION").exists()
        if is_new and "fill" in sys.argv:
            run(self.bin / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-k", "-N",
                "--no-locale", "-E", "UTF8", "--wal-segsize=1", **self.who)
            with open(data / "postgresql.conf", "a", encoding="utf-8") as config:
                config.write(f"{self.CONFIG}\n{setting}\n")
        self.start(data)
        if is_new:
            self.script("CREATE TABLE t (number bigint PRIMARY KEY, text text NOT NULL);"
                        "CREATE TABLE total (sum bigint NOT NULL); INSERT INTO total VALUES (0);"
                        "CHECKPOINT;")
        self.psql = None

    def start(self, data):
        """Starts the server, which replays its log, and waits for it."""
        log = open(FOLDER / "pg.log", "ab")
        self.server = subprocess.Popen(
            [self.bin / "postgres", "-D", data, "-k", self.home], stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, **self.who)
        until = time.monotonic() + ANSWERS_S
        ready = [self.bin / "pg_isready", "-q", "-h", self.home]
        while subprocess.run(ready, check=False, **self.who).returncode != 0:
            if self.server.poll() is not None:
                said = (FOLDER / "pg.log").read_text(errors="replace")
                if re.search("Address already in use|lock file|Permission denied", said):
                    raise OSError(f"PostgreSQL does not start: {said[-300:]}")
                raise Damaged(f"it does not start: {said[-300:]}")
            if time.monotonic() > until:
                raise OSError("PostgreSQL does not answer")
            time.sleep(0.02)

    def client(self):
        """Returns the command of psql."""
        return [self.bin / "psql", "-X", "-q", "-A", "-t", "-h", self.home, "-U", "postgres",
                "-v", "ON_ERROR_STOP=1", "-d", "postgres"]

    def script(self, text):
        """Runs a script."""
        done = subprocess.run(self.client(), input=text, capture_output=True, text=True,
                              errors="replace", check=False, **self.who)
        if done.returncode != 0:
            raise Damaged(f"psql: {done.stderr.strip()[-300:]}")
        return done.stdout.splitlines()

    def commit(self, number, total):
        """Commits one transaction, on a connection that stays open."""
        if self.psql is None:
            self.psql = subprocess.Popen(self.client(), stdin=subprocess.PIPE, text=True,
                                         stdout=subprocess.PIPE, **self.who)
        self.psql.stdin.write(f"BEGIN; INSERT INTO t VALUES ({number}, '{text_of(number)}');"
                              f"UPDATE total SET sum = {total}; COMMIT; SELECT 'ok {number}';\n")
        self.psql.stdin.flush()
        if self.psql.stdout.readline() != f"ok {number}\n":
            raise OSError("PostgreSQL does not commit")

    def read(self):
        """Returns all rows, and the total."""
        rows, totals = [], []
        for line in self.script("SELECT number, text FROM t; SELECT 'total', sum FROM total;"):
            first, rest = line.split("|")
            if first == "total":
                totals.append(int(rest))
            else:
                rows.append((int(first), rest))
        if len(totals) != 1:
            raise Damaged(f"{len(totals)} totals")
        return rows, totals[0]

    def kill(self, task):
        """Ends it as a cut would."""
        if self.psql is not None:
            self.psql.kill()
            self.psql.wait()
        self.server.send_signal(signal.SIGQUIT)
        self.server.wait()


def is_user(name):
    """Returns whether there is a user of that name."""
    try:
        pwd.getpwnam(name)
        return True
    except KeyError:
        return False


STORES = {"lmdb": Lmdb, "leveldb": LevelDb, "rocksdb": RocksDb, "duckdb": DuckDb, "redis": Redis,
          "postgres": Postgres}


def mark(text):
    """Marks what is acknowledged."""
    with socket.socket(socket.AF_UNIX) as to:
        to.connect(os.environ["SSDLAB_MARK"])
        to.sendall(f"{text}\n".encode())
        assert to.recv(16) == b"ok\n"


def fill(base):
    """Commits all rows."""
    run("sync")
    mark("begin")
    total = 0
    for number in range(1, ROWS + 1):
        total += number
        base.commit(number, total)
        mark(number)


def last_mark():
    """Returns the last row that is acknowledged."""
    marks = Path(os.environ["SSDLAB_MARKS"]).read_text().split()
    return int(marks[-1]) if marks and marks[-1] != "begin" else 0


def judge(rows, total, due):
    """Compares what was found with the last row that is due; returns the exit code."""
    found = dict(rows)
    if len(found) != len(rows) or sorted(found) != list(range(1, len(found) + 1)):
        raise Damaged(f"it has the rows {sorted(found)}")
    if wrong := [number for number, text in rows if text != text_of(number)]:
        raise Damaged(f"rows {wrong} have another text")
    if total != sum(found):
        raise Damaged(f"the total is {total}, of rows {sum(found)}")
    if len(found) < due:
        print(f"lost: acknowledged up to {due}, found up to {len(found)}")
        return 1
    return 0


def unmount(at):
    """Unmounts as soon as the last process of the database has ended, such as one that rewrites
    the log of Redis."""
    until = time.monotonic() + ANSWERS_S
    while True:
        try:
            return run("umount", at)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def on_ext4(is_new, work):
    """Mounts the drive, works, and takes everything down."""
    at = FOLDER / "mnt"
    at.mkdir()
    loop = run("losetup", "-f", "--show", "--direct-io=on", os.environ["SSDLAB_FILE"])
    try:
        if is_new:
            run("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=1", "-J", "size=4", loop)
        try:
            run("mount", "-o", "noatime", loop, at)
        except OSError as error:
            raise Damaged(error) from error
        try:
            return work(at)
        finally:
            unmount(at)
    finally:
        run("losetup", "-d", loop)


def main(task, database, setting):
    """Runs one task in a child process, which dies with the database open."""
    def work(at):
        child = os.fork()
        if child:
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if code < 0:
                raise Damaged(f"it died of {signal.Signals(-code).name}")
            return code
        code, base = COULD_NOT, None
        try:
            base = STORES[database](at, setting)
            code = fill(base) or 0 if task == "fill" else judge(*base.read(), last_mark())
        except Damaged as error:
            print(f"damaged: {error}")
            code = 1
        except Exception as error:  # Whatever else fails is no finding.
            is_damage = getattr(error, "errno", None) in (errno.EIO, errno.EUCLEAN)
            code = 1 if is_damage else COULD_NOT
            print(f"{'damaged: ' if is_damage else ''}{type(error).__name__}: {error}")
        if hasattr(base, "kill"):
            base.kill(task)
        sys.stdout.flush()
        os._exit(code)
    try:
        return work_or_damage(task, work)
    except OSError as error:
        print(error)
        return COULD_NOT


def work_or_damage(task, work):
    """Says it if the file system is damaged."""
    try:
        if "SSDLAB_DATA" in os.environ:
            return work(Path(os.environ["SSDLAB_DATA"]))
        return on_ext4(task == "fill", work)
    except Damaged as error:
        print(f"damaged: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
