import { describe, expect, it } from "vitest";
import type { InputField } from "@/api/types";
import { initialEntries, readEntries, withoutSecrets } from "./run-input";

const field = (name: string, kind: string, more: Partial<InputField> = {}): InputField => ({
  name,
  kind,
  default: null,
  secret: false,
  children: [],
  ...more,
});

const FIELDS = [
  field("name", "string", { default: "world" }),
  field("count", "integer", { default: 3 }),
  field("loud", "boolean", { default: false }),
  field("level", "integer", { default: 1, options: [1, 2] }),
  field("password", "string", { secret: true }),
  field("list", "array", { default: ["a"] }),
  field("db", "object", {
    default: { host: "localhost", password: null },
    children: [field("host", "string", { default: "localhost" }), field("password", "string", { secret: true })],
  }),
];

describe("the input of a run", () => {
  it("sends nothing of what was left as it is", () => {
    expect(readEntries(FIELDS, initialEntries(FIELDS))).toEqual({ payload: {}, errors: {} });
  });

  it("sends what was changed, in the type of the field", () => {
    const entries = { ...initialEntries(FIELDS), count: "5", loud: true, level: "2", list: '["b"]', "db.host": "db1" };
    expect(readEntries(FIELDS, entries).payload).toEqual({ count: 5, loud: true, level: 2, list: ["b"], db: { host: "db1" } });
  });

  it("says what is wrong by field", () => {
    const { errors } = readEntries(FIELDS, { ...initialEntries(FIELDS), count: "many", list: "{}" });
    expect(Object.keys(errors)).toEqual(["count", "list"]);
  });

  it("keeps secrets out of what is remembered, wherever they are", () => {
    const payload = { name: "Ada", password: "p", db: { host: "db1", password: "q" } };
    expect(withoutSecrets(FIELDS, payload)).toEqual({ name: "Ada", db: { host: "db1" } });
  });

  it("shows what was sent before", () => {
    expect(initialEntries(FIELDS, { name: "Ada", db: { host: "db1" } })).toMatchObject({ name: "Ada", "db.host": "db1", password: "" });
  });
});
