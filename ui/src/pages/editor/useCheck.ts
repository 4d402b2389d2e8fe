/** What the server's checker says about a text, and its graph, asked for when typing pauses. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, ask } from "@/api/client";
import type { Diagnostic, Outline } from "@/api/types";

const PAUSE = 350;

export interface Check {
  diagnostics: Diagnostic[];
  isValid: boolean;
  /** Of the last text that could be drawn. */
  outline: Outline | null;
  /** The answer is about an earlier text. */
  isChecking: boolean;
  error: unknown;
}

export function useCheck(text: string): Check {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const checked = useQuery({
    queryKey: ["check", settled],
    queryFn: ({ signal }) => ask(api.POST("/api/catalog/playbooks/validate", { body: { content: settled }, signal })),
    placeholderData: keepPreviousData,
    gcTime: 10_000,
  });
  const isValid = checked.data?.valid === true && !checked.isPlaceholderData;
  const isPlaybook = /^kind:\s*["']?Playbook/m.test(settled);
  const outline = useQuery({
    queryKey: ["check", "outline", settled],
    queryFn: ({ signal }) => ask(api.POST("/api/catalog/outline", { body: { content: settled }, signal })) as Promise<Outline>,
    enabled: isValid && isPlaybook,
    placeholderData: keepPreviousData,
    gcTime: 10_000,
  });
  return {
    diagnostics: (checked.data?.diagnostics ?? NONE) as Diagnostic[],
    isValid,
    outline: outline.data ?? null,
    isChecking: text !== settled || checked.isPlaceholderData || checked.isPending,
    error: checked.error,
  };
}

const NONE: Diagnostic[] = [];
