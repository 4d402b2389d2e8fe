/**
 * Every page: its address, and its place in the navigation. A page's module exports its component by default and is
 * loaded when it is first shown.
 */
import {
  Activity,
  Cpu,
  GitCompareArrows,
  House,
  KeyRound,
  Library,
  ListTree,
  type LucideIcon,
  PencilLine,
  Puzzle,
  RadioTower,
  SlidersHorizontal,
} from "lucide-react";
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
  {
    path: "/editor",
    load: () => import("@/pages/editor/EditorPage"),
    nav: { label: "Editor", icon: PencilLine, group: "Resources", key: "w" },
  },
  {
    path: "/subscriptions",
    load: () => import("@/pages/subscriptions/SubscriptionsPage"),
    nav: { label: "Subscriptions", icon: RadioTower, group: "Resources", key: "s" },
  },
  {
    path: "/credentials",
    load: () => import("@/pages/credentials/CredentialsPage"),
    nav: { label: "Credentials", icon: KeyRound, group: "Resources", key: "r" },
  },
  {
    path: "/plugins",
    load: () => import("@/pages/plugins/PluginsPage"),
    nav: { label: "Plug-ins", icon: Puzzle, group: "Resources", key: "p" },
  },
  {
    path: "/workers",
    load: () => import("@/pages/workers/WorkersPage"),
    nav: { label: "Workers & pools", icon: Cpu, group: "Server", key: "k" },
  },
  {
    path: "/system",
    load: () => import("@/pages/system/SystemPage"),
    nav: { label: "System", icon: Activity, group: "Server", key: "y" },
  },
  {
    path: "/settings",
    load: () => import("@/pages/settings/SettingsPage"),
    nav: { label: "Settings", icon: SlidersHorizontal, group: "Server", key: "," },
  },
];
