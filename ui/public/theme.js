// Runs before the first paint, so that the page does not flash in the other theme.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("noetl.theme");
  } catch (_) {
    // Without storage the system decides.
  }
  var dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
