// Puts the rows of a table in order when the head of a column is clicked; again for the reverse.
// Numbers go by what they mean: "9.5 us" before "1.2 ms", "12.3k" after "950", "1/260" below one.
"use strict";
(() => {
  const UNITS = {
    ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, "%": 1,
    k: 1e3, M: 1e6, G: 1e9, T: 1e12, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, PB: 1e15,
    B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
  };
  const NUMBER = /^(1\/)?(-?[\d,]*\.?\d+(?:e[-+]?\d+)?)[\s\u00a0]*([a-zA-Z%]*)/;
  const value = (text) => {
    const found = NUMBER.exec(text);
    if (!found) return null;
    const number = Number(found[2].replaceAll(",", "")) * (UNITS[found[3]] ?? 1);
    return found[1] ? 1 / number : number;
  };
  // What is not known comes last, whichever way the rows go.
  const compare = (a, b, down) => {
    if (a === b) return 0;
    if (a === "" || a === "-" || a === "unknown") return 1;
    if (b === "" || b === "-" || b === "unknown") return -1;
    const [x, y] = [value(a), value(b)];
    const order = x !== null && y !== null ? x - y : a.localeCompare(b);
    return down ? -order : order;
  };
  const sort = (table, head, column) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("thead th").forEach((th) => th.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const text = (row) => row.cells[column].textContent.trim();
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => compare(text(a), text(b), down));
    table.tBodies[0].append(...rows);
  };
  document.querySelectorAll(".sortable table").forEach((table) => {
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head, column));
    });
  });
})();
