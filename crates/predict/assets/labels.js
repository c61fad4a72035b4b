// Gives each cell the head of its column, for tables whose rows are stacked.
"use strict";
for (const table of document.querySelectorAll(".wide table")) {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, column) => {
      if (column > 0) cell.dataset.label = heads[column];
      cell.classList.toggle("none", !cell.hasChildNodes());
    });
  }
}
