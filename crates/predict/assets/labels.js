// Gives each cell the head of its column, for tables whose rows are stacked, and puts the heads of
// numbers above them.
"use strict";
for (const table of document.querySelectorAll(".wide table")) {
  const cells = [...table.tHead.rows[0].cells];
  const heads = cells.map((cell) => cell.textContent);
  const first = table.tBodies[0].rows[0];
  cells.forEach((cell, column) => {
    cell.classList.toggle("n", Boolean(first?.cells[column]?.classList.contains("n")));
  });
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, column) => {
      if (column > 0) cell.dataset.label = heads[column];
      cell.classList.toggle("none", !cell.hasChildNodes());
    });
  }
}
