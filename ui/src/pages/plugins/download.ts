/** The code of a module as a file. A plain link could not send the token, so the page fetches it and hands it to the browser. */
import { api, ask } from "@/api/client";
import type { Plugin } from "@/api/types";

export async function download({ path, version, media_type }: Plugin) {
  const params = { path: { path }, query: { version } };
  const code = (await ask(api.GET("/api/internal/plugins/{path}", { params, parseAs: "blob" }))) as unknown as Blob;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(code);
  link.download = `${path.split("/").at(-1)}-${version}.${media_type === "text/wat" ? "wat" : "wasm"}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
