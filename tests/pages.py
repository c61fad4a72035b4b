"""Measures pages in headless Chromium: `pages.py BROWSER WORKDIR PAGE...`.

At three widths, light and dark: does the page, or a table on it, or a line of text reach beyond its
place, so that a column is cut? Is the button of the theme there, and does the theme change the page?
A page is copied with a script that measures it and leaves what it found in the title. Before the
pages a planted table, wider than any window, must be found. Prints a line for each page; the exit
code is 1 when something is cut. `--show` leaves a picture of each page at each width in WORKDIR.
"""

import html
import json
import pathlib
import re
import subprocess
import sys

WIDTHS = [400, 1000, 1600]
THEMES = ["light", "dark"]

MEASURE = """
<script>
"use strict";
addEventListener("load", () => {
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
  setTimeout(() => {
    const root = document.documentElement;
    const name = (e) => {
      const id = e.id ? "#" + e.id : "";
      const text = (e.textContent || "").trim().slice(0, 40);
      return `${e.tagName.toLowerCase()}${id}.${e.className} "${text}"`;
    };
    const cut = [];
    if (root.scrollWidth > root.clientWidth) cut.push(`page: ${root.scrollWidth} px`);
    const isHidden = (e) => e.offsetParent === null || e.closest("script, style, noscript");
    for (const e of document.querySelectorAll("main *")) {
      if (isHidden(e) || e.closest(".uplot, svg")) continue;
      const style = getComputedStyle(e);
      const clips = style.overflowX !== "visible";
      if (clips && e.scrollWidth > e.clientWidth + 1) {
        cut.push(`${name(e)}: ${e.scrollWidth} in ${e.clientWidth} px`);
      }
      const box = e.getBoundingClientRect();
      const isParked = box.right < 0 || style.position === "absolute";
      if (!isParked && box.width > 0 && box.right > root.clientWidth + 1) {
        cut.push(`${name(e)} ends at ${Math.round(box.right)} px`);
      }
    }
    const button = document.getElementById("theme");
    const found = {
      width: root.clientWidth, cut: cut.slice(0, 5), count: cut.length,
      button: Boolean(button && !button.hidden && button.offsetParent !== null),
      page: getComputedStyle(document.body).backgroundColor,
      ink: getComputedStyle(document.body).color,
    };
    document.title = "MEASURED" + JSON.stringify(found);
  }, 300);
});
</script>
"""


class Browser:
    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, width, options, address):
        command = [self.program, "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--window-size={width},900", "--virtual-time-budget=4000", *options, address]
        done = subprocess.run(command, capture_output=True, timeout=120, check=False)
        return done.stdout.decode(errors="replace")

    def measure(self, text, width, theme):
        page = self.folder / "measured.html"
        page.write_text(text + MEASURE, encoding="utf-8")
        dom = self.run(width, ["--dump-dom"], f"{page.as_uri()}?theme={theme}")
        found = re.search(r"<title>MEASURED(.*?)</title>", dom, re.DOTALL)
        if not found:
            raise SystemExit(f"FAILED: the browser did not measure: {dom[:300]!r}")
        return json.loads(html.unescape(found.group(1)))

    def picture(self, path, width, theme):
        name = f"{path.parent.name}-{path.stem}-{width}-{theme}.png"
        options = [f"--screenshot={self.folder / name}"]
        self.run(f"{width}", options, f"{path.resolve().as_uri()}?theme={theme}")


def faults(browser, text):
    """What is wrong with a page, as sentences."""
    wrong = []
    shades = {}
    for width in WIDTHS:
        for theme in THEMES:
            found = browser.measure(text, width, theme)
            at = f"{width} px, {theme}"
            if found["width"] != width:
                wrong.append(f"{at}: the window is {found['width']} px wide")
            if found["count"]:
                wrong.append(f"{at}: {found['count']} cut: {'; '.join(found['cut'])}")
            if not found["button"]:
                wrong.append(f"{at}: no button for the theme")
            shades[theme] = (found["page"], found["ink"])
    if shades["light"] == shades["dark"]:
        wrong.append(f"dark is as light: {shades['dark']}")
    return wrong


def canary(browser, text):
    """A table that cannot be fitted, and a column that is clipped, must be found."""
    wide = "<table><tr>" + "<td style='min-width:90px'>column</td>" * 30 + "</tr></table>"
    clipped = f"<div style='width:300px; overflow-x:auto'>{wide}</div>"
    for planted in (wide, clipped):
        if not faults(browser, text.replace("<main>", f"<main>{planted}", 1)):
            raise SystemExit("FAILED: a planted column that is cut was not found")


def main():
    arguments = [word for word in sys.argv[1:] if word != "--show"]
    browser = Browser(arguments[0], arguments[1])
    failed = 0
    pages = [pathlib.Path(name) for name in arguments[2:]]
    canary(browser, pages[0].read_text(encoding="utf-8"))
    for page in pages:
        wrong = faults(browser, page.read_text(encoding="utf-8"))
        failed += bool(wrong)
        print(f"{'FAILED' if wrong else 'ok'}: {page}")
        for fault in wrong:
            print(f"    {fault}")
        if "--show" in sys.argv:
            for width in WIDTHS:
                for theme in THEMES:
                    browser.picture(page, width, theme)
    sys.exit(failed > 0)


main()
