/** Does something when it is rung for, at most once in so many milliseconds: at once after silence, and once more for what rang in between. */
export interface Throttled {
  ring: () => void;
  /** Forgets what was rung for. */
  cancel: () => void;
}

export function throttled(call: () => void, every: number): Throttled {
  let last = Number.NEGATIVE_INFINITY;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    waiting = undefined;
    last = performance.now();
    call();
  };
  return {
    ring: () => {
      waiting ??= setTimeout(run, Math.max(0, last + every - performance.now()));
    },
    cancel: () => {
      clearTimeout(waiting);
      waiting = undefined;
    },
  };
}
