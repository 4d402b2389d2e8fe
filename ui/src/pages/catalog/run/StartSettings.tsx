/** How a run is started, beside its input: where it begins, who does its work, and whether it may be started twice. */
import { TextField } from "@/components/fields";
import styles from "./StartSettings.module.css";

export interface Settings {
  entry: string;
  pool: string;
  dedup: string;
  window: string;
}

export const NO_SETTINGS: Settings = { entry: "", pool: "", dedup: "", window: "300" };

export function settingsRequest({ entry, pool, dedup, window }: Settings) {
  return {
    ...(entry ? { entry } : {}),
    ...(pool ? { execution_pool: pool } : {}),
    ...(dedup ? { dedup: { key: dedup, window_secs: Math.max(1, Math.round(Number(window)) || 300) } } : {}),
  };
}

/** The same in words of the command line. */
export function settingsWords({ entry, pool, dedup, window }: Settings): string[] {
  return [
    ...(entry ? ["--target", entry] : []),
    ...(pool ? ["--pool", pool] : []),
    ...(dedup ? ["--dedup", dedup, ...(window === NO_SETTINGS.window ? [] : ["--dedup-window", window])] : []),
  ];
}

export function StartSettings({ settings, onChange }: { settings: Settings; onChange: (settings: Settings) => void }) {
  const change = (name: keyof Settings) => (value: string) => onChange({ ...settings, [name]: value.trim() });
  return (
    <details className={styles.settings}>
      <summary>More about the start</summary>
      <div className={styles.fields}>
        <TextField label="Begin at step" value={settings.entry} onChange={change("entry")} hint="The playbook's own first step when left empty." />
        <TextField label="Worker pool" value={settings.pool} onChange={change("pool")} hint="The pool that the playbook names when left empty." />
        <TextField
          label="Start at most once for this key"
          value={settings.dedup}
          onChange={change("dedup")}
          hint="A second start with the same key leads to the first execution."
        />
        {settings.dedup && <TextField label="For how many seconds" inputMode="numeric" value={settings.window} onChange={change("window")} />}
      </div>
    </details>
  );
}
