import { describe, expect, it } from "vitest";
import { commandLine } from "./command-line";

describe("command lines", () => {
  it("are plain where the words are", () => {
    expect(commandLine(["noetl", "exec", "examples/hello", "--set", "name=Ada"], null)).toBe("noetl exec examples/hello --set name=Ada");
  });

  it("quote what the shell would take apart", () => {
    expect(commandLine(["noetl", "exec", "a b", "--payload", `{"who": "it's me"}`], null)).toBe(
      `noetl exec 'a b' --payload '{"who": "it'\\''s me"}'`,
    );
  });

  it("are repeated for many", () => {
    expect(commandLine(["noetl", "cancel"], "https://noetl.example.com", ["1", "2"])).toBe(
      'for each in 1 2; do noetl cancel "$each" --server https://noetl.example.com; done',
    );
    expect(commandLine(["noetl", "cancel"], null, ["1"])).toBe("noetl cancel 1");
  });

  it("name the server only where it is not the usual one", () => {
    expect(commandLine(["noetl", "list"], "http://127.0.0.1:8082")).toBe("noetl list");
    expect(commandLine(["noetl", "list"], "https://noetl.example.com")).toBe("noetl list --server https://noetl.example.com");
  });
});
