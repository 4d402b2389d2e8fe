import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { throttled } from "./throttle";

describe("what is throttled", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is done at once after silence, and once for all that rang since", () => {
    const call = vi.fn();
    const { ring } = throttled(call, 1000);
    ring();
    vi.advanceTimersByTime(0);
    expect(call).toHaveBeenCalledTimes(1);
    ring();
    vi.advanceTimersByTime(400);
    ring();
    vi.advanceTimersByTime(599);
    expect(call).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    expect(call).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(5000);
    expect(call).toHaveBeenCalledTimes(2);
  });

  it("is not done after it was given up", () => {
    const call = vi.fn();
    const { ring, cancel } = throttled(call, 1000);
    ring();
    cancel();
    vi.advanceTimersByTime(5000);
    expect(call).not.toHaveBeenCalled();
  });
});
