"""Can the test of known answers fail, and does the guide show what a run has found? Needs neither
root nor a drive.

    python3 -B tests/known/selftest.py
"""

import sys
import unittest

import known

sys.path.append(str(known.PRESETS))
from stores import Damaged, decode, judge, text_of

GUIDE = known.HERE.parent.parent / "docs" / "test-your-program.md"
RESULTS = known.HERE / "results.jsonl"


class Answers(unittest.TestCase):
    """What is as published, and what is not."""

    def test_a_false_answer_is_noticed(self):
        """Losses where none may be, none where they must be, and the wrong one blamed."""
        def found(lost=0, damaged=0, drive=0):
            return {"cuts": 60, "lost": lost, "damaged": damaged, "drive": drive}
        right = known.as_published
        keeps, loses, damages = ({"published": name} for name in ("keeps", "loses", "damages"))
        for row, good, bad in [
                (keeps, [found()], [found(1), found(0, 1), found(0, 0, 1)]),
                (loses, [found(3)], [found(), found(3, 1), found(3, 0, 1)]),
                (damages, [found(3), found(0, 1)], [found(), found(1, 1, 1)])]:
            self.assertTrue(all(right(row, False, one) for one in good), row)
            self.assertFalse(any(right(row, False, one) for one in bad), row)
        often = {**loses, "share": 0.1}
        self.assertTrue(right(often, False, found(6)) and not right(often, False, found(5)))
        rare = {**damages, "rare": True}
        self.assertTrue(right(rare, False, found()) and not right(rare, False, found(drive=1)))
        self.assertTrue(right(keeps, True, found(0, 0, 5)))
        self.assertFalse(right(keeps, True, found()))
        self.assertFalse(right(keeps, True, found(1, 0, 5)))
        self.assertTrue(right(loses, True, found(1, 0, 5)))

    def test_every_row_is_complete(self):
        """Every setting has a source, and an answer that is known."""
        rows = list(known.rows())
        self.assertGreater(len(rows), 20)
        for row in rows:
            self.assertIn(row["published"], ("keeps", "loses", "damages"))
            self.assertTrue(row["source"].startswith("http") and row["says"], row)


class Contents(unittest.TestCase):
    """The check of a database's contents."""

    def test_what_is_damaged_is_not_merely_lost(self):
        """A hole, another text, another total."""
        rows = [(number, text_of(number)) for number in (1, 2, 3)]
        for bad, total in [(rows[1:], 5), ([*rows[:2], (3, "x")], 6), (rows, 7),
                           ([*rows, rows[0]], 6)]:
            with self.assertRaises(Damaged):
                judge(bad, total, 3)
        self.assertEqual(judge(rows, 6, 3), 0)
        self.assertEqual(judge(rows, 6, 2), 0)
        self.assertEqual(judge(rows, 6, 4), 1)


    def test_a_key_that_nobody_wrote_is_damage(self):
        """A damaged page gives keys of any bytes."""
        self.assertEqual(decode([(b"row 3", b"x"), (b"total", b"3")]), ([(3, "x")], 3))
        for key, value in [(b"\0" * 8, b"x"), (b"row", b"x"), (b"row 1", b"\xff"), (b"total", b"")]:
            with self.assertRaises(Damaged):
                decode([(key, value)])


class Guide(unittest.TestCase):
    """The table in the guide."""

    def test_the_guide_shows_what_was_found(self):
        """It is made of the results that are kept."""
        made = "\n".join(known.table([RESULTS]))
        self.assertIn(made, GUIDE.read_text())
        self.assertEqual(len(made.splitlines()), 2 + len(list(known.rows())))


if __name__ == "__main__":
    unittest.main()
