/**
 * Follows a stream of the server: opens it, takes its messages, and comes back to where it was after a break, with
 * pauses that grow. `EventSource` can't send a token, so this reads the body of a plain request.
 */
import { report } from "./connection";
import { type Message, MessageReader } from "./sse";
import { authorization, tokenIsNeeded } from "./token";

export interface Following {
  /** The path of the stream with its parameters. */
  url: string;
  /** Messages since the last call. They come in batches, so that a busy stream does not redraw the page for each. */
  onMessages: (messages: Message[]) => void;
  /** The stream has said that nothing more will come. */
  onEnd?: () => void;
}

const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 10_000;
/** The server sends a sign of life every 15 seconds. */
const SILENCE = 40_000;
/**
 * How long messages are gathered before they are handed on. What comes after silence is handed on soon. What comes all the
 * time comes in batches that grow with what there is already, since so does the work of showing it.
 */
const BATCH = 100;
const LONGEST_BATCH = 1_000;
const batchAfter = (count: number) => Math.min(LONGEST_BATCH, Math.max(BATCH, count / 2));
/** A page that nobody sees lets go of its connections after this long: a browser has only a few of them for a server. */
const HIDDEN = 15_000;

/** Starts following, and gives the way to stop. */
export function follow({ url, onMessages, onEnd }: Following): () => void {
  const name = Symbol(url);
  let stopped = false;
  let place: string | undefined;
  let attempt = new AbortController();
  let waiting: Message[] = [];
  let flushing: ReturnType<typeof setTimeout> | undefined;
  let flushedAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  let wake: (() => void) | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;

  const flush = () => {
    flushing = undefined;
    flushedAt = performance.now();
    const batch = waiting;
    count += batch.length;
    waiting = [];
    if (!stopped && batch.length > 0) onMessages(batch);
  };

  const take = (messages: Message[]): boolean => {
    for (const message of messages) {
      if (message.type === "end") return true;
      if (message.id !== "") place = message.id;
      waiting.push(message);
    }
    if (waiting.length > 0) flushing ??= setTimeout(flush, Math.max(BATCH, flushedAt + batchAfter(count) - performance.now()));
    return false;
  };

  /** Reads until the stream breaks off or ends. True when it has ended. */
  const readOnce = async (): Promise<boolean> => {
    attempt = new AbortController();
    const { signal } = attempt;
    const headers: Record<string, string> = { Accept: "text/event-stream", ...authorization() };
    if (place !== undefined) headers["Last-Event-ID"] = place;
    const response = await fetch(url, { headers, signal, cache: "no-store" });
    if (response.status === 401) tokenIsNeeded();
    // What is not there will not come by asking again.
    if (response.status >= 400 && response.status < 500 && response.status !== 429 && response.status !== 401) return true;
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    report(name, "live");
    failures = 0;
    const reader = new MessageReader();
    const decoder = new TextDecoder();
    const body = response.body.getReader();
    for (;;) {
      const silence = setTimeout(() => attempt.abort(), SILENCE);
      const { done, value } = await body.read().finally(() => clearTimeout(silence));
      if (done) return false;
      if (take(reader.read(decoder.decode(value, { stream: true })))) return true;
    }
  };

  let failures = 0;
  const run = async () => {
    report(name, "connecting");
    while (!stopped) {
      if (document.hidden && place !== undefined) {
        report(name, "resting");
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      let ended = false;
      try {
        ended = await readOnce();
      } catch {
        // Broken off or refused: tried again below.
      }
      if (stopped) break;
      if (ended) {
        clearTimeout(flushing);
        flush();
        report(name, "gone");
        onEnd?.();
        return;
      }
      failures += 1;
      if (!document.hidden) report(name, "broken");
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, pause);
      });
    }
  };

  const onVisibility = () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(() => attempt.abort(), HIDDEN);
    else wake?.();
  };
  document.addEventListener("visibilitychange", onVisibility);
  window.addEventListener("online", onVisibility);
  void run();

  return () => {
    stopped = true;
    document.removeEventListener("visibilitychange", onVisibility);
    window.removeEventListener("online", onVisibility);
    clearTimeout(hiding);
    clearTimeout(flushing);
    attempt.abort();
    wake?.();
    report(name, "gone");
  };
}
