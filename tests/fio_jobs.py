"""What fio_side_by_side.py and fio_real.py do alike with fio's own example files."""

import re
import sys

KINDS = ("read", "write", "trim")
NO_TIME = (r"(?m)^(time_based.*|runtime=.*|timeout=.*)$", "")


def edited(text, edits, without):
    """The text without comments, edited, and without the options of the pattern `without`."""
    text = re.sub(r"(?m)\s*[;#].*$", "", text)
    for pattern, to in edits:
        text, count = re.subn(pattern, to, text)
        if not count and pattern != NO_TIME[0]:
            sys.exit(f"nothing to edit: {pattern}")
    return re.sub(rf"(?m)^({without})\b.*$", "", text)


def with_lines(text, lines):
    """The text with lines at the end of each job's section, where the last word is."""
    done = []
    for part in re.split(r"(?m)^(?=\[)", text):
        name = re.match(r"\[(.*)\]", part)
        if name and name[1] != "global":
            part = part.rstrip() + "\n" + lines(name[1]) + "\n"
        done.append(part)
    return "".join(done)


def logged(path):
    """The commands of a file that fio's write_iolog wrote: kind, offset, length."""
    with open(path) as log:
        lines = [line.split() for line in log]
    return [(words[2], int(words[3]), int(words[4])) for words in lines
            if len(words) == 5 and words[2] in KINDS]
