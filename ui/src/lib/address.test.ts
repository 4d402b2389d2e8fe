import { expect, test } from "vitest";
import { changed } from "./address";

test("a change sets what it names, removes what has no value, and leaves the rest", () => {
  const before = new URLSearchParams("kind=playbook&deleted=1&search=a");
  expect(changed(before, { deleted: "", search: "b", tab: "run", step: null }).toString()).toBe("kind=playbook&search=b&tab=run");
  expect(before.get("deleted")).toBe("1");
});
