"""What was acknowledged, kept outside of the drive, and what is found after a cut.

Transaction n adds row n, whose text follows from n, and adds n to the one row of `total`. A
database is right when it holds every acknowledged row, no row that was never begun, texts as they
were written, and a total that is the sum of its rows.
"""

import hashlib


def text_of(number, seed):
    """The text of row `number`: 256 to 1600 hexadecimal digits."""
    digest = hashlib.sha256(f"{seed} {number}".encode()).hexdigest()
    return digest * (4 + number % 22)


class Witness:
    """The transactions of one database."""

    def __init__(self, path, seed):
        self.seed, self.begun, self.acknowledged = seed, 0, set()
        # Acknowledged by the database when its file system had already shut down.
        self.late = set()
        # Rows that were found, though never acknowledged: a recovery made them durable.
        self.seen = set()
        self.log = open(path, "a", encoding="utf-8")

    def begin(self):
        """The next transaction: its number and text."""
        self.begun += 1
        return self.begun, text_of(self.begun, self.seed)

    def acknowledge(self, number):
        """The database has said that it is committed."""
        self.acknowledged.add(number)
        self.log.write(f"{number}\n")
        self.log.flush()

    def acknowledge_late(self, number):
        """The same, though by then nothing could be committed any more."""
        self.late.add(number)

    def judge(self, rows, total):
        """Compares; `rows` are (number, text). Returns (lost, problems)."""
        found = {}
        problems = []
        for number, text in rows:
            if number in found:
                problems.append(f"row {number} is there twice")
            found[number] = text
        lost = sorted(self.acknowledged - found.keys())
        gone = sorted(self.seen - found.keys())
        if gone:
            problems.append(f"rows {gone[-3:]} were there after an earlier cut")
        for number in found:
            if not 1 <= number <= self.begun:
                problems.append(f"row {number} was never written")
            elif found[number] != text_of(number, self.seed):
                problems.append(f"row {number} has another text")
        if total != sum(found):
            problems.append(f"the total is {total}, of rows {sum(found)}")
        self.seen = found.keys() - self.acknowledged
        return lost, problems

    def close(self):
        """Ends the log."""
        self.log.close()
