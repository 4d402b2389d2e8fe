/** A server of a test's own: the real binary on a free port, with a folder that goes with it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The program that is tested. */
export const BINARY = process.env.NOETL_BINARY ?? fileURLToPath(new URL("../../../target/debug/noetl", import.meta.url));

export interface Start {
  /** Flags beside the place. */
  flags?: string[];
  env?: Record<string, string>;
}

export class Server {
  private process: ChildProcess | undefined;
  private log = "";
  url = "";

  private constructor(
    readonly folder: string,
    private readonly start: Start,
  ) {}

  static async begin(start: Start = {}): Promise<Server> {
    const server = new Server(await mkdtemp(join(tmpdir(), "noetl-ui-")), start);
    await server.up("127.0.0.1:0");
    return server;
  }

  /** Starts it on the same data and the same port again. */
  async again(): Promise<void> {
    await this.up(new URL(this.url).host);
  }

  private async up(listen: string): Promise<void> {
    const child = spawn(BINARY, ["dev", "--listen", listen, "--data", "data", ...(this.start.flags ?? [])], {
      cwd: this.folder,
      env: { ...process.env, ...this.start.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process = child;
    child.stderr?.on("data", (piece: Buffer) => {
      this.log += piece.toString();
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    this.url = await new Promise<string>((resolve, reject) => {
      lines.on("line", (line) => {
        const address = /listening on (\S+)/.exec(line)?.[1];
        if (address) resolve(address);
      });
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${this.log}`)));
    });
  }

  async down(): Promise<void> {
    const child = this.process;
    this.process = undefined;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  async end(): Promise<void> {
    await this.down();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Calls the API as a program would. */
  async call<Answer = Record<string, unknown>>(method: string, path: string, body?: unknown, token?: string): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? null : JSON.parse(text)) as Answer;
  }

  async register(content: string): Promise<void> {
    await this.call("POST", "/api/catalog/register", { content });
  }

  /** Starts a playbook and gives the id of the execution. */
  async execute(path: string, payload: Record<string, unknown> = {}): Promise<string> {
    const { execution_id } = await this.call<{ execution_id: string }>("POST", "/api/execute", { path, payload });
    return String(execution_id);
  }

  /** Waits until an execution is over, by following its events, and gives its status. */
  async ended(id: string): Promise<string> {
    await (await fetch(`${this.url}/api/executions/${id}/stream`)).text();
    return (await this.call<{ status: string }>("GET", `/api/executions/${id}/status`)).status;
  }

  /** Waits until an event of this type has been recorded. */
  async happened(id: string, type: string): Promise<void> {
    const response = await fetch(`${this.url}/api/executions/${id}/stream`);
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = "";
    while (!text.includes(`"event_type":"${type}"`)) {
      const piece = await reader?.read();
      if (!piece || piece.done) throw new Error(`the execution ended without ${type}`);
      text += decoder.decode(piece.value, { stream: true });
    }
    await reader?.cancel();
  }
}
