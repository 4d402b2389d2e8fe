/** Numbers of the server over the last minutes, gathered while a page is open. */
import { useSamples } from "@/api/metrics";
import { CliLine } from "@/components/CliLine";
import { Section } from "@/components/Page";
import { Sparkline } from "@/components/Sparkline";
import { rates } from "@/lib/metrics";
import styles from "./Charts.module.css";

export function Charts() {
  const samples = useSamples();
  const series = [
    { title: "Executions started per second", values: rates(samples, "started") },
    { title: "Executions ended per second", values: rates(samples, "ended") },
    { title: "Executions failed per second", values: rates(samples, "failed"), tone: "bad" as const },
    { title: "Commands that wait for a worker", values: samples.map(({ backlog }) => backlog) },
    { title: "Inputs that wait for the drive loop", values: samples.map(({ waiting }) => waiting) },
  ];
  return (
    <div className={styles.stack}>
      <div className={styles.charts}>
        {series.map(({ title, values, tone }) => (
          <Section key={title} title={title} aside={<span className="numbers">{shown(values.at(-1))}</span>}>
            <div className={styles.chart}>
              <Sparkline values={values} label={`${title}, over the last minutes`} {...(tone ? { tone } : {})} />
            </div>
            <div className={styles.range}>
              <span>0</span>
              <span>most {shown(values.length === 0 ? undefined : Math.max(...values))}</span>
            </div>
          </Section>
        ))}
      </div>
      <p className="muted">The lines begin when this page was opened. All numbers are at /metrics, in the format of Prometheus:</p>
      <CliLine command={["curl", `${location.origin}/metrics`]} server={false} />
    </div>
  );
}

function shown(value: number | undefined): string {
  if (value === undefined) return "–";
  return value === 0 ? "0" : value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en");
}
