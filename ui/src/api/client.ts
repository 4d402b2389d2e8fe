/** Typed calls to the API: `await ask(api.GET("/api/executions", { params: … }))` gives the data or throws an `ApiError`. */
import createClient, { type Middleware } from "openapi-fetch";
import { ApiError } from "./error";
import type { paths } from "./schema";
import { authorization, currentToken, tokenIsNeeded } from "./token";

const withToken: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(authorization())) request.headers.set(name, value);
    return request;
  },
  onResponse({ request, response }) {
    // An answer to an older token says nothing about the present one.
    const sent = request.headers.get("Authorization");
    const now = authorization(currentToken()).Authorization ?? null;
    if (response.status === 401 && sent === now) tokenIsNeeded();
    return response;
  },
};

export const api = createClient<paths>({ baseUrl: location.origin });
api.use(withToken);

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

export async function ask<Data>(call: Promise<Answer<Data>>): Promise<NonNullable<Data>> {
  let answer: Answer<Data>;
  try {
    answer = await call;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw ApiError.unreachable();
  }
  if (answer.data === undefined || answer.data === null || !answer.response.ok) {
    throw ApiError.of(answer.response.status, answer.error);
  }
  return answer.data;
}

/** An answer that is no JSON, such as the metrics. */
export async function askText(path: string, signal?: AbortSignal): Promise<string> {
  const init: RequestInit = { headers: authorization() };
  if (signal) init.signal = signal;
  const response = await fetch(path, init).catch(() => {
    throw ApiError.unreachable();
  });
  if (response.status === 401) tokenIsNeeded();
  const text = await response.text();
  if (!response.ok) throw ApiError.of(response.status, parsed(text));
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
