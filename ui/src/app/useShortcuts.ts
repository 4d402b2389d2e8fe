/** Keys that work wherever one is, except while one types. */
import { useEffect } from "react";
import { useNavigate } from "react-router";
import { PAGES } from "./pages";

/** How long a second key may take. */
const PATIENCE = 1_200;

export function useShortcuts({ onHelp, onSearch, onTheme }: { onHelp: () => void; onSearch: () => void; onTheme: () => void }) {
  const navigate = useNavigate();
  useEffect(() => {
    let goingSince = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const going = Date.now() - goingSince < PATIENCE;
      goingSince = 0;
      if (going) {
        const page = PAGES.find((page) => page.nav?.key === event.key);
        if (page) {
          event.preventDefault();
          navigate(page.path);
        }
        return;
      }
      if (event.key === "g") goingSince = Date.now();
      else if (event.key === "?") onHelp();
      else if (event.key === "t") onTheme();
      else if (event.key === "/") {
        event.preventDefault();
        onSearch();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate, onHelp, onSearch, onTheme]);
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) || target.closest("dialog[open]") !== null)
  );
}
