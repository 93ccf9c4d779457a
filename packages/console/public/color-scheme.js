// Sets the colour scheme before the first paint. It is a file of its own because the content policy permits no inline script.
(() => {
  let chosen = "auto";
  try {
    chosen = localStorage.getItem("binnacle-color-scheme") ?? "auto";
  } catch {
    // Storage may be denied; the system's scheme is used.
  }
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");
})();
