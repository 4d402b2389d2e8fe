/** A row of numbers with their lines over the last minutes. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { executionsQuery } from "@/api/executions";
import { useSamples } from "@/api/metrics";
import { Sparkline } from "@/components/Sparkline";
import type { Stats } from "@/api/types";
import { rates } from "@/lib/metrics";
import { durationText } from "@/lib/time";
import styles from "./Pulse.module.css";

export function Pulse({ counts }: { counts: Stats["stats"] | undefined }) {
  const samples = useSamples();
  const ended = useQuery(executionsQuery({ status: "COMPLETED,FAILED", limit: 50 }));
  const perSecond = rates(samples, "ended");
  const now = samples.at(-1);
  const durations = (ended.data ?? []).map((execution) => execution.duration_seconds).reverse();
  const finished = (counts?.successful_executions ?? 0) + (counts?.failed_executions ?? 0);
  const success = finished === 0 ? null : (100 * (counts?.successful_executions ?? 0)) / finished;
  return (
    <div className={styles.pulse}>
      <Number label="Running" value={counts ? (counts.running_executions + counts.paused_executions).toLocaleString("en") : "–"} note={counts && counts.paused_executions > 0 ? `${counts.paused_executions} paused` : "executions now"} />
      <Number label="Throughput" value={rateText(perSecond.slice(-5))} note="ended per second">
        <Sparkline values={perSecond} label="Executions that ended per second, over the last five minutes" />
      </Number>
      <Number label="Duration" value={durations.length === 0 ? "–" : durationText(median(durations))} note={`median of the last ${durations.length}`}>
        <Sparkline values={durations} label="Durations of the last executions" />
      </Number>
      <Number label="Backlog" value={now ? (now.backlog + now.waiting).toLocaleString("en") : "–"} note="commands that wait">
        <Sparkline values={samples.map((sample) => sample.backlog + sample.waiting)} label="Commands that wait, over the last five minutes" />
      </Number>
      <Number label="Success" value={success === null ? "–" : `${success.toFixed(success > 99 && success < 100 ? 2 : 0)} %`} note={counts ? `${counts.failed_executions.toLocaleString("en")} failed of ${finished.toLocaleString("en")}` : ""} />
    </div>
  );
}

function Number({ label, value, note, children }: { label: string; value: string; note: string; children?: ReactNode }) {
  return (
    <div className={styles.number}>
      <div className={styles.label}>{label}</div>
      <div className={styles.value}>{value}</div>
      <div className={styles.note}>{note}</div>
      {children && <div className={styles.line}>{children}</div>}
    </div>
  );
}

function rateText(lately: number[]): string {
  if (lately.length === 0) return "–";
  const mean = lately.reduce((sum, rate) => sum + rate, 0) / lately.length;
  return mean === 0 ? "0" : mean < 10 ? mean.toFixed(1) : Math.round(mean).toLocaleString("en");
}

function median(values: number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
