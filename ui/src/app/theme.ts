/** Light or dark: what the user chose, else what the system says. */
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark";

const KEY = "noetl.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function chosen(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;
  }
}

function current(): Theme {
  return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
}

function show(theme: Theme) {
  document.documentElement.dataset.theme = theme;
  for (const listener of listeners) listener();
}

system.addEventListener("change", () => {
  if (chosen() === null) show(system.matches ? "dark" : "light");
});

export function toggleTheme() {
  const next: Theme = current() === "dark" ? "light" : "dark";
  try {
    // The choice that equals the system's is none: the page follows the system again.
    if ((next === "dark") === system.matches) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  show(next);
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
}
