/** The versions of a document, and what changed between two of them. */
import { useQuery } from "@tanstack/react-query";
import { diffQuery } from "@/api/catalog";
import type { VersionInfo } from "@/api/types";
import { CliLine } from "@/components/CliLine";
import { DiffView } from "@/components/DiffView";
import { EmptyState } from "@/components/EmptyState";
import { ErrorPanel } from "@/components/ErrorPanel";
import { SelectField } from "@/components/fields";
import { Skeleton } from "@/components/Skeleton";
import { useAddress } from "@/lib/address";
import styles from "./VersionsView.module.css";

export function VersionsView({ path, versions }: { path: string; versions: VersionInfo[] }) {
  const [parameters, change] = useAddress();
  const known = (name: string, fallback: number | undefined) => {
    const asked = Number(parameters.get(name));
    return versions.find(({ version }) => version === asked)?.version ?? fallback ?? 0;
  };
  const to = known("to", versions[0]?.version);
  const from = known("from", versions.find(({ version }) => version < to)?.version);
  const diff = useQuery({ ...diffQuery(path, from, to), enabled: versions.length > 1 });
  const choose = (name: string) => (version: string) => change({ [name]: version });
  const options = versions.map(({ version, archived_at }) => ({
    value: String(version),
    label: `Version ${version}${archived_at ? " (deleted)" : ""}`,
  }));
  if (versions.length < 2) {
    return (
      <EmptyState title="There is one version so far">
        <p>Registering the document again, changed, makes the next. What changed between them is shown here.</p>
      </EmptyState>
    );
  }
  return (
    <div className={styles.stack}>
      <div className={styles.choose}>
        <SelectField label="From" value={String(from)} onChange={choose("from")} options={options} />
        <SelectField label="To" value={String(to)} onChange={choose("to")} options={options} />
        {diff.data && (
          <span className={styles.count}>
            <span className={styles.added}>{diff.data.added} added</span>, <span className={styles.removed}>{diff.data.removed} removed</span>
          </span>
        )}
      </div>
      {diff.error ? <ErrorPanel error={diff.error} /> : diff.data ? <DiffView diff={diff.data.diff} /> : <Skeleton lines={8} />}
      <CliLine command={["noetl", "catalog", "diff", path, "--from", String(from), "--to", String(to)]} />
    </div>
  );
}
