/** The editor at work on one text. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FlaskConical, Play, Save } from "lucide-react";
import { lazy, Suspense, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { entryAddress } from "@/api/catalog";
import { api, ask } from "@/api/client";
import type { Outline } from "@/api/types";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { ErrorPanel } from "@/components/ErrorPanel";
import { SelectField } from "@/components/fields";
import { Page } from "@/components/Page";
import { Skeleton } from "@/components/Skeleton";
import { useToasts } from "@/components/Toast";
import { useAddress } from "@/lib/address";
import styles from "./Desk.module.css";
import { DryRunDialog } from "./DryRunDialog";
import { Findings } from "./Findings";
import { TEMPLATES } from "./templates";
import { LeaveGuard } from "./LeaveGuard";
import { useCheck } from "./useCheck";

const YamlEditor = lazy(() => import("./YamlEditor"));
const GraphView = lazy(() => import("@/components/graph/GraphView"));

interface DeskProps {
  initial: string;
  /** The version that is being changed. */
  origin?: { path: string; version: number };
  template?: string;
}

export function Desk({ initial, origin, template }: DeskProps) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const navigate = useNavigate();
  const [, change] = useAddress();
  const [text, setText] = useState(initial);
  const [line, setLine] = useState(1);
  const [goTo, setGoTo] = useState<{ line: number; wish: number } | null>(null);
  const [trying, setTrying] = useState(false);
  const check = useCheck(text);
  const isRegistered = useRef(false);

  const go = (line: number) => setGoTo((before) => ({ line, wish: (before?.wish ?? 0) + 1 }));
  const register = useMutation({
    mutationFn: (_andRun: boolean) => ask(api.POST("/api/catalog/register", { body: { content: text } })),
    onSuccess: (registered, andRun) => {
      isRegistered.current = true;
      toasts.success(`${registered.path} is registered as version ${registered.version}`);
      void queries.invalidateQueries({ queryKey: ["catalog"] });
      navigate(andRun ? `${entryAddress(registered.path)}?tab=run&version=${registered.version}` : `/editor?id=${registered.catalog_id}`);
    },
  });
  const isPlaybook = /^kind:\s*["']?Playbook/m.test(text);
  const canRegister = check.isValid && !check.isChecking;
  return (
    <Page
      wide
      title={origin ? `Edit ${origin.path}` : "New document"}
      subtitle={origin ? `From version ${origin.version}. Registering makes the next one.` : "Registering puts it into the catalog, under its path."}
      actions={
        <>
          {template !== undefined && (
            <SelectField
              label="Begin with"
              bare
              value={template}
              onChange={(template) => change({ template })}
              options={TEMPLATES.map(({ name }) => ({ value: name, label: `Begin with ${name}` }))}
            />
          )}
          {isPlaybook && (
            <Button icon={<FlaskConical size={15} />} disabled={!canRegister} onClick={() => setTrying(true)}>
              Dry run
            </Button>
          )}
          <Button icon={<Save size={15} />} disabled={!canRegister} busy={register.isPending} onClick={() => register.mutate(false)}>
            Register
          </Button>
          {isPlaybook && (
            <Button kind="primary" icon={<Play size={15} />} disabled={!canRegister} busy={register.isPending} onClick={() => register.mutate(true)}>
              Register and run
            </Button>
          )}
        </>
      }
    >
      {register.error && <ErrorPanel error={register.error} />}
      {check.error !== null && <ErrorPanel error={check.error} />}
      <div className={styles.desk}>
        <div className={styles.text}>
          <Suspense fallback={<Skeleton lines={12} />}>
            <YamlEditor initial={initial} diagnostics={check.diagnostics} goTo={goTo} onChange={setText} onCursor={setLine} />
          </Suspense>
        </div>
        <div className={styles.beside}>
          <Preview outline={check.outline} line={line} onChoose={go} isPlaybook={isPlaybook} />
        </div>
      </div>
      <Findings check={check} onChoose={go} />
      <CliLine command={["noetl", "register", "playbook.yaml"]} />
      {trying && <DryRunDialog content={text} onClose={() => setTrying(false)} />}
      <LeaveGuard isChanged={text !== initial} isSafe={isRegistered} />
    </Page>
  );
}

function Preview({ outline, line, onChoose, isPlaybook }: { outline: Outline | null; line: number; onChoose: (line: number) => void; isPlaybook: boolean }) {
  if (!isPlaybook) return <p className={styles.note}>Playbooks have a graph; it is shown here.</p>;
  if (!outline) return <p className={styles.note}>The graph is drawn once the checker has no errors.</p>;
  // The step in which the cursor is: the last one that begins at or before it.
  const at = outline.steps.filter((step) => step.line <= line).at(-1);
  return (
    <Suspense fallback={<Skeleton lines={6} />}>
      <GraphView
        outline={outline}
        model={null}
        version={0}
        chosen={at?.name ?? null}
        onChoose={(name) => onChoose(outline.steps.find((step) => step.name === name)?.line ?? 1)}
      />
    </Suspense>
  );
}
