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

  it("name the server only where it is not the usual one", () => {
    expect(commandLine(["noetl", "list"], "http://127.0.0.1:8082")).toBe("noetl list");
    expect(commandLine(["noetl", "list"], "https://noetl.example.com")).toBe("noetl list --server https://noetl.example.com");
  });
});
