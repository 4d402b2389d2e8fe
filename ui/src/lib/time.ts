/** Words for instants and durations. */

/** `80 µs`, `2.5 ms`, `340 ms`, `4.2 s`, `2 m 5 s`, `3 h 0 m`, `2 d 4 h`. */
export function durationText(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return "–";
  if (seconds > 0 && seconds < 0.001) return `${Math.max(1, Math.round(seconds * 1_000_000))} µs`;
  if (seconds < 0.00995) return seconds === 0 ? "0 ms" : `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} m`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor(whole / 3600) % 24} h`;
}

/** `just now`, `40 s ago`, `3 m ago`, `5 h ago`, `in 2 d`; a date once it is long ago. */
export function relativeText(at: string, now: number): string {
  const seconds = (now - Date.parse(at)) / 1000;
  if (Number.isNaN(seconds)) return "–";
  const size = Math.abs(seconds);
  if (size < 5) return "just now";
  if (size > 30 * 86_400) return new Date(at).toLocaleDateString("en", { year: "numeric", month: "short", day: "numeric" });
  const amount =
    size < 60
      ? `${Math.floor(size)} s`
      : size < 3600
        ? `${Math.floor(size / 60)} m`
        : size < 86_400
          ? `${Math.floor(size / 3600)} h`
          : `${Math.floor(size / 86_400)} d`;
  return seconds > 0 ? `${amount} ago` : `in ${amount}`;
}

/** Making one is slow, and lists need many instants. */
const EXACT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long" });

export function exactText(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : EXACT.format(date);
}

/** `14:03:27.512`, for logs and events. */
export function clockText(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  const two = (number: number) => String(number).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** Milliseconds since 1970 with the fraction that `Date` leaves out: short steps take microseconds. */
export function instantOf(at: string): number {
  const fraction = /\.\d{3}(\d+)/.exec(at)?.[1];
  return Date.parse(at) + (fraction === undefined ? 0 : Number(`0.${fraction}`));
}
