/** What the pages ask about the catalog. */
import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "./client";
import type { Entry, Outline, UiSchema, VersionInfo } from "./types";

/** More documents than a page can show at a glance; the search narrows them. */
export const MOST_ENTRIES = 2_000;

/** The newest version of each document. */
export const catalogQuery = (archived: boolean) =>
  queryOptions({
    queryKey: ["catalog", "list", archived],
    queryFn: async ({ signal }) => {
      const body = { latest_only: true, include_archived: archived, limit: MOST_ENTRIES };
      return (await ask(api.POST("/api/catalog/list", { body, signal }))).entries as Entry[];
    },
  });

/** One version of a document with its text. A version that is hidden is found by its id only. */
export const entryQuery = (catalogId: string | undefined) =>
  queryOptions({
    queryKey: ["catalog", "entry", catalogId],
    queryFn: ({ signal }) => ask(api.POST("/api/catalog/resource", { body: { catalog_id: catalogId ?? null }, signal })) as Promise<Entry>,
    enabled: catalogId !== undefined,
    // A version never changes.
    staleTime: 60_000,
  });

/** All versions of a path, the newest first, hidden ones too. */
export const versionsQuery = (path: string) =>
  queryOptions({
    queryKey: ["catalog", "versions", path],
    queryFn: async ({ signal }) => {
      const { versions } = await ask(api.GET("/api/catalog/{path}/versions", { params: { path: { path } }, signal }));
      return [...(versions as VersionInfo[])].sort((one, other) => other.version - one.version);
    },
  });

export const uiSchemaQuery = (path: string, version: number) =>
  queryOptions({
    queryKey: ["catalog", "ui_schema", path, version],
    queryFn: ({ signal }) =>
      ask(api.GET("/api/catalog/{path}/ui_schema", { params: { path: { path }, query: { version: String(version) } }, signal })) as Promise<UiSchema>,
  });

export const diffQuery = (path: string, from: number, to: number) =>
  queryOptions({
    queryKey: ["catalog", "diff", path, from, to],
    queryFn: ({ signal }) =>
      ask(api.GET("/api/catalog/{path}/diff", { params: { path: { path }, query: { from, to } }, signal })),
  });

/** The graph of a registered playbook. */
export const entryOutlineQuery = (catalogId: string) =>
  queryOptions({
    queryKey: ["catalog", "outline", catalogId],
    queryFn: ({ signal }) => ask(api.POST("/api/catalog/outline", { body: { catalog_id: catalogId }, signal })) as Promise<Outline>,
    staleTime: 60_000,
  });

/** Where a document has its page. */
export const entryAddress = (path: string) => `/catalog/${path.split("/").map(encodeURIComponent).join("/")}`;
