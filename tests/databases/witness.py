"""Record of acknowledged transactions, kept outside the drive and compared after a cut.

Transaction n adds row n, whose text follows from n, and adds n to the single row of `total`. A
database is correct if it holds every acknowledged row, no row that was never begun, unchanged
texts, and a total that is the sum of its rows.
"""

import hashlib


def text_of(number, seed):
    """Returns the text of row `number`: 256 to 1600 hexadecimal digits."""
    digest = hashlib.sha256(f"{seed} {number}".encode()).hexdigest()
    return digest * (4 + number % 22)


class Witness:
    """The transactions of one database."""

    def __init__(self, path, seed):
        self.seed, self.begun, self.acknowledged = seed, 0, set()
        # Transactions acknowledged after the file system had shut down.
        self.late = set()
        # Rows found although never acknowledged: a recovery made them durable.
        self.seen = set()
        self.log = open(path, "a", encoding="utf-8")

    def begin(self):
        """Begins the next transaction; returns its number and text."""
        self.begun += 1
        return self.begun, text_of(self.begun, self.seed)

    def acknowledge(self, number):
        """Records that the database has reported the commit."""
        self.acknowledged.add(number)
        self.log.write(f"{number}\n")
        self.log.flush()

    def acknowledge_late(self, number):
        """Records a commit reported after the file system had shut down."""
        self.late.add(number)

    def judge(self, rows, total):
        """Compares `rows` of (number, text) and `total`; returns (lost, problems)."""
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
        """Closes the log."""
        self.log.close()
