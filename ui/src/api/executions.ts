/** What the pages ask about executions, and how what they hear is kept. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, ask } from "./client";
import type { Execution } from "./types";

export interface ExecutionFilter {
  status?: string | undefined;
  path?: string | undefined;
  search?: string | undefined;
  labels?: string | undefined;
  parent_execution_id?: string | undefined;
  started_from?: string | undefined;
  started_before?: string | undefined;
  before?: string | undefined;
  after?: string | undefined;
  limit?: number | undefined;
}

export const executionsQuery = (filter: ExecutionFilter) =>
  queryOptions({
    queryKey: ["executions", "list", filter],
    queryFn: ({ signal }) => ask(api.GET("/api/executions", { params: { query: filter }, signal })) as Promise<Execution[]>,
    placeholderData: keepPreviousData,
  });

export const isOver = (status: string) => ["COMPLETED", "FAILED", "CANCELLED"].includes(status.toUpperCase());
