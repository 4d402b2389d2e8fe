/** What the pages ask about credentials. Their values are never asked for. */
import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "./client";
import type { Credential } from "./types";

const PAGE = 500;

export const credentialsQuery = queryOptions({
  queryKey: ["credentials", "list"],
  queryFn: async ({ signal }) => {
    const all: Credential[] = [];
    let after: string | null | undefined;
    do {
      const query = { limit: PAGE, ...(after ? { after } : {}) };
      const page = await ask(api.GET("/api/credentials", { params: { query }, signal }));
      all.push(...(page.items as Credential[]));
      after = page.next;
    } while (after);
    return all;
  },
});
