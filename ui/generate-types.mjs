// Writes src/api/schema.d.ts, the types of the API, from docs/openapi.json.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const document = JSON.parse(await readFile(new URL("../docs/openapi.json", import.meta.url), "utf8"));

// Operations are found by method and path here; their ids are for other generators.
for (const path of Object.values(document.paths)) {
  for (const operation of Object.values(path)) delete operation.operationId;
}

// A field with a default may be left out of what is sent.
const types = await openapiTS(document, { defaultNonNullable: false });
await writeFile(new URL("src/api/schema.d.ts", import.meta.url), astToString(types));
