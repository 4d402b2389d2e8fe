/** One execution: what it does, why it is where it is, what came of it, and what can be done about it. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { useParams } from "react-router";
import { isOver } from "@/api/executions";
import type { ExecutionDetail, Json } from "@/api/types";
import { CliLine } from "@/components/CliLine";
import { CodeBlock } from "@/components/CodeBlock";
import { ErrorPanel } from "@/components/ErrorPanel";
import { JsonView } from "@/components/JsonView";
import { Page } from "@/components/Page";
import { Skeleton } from "@/components/Skeleton";
import { StatusBadge } from "@/components/StatusBadge";
import { type Tab, Tabs } from "@/components/Tabs";
import { ValueView } from "@/components/ValueView";
import { type Change, useAddress } from "@/lib/address";
import { Actions } from "./Actions";
import { ChildrenView } from "./ChildrenView";
import { EventLog } from "./EventLog";
import styles from "./ExecutionPage.module.css";
import { Facts } from "./Facts";
import { FailurePanel } from "./FailurePanel";
import { LogView } from "./LogView";
import { detailQuery, outlineQuery, sourceQuery, stateQuery } from "./queries";
import { StepPanel } from "./StepPanel";
import { TimelineView } from "./TimelineView";
import { TimeTravel } from "./TimeTravel";
import { type Run, useRun } from "./useRun";
import { WaitingPanel } from "./WaitingPanel";

const GraphView = lazy(() => import("@/components/graph/GraphView"));

type TabName = "graph" | "timeline" | "events" | "logs" | "data" | "children" | "source";

export default function ExecutionPage() {
  const { id = "" } = useParams();
  const detail = useQuery(detailQuery(id));
  if (detail.error && !detail.data) {
    return (
      <Page title="Execution">
        <ErrorPanel error={detail.error} />
      </Page>
    );
  }
  if (!detail.data) {
    return (
      <Page title="Execution">
        <Skeleton lines={8} />
      </Page>
    );
  }
  return <Loaded key={id} id={id} execution={detail.data} />;
}

/** What is looked at, as it stands in the address. */
function useView() {
  const [parameters, changeAddress] = useAddress();
  const change = (changes: Change) => changeAddress(changes, { replace: true });
  const at = Number(parameters.get("at"));
  return {
    tab: (parameters.get("tab") ?? "graph") as TabName,
    step: parameters.get("step"),
    at: at > 0 ? at : null,
    change,
    travel: (seq: number) => change({ at: String(seq), tab: null }),
  };
}

function Loaded({ id, execution }: { id: string; execution: ExecutionDetail }) {
  const { tab, step, at, change, travel } = useView();
  const outline = useOutline(String(execution.catalog_id));
  const run = useRun(id, execution.event_count, at);
  const over = isOver(execution.status);
  const choose = (step: string) => change({ step });
  const tabs: Tab<TabName>[] = [
    { name: "graph", label: "Graph" },
    { name: "timeline", label: "Timeline" },
    { name: "events", label: "Events", count: run.now.seq || undefined },
    { name: "logs", label: "Logs" },
    { name: "data", label: "Input and result" },
    { name: "children", label: "Children", count: run.now.children.length || undefined },
    { name: "source", label: "Playbook" },
  ];
  const withSteps = tab === "graph" || tab === "timeline";
  return (
    <Page
      wide
      title={execution.path}
      heading={
        <span className={styles.heading}>
          {execution.path} <StatusBadge status={execution.status} />
        </span>
      }
      subtitle={<Facts execution={execution} rerunOf={run.now.rerunOf} />}
      actions={<Actions execution={execution} />}
    >
      {execution.status === "FAILED" && <FailurePanel execution={execution} outline={outline.data} onChoose={choose} />}
      {!over && <WaitingPanel id={id} model={run.now} />}
      {!run.isComplete && run.now.seq > 0 && execution.event_count - run.now.seq > 500 && (
        <p className="muted numbers" role="status">
          Reading what has happened: {run.now.seq.toLocaleString("en")} of {execution.event_count.toLocaleString("en")} events
        </p>
      )}
      <div className={styles.body}>
        <Tabs label="Views of the execution" tabs={tabs} chosen={tab} onChoose={(name) => change({ tab: name === "graph" ? null : name })}>
          <div className={styles.view} data-tall={withSteps || tab === "events" || undefined}>
            {withSteps ? (
              <>
                <div className={styles.split} data-open={step !== null || undefined}>
                  <div className={styles.main}>
                    {tab === "graph" ? (
                      <Graph outline={outline} run={run} step={step} onChoose={choose} />
                    ) : (
                      <TimelineView model={run.shown} version={run.version} isLive={!over && at === null} onChoose={choose} />
                    )}
                  </div>
                  {step !== null && (
                    <div className={styles.side}>
                      <StepPanel
                        execution={execution}
                        name={step}
                        outline={outline.data}
                        state={stateOf(run, step)}
                        onClose={() => change({ step: null })}
                      />
                    </div>
                  )}
                </div>
                {at !== null && <Past id={id} seq={at} />}
                <TimeTravel events={run.events} at={at} onChange={(seq) => change({ at: seq === null ? null : String(seq) })} />
              </>
            ) : tab === "events" ? (
              <EventLog id={id} events={run.events} version={run.version} isLive={!over} onTravel={travel} />
            ) : tab === "logs" ? (
              <LogView id={id} isLive={!over} tall />
            ) : tab === "data" ? (
              <Data execution={execution} />
            ) : tab === "children" ? (
              <ChildrenView id={id} />
            ) : (
              <Source execution={execution} />
            )}
          </div>
        </Tabs>
      </div>
      {tab !== "events" && tab !== "logs" && <CliLine command={over ? ["noetl", "status", id] : ["noetl", "status", id, "--wait"]} />}
    </Page>
  );
}

function stateOf(run: Run, step: string) {
  const state = run.shown.steps.get(step);
  // A copy, since the model changes in place.
  return state ? { ...state, loop: state.loop && { ...state.loop } } : null;
}

function Graph({ outline, run, step, onChoose }: { outline: ReturnType<typeof useOutline>; run: Run; step: string | null; onChoose: (step: string) => void }) {
  if (outline.error) return <ErrorPanel error={outline.error} />;
  if (!outline.data) return <Skeleton lines={6} />;
  return (
    <Suspense fallback={<Skeleton lines={6} />}>
      <GraphView outline={outline.data} model={run.shown} version={run.version} chosen={step} onChoose={onChoose} />
    </Suspense>
  );
}

const useOutline = (catalogId: string) => useQuery(outlineQuery(catalogId));

/** What the server knows of an earlier point: variables, and what was waited for. */
function Past({ id, seq }: { id: string; seq: number }) {
  const state = useQuery(stateQuery(id, seq));
  if (state.error) return <ErrorPanel error={state.error} />;
  if (!state.data) return null;
  const variables = state.data.variables as { [key: string]: Json };
  return (
    <div className={styles.past}>
      <ul>
        {state.data.lines.slice(0, 4).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {Object.keys(variables).length > 0 && <JsonView value={variables} label={`Variables at event ${seq}`} />}
    </div>
  );
}

function Data({ execution }: { execution: ExecutionDetail }) {
  return (
    <div className={styles.data}>
      <section>
        <h2>Input</h2>
        <ValueView value={(execution.workload ?? null) as Json} label="The input" />
      </section>
      <section>
        <h2>Result</h2>
        <ValueView value={(execution.result ?? null) as Json} label="The result" />
      </section>
    </div>
  );
}

function Source({ execution }: { execution: ExecutionDetail }) {
  const source = useQuery(sourceQuery(String(execution.catalog_id)));
  const failed = execution.steps.find((step) => step.status === "failed");
  const line = (failed?.error as { line?: number } | null | undefined)?.line;
  if (source.error) return <ErrorPanel error={source.error} />;
  if (!source.data) return <Skeleton lines={10} />;
  return (
    <div className={styles.source}>
      <CodeBlock text={source.data.content ?? ""} firstLine={1} mark={line} label={`${execution.path}, version ${execution.version}`} maxHeight="high" />
    </div>
  );
}
