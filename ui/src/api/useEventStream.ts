/** Follows a stream for as long as a component is on the page. */
import { useEffect, useRef } from "react";
import type { Message } from "./sse";
import { follow } from "./stream";
import { useAccess } from "./token";

interface Handlers {
  onMessages: (messages: Message[]) => void;
  onEnd?: () => void;
}

/** Without a URL nothing is followed. Another URL, or another token, begins anew. */
export function useEventStream(url: string | null, handlers: Handlers) {
  const latest = useRef(handlers);
  latest.current = handlers;
  const { token, needed } = useAccess();
  useEffect(() => {
    if (url === null || needed) return;
    return follow({
      url,
      onMessages: (messages) => latest.current.onMessages(messages),
      onEnd: () => latest.current.onEnd?.(),
    });
  }, [url, token, needed]);
}
