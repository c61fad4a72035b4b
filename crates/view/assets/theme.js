// The button that shows the page in light or dark; `?theme=dark` in its address begins so. Charts
// are drawn again on the event "theme" of the document.
"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const asked = new URLSearchParams(location.search).get("theme");
  if (asked === "dark" || asked === "light") root.dataset.theme = asked;
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const refresh = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    document.dispatchEvent(new Event("theme"));
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    refresh();
  });
  dark.addEventListener("change", refresh);
  refresh();
})();
