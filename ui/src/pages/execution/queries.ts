/** What the page of an execution asks the server. */
import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import type { EventRow } from "@/api/types";

export const detailQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id, "detail"],
    queryFn: ({ signal }) => ask(api.GET("/api/executions/{id}", { params: { path: { id }, query: { include_events: false } }, signal })),
  });

export const explainQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id, "explain"],
    queryFn: ({ signal }) => ask(api.GET("/api/executions/{id}/explain", { params: { path: { id } }, signal })),
  });

export const stepQuery = (id: string, step: string) =>
  queryOptions({
    queryKey: ["execution", id, "step", step],
    queryFn: ({ signal }) => ask(api.GET("/api/executions/{id}/steps/{step}", { params: { path: { id, step } }, signal })),
    retry: false,
  });

/** What a step called its tools with. It stays as it is until the step calls again. */
export const callsQuery = (id: string, step: string, visit: string) =>
  queryOptions({
    queryKey: ["execution-calls", id, step, visit],
    queryFn: ({ signal }) => ask(api.GET("/api/executions/{id}/steps/{step}/calls", { params: { path: { id, step } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const stateQuery = (id: string, seq: number) =>
  queryOptions({
    queryKey: ["execution-at", id, seq],
    queryFn: ({ signal }) => ask(api.GET("/api/executions/{id}/state", { params: { path: { id }, query: { at_seq: seq } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** One event with its values. What is recorded does not change. */
export const eventQuery = (id: string, seq: number) =>
  queryOptions({
    queryKey: ["execution-event", id, seq],
    queryFn: async ({ signal }): Promise<EventRow | null> => {
      const page = await ask(api.GET("/api/executions/{id}/events", { params: { path: { id }, query: { after_seq: seq - 1, limit: 1 } }, signal }));
      return page.events[0] ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The text of the playbook that ran. */
export const sourceQuery = (catalogId: string) =>
  queryOptions({
    queryKey: ["catalog", "source", catalogId],
    queryFn: ({ signal }) => ask(api.POST("/api/catalog/resource", { body: { catalog_id: catalogId }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The steps and arcs of the playbook that ran. */
export const outlineQuery = (catalogId: string) =>
  queryOptions({
    queryKey: ["catalog", "outline", catalogId],
    queryFn: ({ signal }) => ask(api.POST("/api/catalog/outline", { body: { catalog_id: catalogId }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const childrenQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id, "children"],
    queryFn: ({ signal }) => ask(api.GET("/api/executions/{id}/children", { params: { path: { id }, query: { limit: 100 } }, signal })),
  });
