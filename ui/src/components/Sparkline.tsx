/** A small line of numbers over time. */
import styles from "./Sparkline.module.css";

const WIDTH = 160;
const HEIGHT = 36;

export function Sparkline({ values: given, label, tone = "accent" }: { values: number[]; label: string; tone?: "accent" | "bad" }) {
  // A single number is a level.
  const values = given.length === 1 ? [...given, ...given] : given;
  const most = Math.max(...values, 0);
  const x = (index: number) => (index / (values.length - 1)) * WIDTH;
  const y = (value: number) => HEIGHT - 2 - (most === 0 ? 0 : (value / most) * (HEIGHT - 6));
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  return (
    <svg className={styles.sparkline} data-tone={tone} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {points.length > 1 && (
        <>
          <polygon points={`0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}`} />
          <polyline points={points.join(" ")} />
        </>
      )}
    </svg>
  );
}
