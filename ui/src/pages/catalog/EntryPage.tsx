/** One document of the catalog: run it, read it, see its graph, compare its versions, delete it and bring it back. */
import { useQuery } from "@tanstack/react-query";
import { Pencil, RadioTower } from "lucide-react";
import { lazy, Suspense } from "react";
import { useParams } from "react-router";
import { entryOutlineQuery, entryQuery, versionsQuery } from "@/api/catalog";
import type { Entry, VersionInfo } from "@/api/types";
import { LinkButton } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { CodeBlock } from "@/components/CodeBlock";
import { ErrorPanel } from "@/components/ErrorPanel";
import { SelectField } from "@/components/fields";
import { Page } from "@/components/Page";
import { Skeleton } from "@/components/Skeleton";
import { Tabs } from "@/components/Tabs";
import { RelativeTime } from "@/components/Time";
import { useAddress } from "@/lib/address";
import { descriptionOf } from "./document";
import { Removal } from "./Removal";
import { RunForm } from "./run/RunForm";
import styles from "./EntryPage.module.css";
import { VersionsView } from "./VersionsView";

const GraphView = lazy(() => import("@/components/graph/GraphView"));

const TABS = ["run", "source", "graph", "versions"] as const;
type TabName = (typeof TABS)[number];

export default function EntryPage() {
  const path = useParams()["*"] ?? "";
  const versions = useQuery(versionsQuery(path));
  if (versions.error) {
    return (
      <Page title={path}>
        <ErrorPanel error={versions.error} actions={<LinkButton to="/catalog">To the catalog</LinkButton>} />
      </Page>
    );
  }
  if (!versions.data) return <Skeleton lines={6} />;
  return <Versions key={path} path={path} versions={versions.data} />;
}

function Versions({ path, versions }: { path: string; versions: VersionInfo[] }) {
  const [parameters, change] = useAddress();
  const asked = Number(parameters.get("version"));
  const newest = versions.find((version) => !version.archived_at) ?? versions[0];
  const shown = versions.find(({ version }) => version === asked) ?? newest;
  const entry = useQuery(entryQuery(shown && String(shown.catalog_id)));
  if (!shown) return <Page title={path}>{null}</Page>;

  const isPlaybook = shown.kind === "playbook";
  const tabs = TABS.filter((tab) => {
    if (tab === "run") return isPlaybook && !shown.archived_at;
    return isPlaybook || tab !== "graph";
  });
  const tab = tabs.find((tab) => tab === parameters.get("tab")) ?? tabs[0] ?? "source";
  return (
    <Page
      title={path}
      subtitle={
        <>
          {entry.data && descriptionOf(entry.data) && `${descriptionOf(entry.data)} · `}
          <span className={styles.kind}>{shown.kind}</span>, version {shown.version}, registered{" "}
          <RelativeTime at={shown.created_at} />
          {shown.archived_at && <span className={styles.deleted}> · deleted, and kept for the executions that ran it</span>}
        </>
      }
      actions={
        <>
          <SelectField
            label="Version"
            bare
            value={String(shown.version)}
            onChange={(version) => change({ version })}
            options={versions.map(({ version, archived_at }) => ({
              value: String(version),
              label: `Version ${version}${version === newest?.version ? " (newest)" : ""}${archived_at ? " (deleted)" : ""}`,
            }))}
          />
          {!isPlaybook && (
            <LinkButton to="/subscriptions" icon={<RadioTower size={15} />}>
              Subscriptions
            </LinkButton>
          )}
          <LinkButton to={`/editor?id=${shown.catalog_id}`} icon={<Pencil size={15} />}>
            Edit
          </LinkButton>
          <Removal path={path} version={shown} count={versions.length} />
        </>
      }
    >
      <Tabs<TabName>
        label="About this document"
        chosen={tab}
        onChoose={(tab) => change({ tab })}
        tabs={tabs.map((name) => ({ name, label: LABELS[name], count: name === "versions" ? versions.length : undefined }))}
      >
        {entry.error && <ErrorPanel error={entry.error} />}
        {entry.data ? <Content tab={tab} entry={entry.data} versions={versions} /> : !entry.error && <Skeleton lines={8} />}
      </Tabs>
    </Page>
  );
}

const LABELS: Record<TabName, string> = { run: "Run", source: "Source", graph: "Graph", versions: "Versions" };

function Content({ tab, entry, versions }: { tab: TabName; entry: Entry; versions: VersionInfo[] }) {
  switch (tab) {
    case "run":
      return <RunForm key={entry.catalog_id} entry={entry} isNewest={versions.find((version) => !version.archived_at)?.version === entry.version} />;
    case "graph":
      return <Graph entry={entry} />;
    case "versions":
      return <VersionsView path={entry.path} versions={versions} />;
    default:
      return (
        <div className={styles.stack}>
          <CodeBlock text={entry.content ?? ""} firstLine={1} label="Source" maxHeight="high" />
          <CliLine command={["noetl", "catalog", "get", `${entry.path}@${entry.version}`]} />
        </div>
      );
  }
}

function Graph({ entry }: { entry: Entry }) {
  const outline = useQuery(entryOutlineQuery(String(entry.catalog_id)));
  const [parameters, change] = useAddress();
  if (outline.error) return <ErrorPanel error={outline.error} />;
  if (!outline.data) return <Skeleton lines={6} />;
  const chosen = parameters.get("step");
  const step = outline.data.steps.find((step) => step.name === chosen);
  return (
    <div className={styles.graphBeside}>
      <div className={styles.graph}>
        <Suspense fallback={<Skeleton lines={6} />}>
          <GraphView
            outline={outline.data}
            model={null}
            version={0}
            chosen={chosen}
            onChoose={(step) => change({ step })}
          />
        </Suspense>
      </div>
      <CodeBlock text={entry.content ?? ""} firstLine={1} mark={step?.line} markTone="accent" label="Source" maxHeight="high" />
    </div>
  );
}
