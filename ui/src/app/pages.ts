/**
 * Every page: its address, and its place in the navigation. A page's module exports its component by default and is
 * loaded when it is first shown.
 */
import { GitCompareArrows, House, Library, ListTree, type LucideIcon } from "lucide-react";
import type { ComponentType } from "react";

export interface Page {
  path: string;
  load: () => Promise<{ default: ComponentType }>;
  nav?: {
    label: string;
    icon: LucideIcon;
    group: "Work" | "Resources" | "Server";
    /** After `g`, this key leads here. */
    key: string;
  };
}

export const PAGES: Page[] = [
  {
    path: "/",
    load: () => import("@/pages/home/HomePage"),
    nav: { label: "Home", icon: House, group: "Work", key: "h" },
  },
  {
    path: "/executions",
    load: () => import("@/pages/executions/ExecutionsPage"),
    nav: { label: "Executions", icon: ListTree, group: "Work", key: "e" },
  },
  {
    path: "/executions/:id",
    load: () => import("@/pages/execution/ExecutionPage"),
  },
  {
    path: "/compare",
    load: () => import("@/pages/compare/ComparePage"),
    nav: { label: "Compare", icon: GitCompareArrows, group: "Work", key: "m" },
  },
  {
    path: "/catalog",
    load: () => import("@/pages/catalog/CatalogPage"),
    nav: { label: "Catalog", icon: Library, group: "Resources", key: "c" },
  },
  {
    path: "/catalog/*",
    load: () => import("@/pages/catalog/EntryPage"),
  },
];
