/** What the page of an execution asks the server. */
import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "@/api/client";

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
