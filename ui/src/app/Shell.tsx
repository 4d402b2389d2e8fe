/** The frame around every page: navigation, search, connection, theme; and the door where a token is asked for. */
import { useQueryClient } from "@tanstack/react-query";
import { Keyboard, Menu, Moon, Search, Sun, X } from "lucide-react";
import { Suspense, useCallback, useEffect, useRef, useState } from "react";
import { Link, NavLink, Outlet, useLocation, useNavigate } from "react-router";
import { useConnection } from "@/api/connection";
import { FeedProvider } from "@/api/feed";
import { useAccess } from "@/api/token";
import { Skeleton } from "@/components/Skeleton";
import { ConnectionState } from "./ConnectionState";
import { PAGES } from "./pages";
import styles from "./Shell.module.css";
import { ShortcutsDialog } from "./ShortcutsDialog";
import { TokenPage } from "./TokenPage";
import { toggleTheme, useTheme } from "./theme";
import { useShortcuts } from "./useShortcuts";

const GROUPS = ["Work", "Resources", "Server"] as const;

export function Shell() {
  const { needed } = useAccess();
  const [menuOpen, setMenuOpen] = useState(false);
  const [helpOpen, setHelpOpen] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const location = useLocation();
  const theme = useTheme();
  useRefreshAfterBreak();
  useShortcuts({
    onHelp: useCallback(() => setHelpOpen(true), []),
    onSearch: useCallback(() => search.current?.focus(), []),
    onTheme: toggleTheme,
  });
  useEffect(() => setMenuOpen(false), [location.pathname]);

  if (needed) return <TokenPage />;
  return (
    <FeedProvider>
      <a className={styles.skip} href="#content">
        Skip to the content
      </a>
      <div className={styles.shell} data-menu={menuOpen || undefined}>
        <header className={styles.header}>
          <button
            type="button"
            className={`${styles.iconButton} ${styles.menuButton}`}
            aria-label={menuOpen ? "Close the navigation" : "Open the navigation"}
            aria-expanded={menuOpen}
            onClick={() => setMenuOpen(!menuOpen)}
          >
            {menuOpen ? <X size={18} /> : <Menu size={18} />}
          </button>
          <Link to="/" className={styles.brand} aria-label="NoETL, home">
            <img src="/icon.svg" alt="" width={22} height={22} />
            <span>NoETL</span>
          </Link>
          <SearchBox input={search} />
          <div className={styles.tools}>
            <ConnectionState />
            <button
              type="button"
              className={styles.iconButton}
              onClick={toggleTheme}
              aria-label={theme === "dark" ? "Use the light theme" : "Use the dark theme"}
              title={`${theme === "dark" ? "Light" : "Dark"} theme (t)`}
            >
              {theme === "dark" ? <Sun size={16} /> : <Moon size={16} />}
            </button>
            <button
              type="button"
              className={`${styles.iconButton} ${styles.wideOnly}`}
              onClick={() => setHelpOpen(true)}
              aria-label="Keyboard shortcuts"
              title="Keyboard shortcuts (?)"
            >
              <Keyboard size={16} />
            </button>
          </div>
        </header>
        <nav className={styles.nav} aria-label="Pages">
          {GROUPS.map((group) => {
            const pages = PAGES.filter((page) => page.nav?.group === group);
            if (pages.length === 0) return null;
            return (
              <div key={group} className={styles.group}>
                <div className={styles.groupName}>{group}</div>
                <ul>
                  {pages.map(({ path, nav }) => {
                    if (!nav) return null;
                    const Icon = nav.icon;
                    return (
                      <li key={path}>
                        <NavLink to={path} end={path === "/"} className={styles.navLink} title={`g then ${nav.key}`}>
                          <Icon size={16} aria-hidden />
                          {nav.label}
                        </NavLink>
                      </li>
                    );
                  })}
                </ul>
              </div>
            );
          })}
          <div className={styles.group}>
            <a className={styles.navLink} href="/api/docs">
              API reference
            </a>
          </div>
        </nav>
        <main id="content" className={styles.main} tabIndex={-1}>
          <Suspense fallback={<Skeleton lines={6} />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <ShortcutsDialog open={helpOpen} onClose={() => setHelpOpen(false)} />
    </FeedProvider>
  );
}

function SearchBox({ input }: { input: React.RefObject<HTMLInputElement | null> }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  return (
    <search className={styles.searchPlace}>
      <form
        className={styles.search}
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = text.trim();
          navigate(wanted === "" ? "/executions" : `/executions?search=${encodeURIComponent(wanted)}`);
          input.current?.blur();
        }}
      >
        <Search size={14} aria-hidden />
        <input
          ref={input}
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
          placeholder="Find executions by id, path or error"
          aria-label="Find executions"
        />
        <kbd aria-hidden>/</kbd>
      </form>
    </search>
  );
}

/** What happened while the server was away is asked for once it is back. */
function useRefreshAfterBreak() {
  const queries = useQueryClient();
  const connection = useConnection();
  const before = useRef(connection);
  useEffect(() => {
    if (before.current === "broken" && connection === "live") void queries.invalidateQueries();
    before.current = connection;
  }, [connection, queries]);
}
