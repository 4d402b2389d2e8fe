/** What narrows the list: text, status, playbook, label, age. */
import { Search, X } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "@/components/Button";
import { SelectField } from "@/components/fields";
import { StatusIcon } from "@/components/StatusBadge";
import styles from "./FilterBar.module.css";
import type { Filters } from "./filters";

const STATUSES = ["RUNNING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED", "PENDING"];

/** How long typing may pause before the list follows. */
const PAUSE = 250;

export function FilterBar({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) {
  const change = (part: Filters) => onChange({ ...filters, before: undefined, after: undefined, ...part });
  const statuses = new Set(filters.status?.split(",") ?? []);
  const toggle = (status: string) => {
    if (!statuses.delete(status)) statuses.add(status);
    change({ status: [...statuses].join(",") || undefined });
  };
  return (
    <div className={styles.bar}>
      <TextFilter label="Search by id, path, error or label" value={filters.search} onChange={(search) => change({ search })} wide />
      <TextFilter label="Playbook" value={filters.path} onChange={(path) => change({ path })} />
      <TextFilter label="Label, as name=value" value={filters.labels} onChange={(labels) => change({ labels })} />
      <SelectField
        label="Started"
        bare
        value={filters.since ?? ""}
        onChange={(since) => change({ since: since || undefined })}
        options={[
          { value: "", label: "At any time" },
          { value: "1h", label: "In the last hour" },
          { value: "24h", label: "In the last day" },
          { value: "7d", label: "In the last week" },
        ]}
      />
      <fieldset className={styles.statuses}>
        <legend className="visually-hidden">Status</legend>
        {STATUSES.map((status) => (
          <button key={status} type="button" className={styles.status} aria-pressed={statuses.has(status)} onClick={() => toggle(status)}>
            <span aria-hidden className={styles.icon}>
              <StatusIcon status={status} size={13} />
            </span>
            {status[0] + status.slice(1).toLowerCase()}
          </button>
        ))}
      </fieldset>
      {filters.parent_execution_id && (
        <Button icon={<X size={14} />} onClick={() => change({ parent_execution_id: undefined })}>
          Started by {filters.parent_execution_id}
        </Button>
      )}
      {Object.keys(filters).length > 0 && (
        <Button kind="quiet" onClick={() => onChange({})}>
          Clear all
        </Button>
      )}
    </div>
  );
}

interface TextFilterProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  wide?: boolean;
}

/** Follows the address, and writes to it when one has paused. */
function TextFilter({ label, value, onChange, wide = false }: TextFilterProps) {
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  useEffect(() => {
    const wanted = text.trim() || undefined;
    if (wanted === value) return;
    const timer = setTimeout(() => onChange(wanted), PAUSE);
    return () => clearTimeout(timer);
    // The caller's function is another with every drawing; only what is typed matters.
  }, [text]);
  return (
    <label className={styles.text} data-wide={wide || undefined}>
      {wide && <Search size={14} aria-hidden />}
      <span className="visually-hidden">{label}</span>
      <input type="search" placeholder={label} value={text} onChange={(event) => setText(event.target.value)} />
    </label>
  );
}
