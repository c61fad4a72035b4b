// Stacks the cells of each row of a table that is wider than its place, so that no column is cut.
"use strict";
(() => {
  const boxes = [...document.querySelectorAll(".scroll")];
  const fit = (box) => {
    box.classList.remove("stacked");
    box.classList.toggle("stacked", box.scrollWidth > box.clientWidth);
  };
  let width = 0;
  const fitAll = () => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    boxes.forEach(fit);
  };
  fitAll();
  addEventListener("resize", fitAll);
  // Text that unfolds has no width before.
  const unfolded = (event) => event.target.querySelectorAll(".scroll").forEach(fit);
  document.addEventListener("toggle", unfolded, true);
})();
