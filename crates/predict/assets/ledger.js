// Hides the rows of the table that do not fit what was chosen, and works out what a typed price
// comes to.
"use strict";
(() => {
  const form = document.getElementById("filter");
  const rows = [...document.querySelectorAll("#drives tbody tr")];
  const count = document.getElementById("count");
  const number = (text) => {
    const value = Number(String(text).replaceAll(",", ""));
    return text !== "" && Number.isFinite(value) ? value : null;
  };
  const field = (name) => form.elements[name].value;
  const fits = (row) => {
    const { text, link, plp, gb, fails } = row.dataset;
    const words = field("words").toLowerCase().split(/\s+/).filter(Boolean);
    const [least, most] = [number(field("least")), number(field("most"))];
    const role = field("role");
    return words.every((word) => text.includes(word))
      && (field("link") === "" || link === field("link"))
      && (field("plp") === "" || plp === field("plp"))
      && (least === null || Number(gb) >= least)
      && (most === null || Number(gb) <= most)
      && (role === "" || !fails.split(" ").includes(role));
  };
  const filter = () => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fits(row);
      if (!row.hidden) shown += 1;
    }
    count.textContent = `${shown} of ${rows.length} drives`;
  };
  const price = (row) => {
    const dollars = number(row.querySelector("input").value);
    const [per_tb, per_rate] = row.querySelectorAll(".priced");
    const { gb, durable } = row.dataset;
    const text = (value) => (value === null || !Number.isFinite(value) ? "" : value.toPrecision(3));
    for (const cell of [per_tb, per_rate]) cell.classList.toggle("none", dollars === null);
    per_tb.textContent = dollars === null ? "" : text(dollars / (Number(gb) / 1000));
    per_rate.textContent = dollars === null || durable === ""
      ? "" : text(dollars / (Number(durable) / 1000));
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const row of rows) row.addEventListener("input", () => price(row));
  form.hidden = false;
  filter();
})();
