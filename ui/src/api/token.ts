/** The token that the server wants to see, and whether it asks for one. */
import { useSyncExternalStore } from "react";

const KEY = "noetl.token";

interface Access {
  token: string | null;
  /** The server has refused what we have, or asks for something. */
  needed: boolean;
}

let access: Access = { token: read(), needed: false };
const listeners = new Set<() => void>();

function read(): string | null {
  try {
    return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function change(next: Access) {
  access = next;
  for (const listener of listeners) listener();
}

export function currentToken(): string | null {
  return access.token;
}

/** What to send with every request. */
export function authorization(token = access.token): Record<string, string> {
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

export function tokenIsNeeded() {
  if (!access.needed) change({ ...access, needed: true });
}

/** Takes a token into use. It is kept for this tab, or for this browser when it is to be remembered. */
export function takeToken(token: string, remember: boolean) {
  try {
    sessionStorage.setItem(KEY, token);
    if (remember) localStorage.setItem(KEY, token);
  } catch {
    // Without storage the token lasts as long as the page.
  }
  change({ token, needed: false });
}

export function forgetToken() {
  try {
    sessionStorage.removeItem(KEY);
    localStorage.removeItem(KEY);
  } catch {
    // There was nothing to forget.
  }
  change({ token: null, needed: false });
}

export function useAccess(): Access {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => access,
  );
}
