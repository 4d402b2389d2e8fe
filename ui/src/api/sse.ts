/** Reads server-sent events from text that comes in pieces. */

export interface Message {
  /** The place in the stream; a reader that comes back with it misses nothing. */
  id: string;
  type: string;
  data: string;
}

export class MessageReader {
  private rest = "";
  private id = "";
  private type = "";
  private data: string[] = [];

  /** The messages that this piece completes. */
  read(piece: string): Message[] {
    const messages: Message[] = [];
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (this.data.length > 0) messages.push({ id: this.id, type: this.type || "message", data: this.data.join("\n") });
        this.type = "";
        this.data = [];
      } else {
        this.take(line);
      }
    }
    return messages;
  }

  private take(line: string) {
    const colon = line.indexOf(":");
    // A line that begins with a colon is a comment: the server's sign of life.
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.id = value;
    else if (field === "event") this.type = value;
    else if (field === "data") this.data.push(value);
  }
}
