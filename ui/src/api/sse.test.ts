import { describe, expect, it } from "vitest";
import { MessageReader } from "./sse";

function read(...pieces: string[]) {
  const reader = new MessageReader();
  return pieces.flatMap((piece) => reader.read(piece));
}

describe("reading server-sent events", () => {
  it("gives a message once its empty line has come", () => {
    expect(read("id: 4\ndata: {}\n")).toEqual([]);
    expect(read("id: 4\ndata: {}\n\n")).toEqual([{ id: "4", type: "message", data: "{}" }]);
  });

  it("does not mind where the text is cut", () => {
    const text = 'id: 1\ndata: {"a":1}\n\nevent: end\ndata: {}\n\n';
    expect(read(...text)).toEqual(read(text));
    expect(read(text).map((message) => message.type)).toEqual(["message", "end"]);
  });

  it("joins the lines of a message and passes over comments", () => {
    expect(read(": alive\n\ndata: one\ndata: two\r\n\r\n")).toEqual([{ id: "", type: "message", data: "one\ntwo" }]);
  });

  it("keeps the last id for messages that bring none", () => {
    expect(read("id: 7\ndata: a\n\ndata: b\n\n").map((message) => message.id)).toEqual(["7", "7"]);
  });
});
