/** What went wrong with a request: a sentence, a stable code and what can be done. */
import type { Diagnostic } from "./types";

export class ApiError extends Error {
  constructor(
    message: string,
    /** The code that docs/errors explains; `unreachable` when there was no answer. */
    readonly code: string,
    /** 0 when there was no answer. */
    readonly status: number,
    readonly help?: string,
    readonly diagnostics: Diagnostic[] = [],
  ) {
    super(message);
    this.name = "ApiError";
  }

  static unreachable(): ApiError {
    return new ApiError("The server does not answer.", "unreachable", 0, "See whether it runs; the page tries again by itself.");
  }

  /** From the body of an answer, which has the API's own shape unless something in between wrote it. */
  static of(status: number, body: unknown): ApiError {
    const told = (typeof body === "object" && body !== null ? body : {}) as {
      error?: unknown;
      message?: unknown;
      code?: unknown;
      help?: unknown;
      diagnostics?: Diagnostic[];
    };
    const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
    return new ApiError(
      text(told.error) ?? text(told.message) ?? `The server answered with status ${status}.`,
      text(told.code) ?? `http_${status}`,
      status,
      text(told.help),
      Array.isArray(told.diagnostics) ? told.diagnostics : [],
    );
  }

  get isRetryable(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(error instanceof Error ? error.message : String(error), "page_error", 0);
}
