"""Uses the ledger's table in headless Chromium: `ledger_page.py BROWSER PAGE`.

At three widths a script filters by name, by role and by capacity, sorts by durable writes both ways
and types a price; what the table then shows must be what was asked for.
"""

import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

USE = """
<script>
"use strict";
addEventListener("load", () => setTimeout(() => {
  const shown = () => [...document.querySelectorAll("#drives tbody tr")]
    .filter((row) => row.offsetParent !== null);
  const form = document.getElementById("filter");
  const choose = (field, value) => {
    form.elements[field].value = value;
    form.dispatchEvent(new Event("input"));
    return shown();
  };
  const every = shown().length;
  const named = choose("words", "samsung").map((row) => row.cells[0].textContent);
  choose("words", "");
  const role = choose("role", "slog").map((row) => row.dataset.fails);
  choose("role", "");
  choose("least", "900");
  const sizes = choose("most", "1000").map((row) => Number(row.dataset.gb));
  choose("least", "");
  choose("most", "");
  const heads = [...document.querySelectorAll("#drives thead button")];
  const column = heads.findIndex((head) => head.textContent === "durable writes/s");
  const rates = () => shown().map((row) => row.cells[column].textContent)
    .filter((text) => text !== "").map((text) => Number(text.replaceAll(",", "")));
  heads[column].click();
  const up = rates();
  heads[column].click();
  const down = rates();
  const first = shown()[0];
  const input = first.querySelector("input");
  input.value = "200";
  input.dispatchEvent(new Event("input", { bubbles: true }));
  const priced = [...first.querySelectorAll(".priced")]
    .map((cell) => (cell.offsetParent === null ? null : Number(cell.textContent)));
  const { gb, durable } = first.dataset;
  document.title = "USED" + JSON.stringify(
    { every, named, role, sizes, up, down, priced, gb: Number(gb), durable: Number(durable) });
}, 200));
</script>
"""


def used(browser, page, width):
    command = [browser, "--no-sandbox", "--disable-gpu", f"--window-size={width},900"]
    command += ["--virtual-time-budget=4000", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    found = re.search(r"<title>USED(.*?)</title>", done.stdout.decode(errors="replace"), re.DOTALL)
    if not found:
        raise SystemExit("FAILED: the browser did not use the page")
    return json.loads(html.unescape(found.group(1)))


def check(width, found):
    assert found["every"] > 400, found["every"]
    assert found["named"] and all("samsung" in name.lower() for name in found["named"])
    assert len(found["named"]) < found["every"]
    assert all("slog" not in fails.split() for fails in found["role"])
    assert len(found["role"]) < found["every"], "a role hides nothing"
    assert found["sizes"] and all(900 <= gb <= 1000 for gb in found["sizes"])
    assert found["up"] == sorted(found["up"]) and len(found["up"]) > 40, "up"
    assert found["down"] == sorted(found["down"], reverse=True), "down"
    by_size, by_rate = found["priced"]
    assert abs(by_size - 200 / (found["gb"] / 1000)) < 0.01 * by_size, found["priced"]
    assert abs(by_rate - 200 / (found["durable"] / 1000)) < 0.01 * by_rate, found["priced"]
    print(f"ok: the ledger's table at {width} px: filtered, sorted, priced")


def main():
    browser, name = sys.argv[1:]
    text = pathlib.Path(name).read_text(encoding="utf-8") + USE
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "used.html"
        page.write_text(text, encoding="utf-8")
        for width in (400, 1000, 1600):
            check(width, used(browser, page, width))


main()
