/** A value that a step came to: as a tree, and as a table where it is one. Values that are stored aside are loaded on demand. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "@/api/client";
import type { Json } from "@/api/types";
import { bytesText } from "@/lib/bytes";
import { type Table, tableOf } from "@/lib/table";
import { Button } from "./Button";
import { CodeBlock } from "./CodeBlock";
import { ErrorPanel } from "./ErrorPanel";
import { JsonView } from "./JsonView";
import styles from "./ValueView.module.css";

/** Rows of a table that are shown at a time. */
const PAGE = 50;

export function ValueView({ value, label }: { value: Json; label: string }) {
  const stored = storedAside(value);
  const [load, setLoad] = useState(false);
  const loaded = useQuery({
    queryKey: ["result", stored?.ref],
    queryFn: ({ signal }) => ask(api.GET("/api/result/resolve", { params: { query: { ref: stored?.ref ?? "" } }, signal })) as Promise<unknown>,
    enabled: load && stored !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (stored === null) return <Shown value={value} label={label} />;
  return (
    <div className={styles.stack}>
      <div className={styles.stored}>
        <span className="muted">
          Stored aside, {bytesText(stored.bytes)}. {load ? "" : "Its small fields are shown."}
        </span>
        {!load && <Button onClick={() => setLoad(true)}>Load all of it</Button>}
      </div>
      {loaded.error && <ErrorPanel error={loaded.error} />}
      <Shown value={loaded.data === undefined ? value : (loaded.data as Json)} label={label} />
    </div>
  );
}

function Shown({ value, label }: { value: Json; label: string }) {
  const widget = widgetOf(value);
  if (widget !== null) {
    return (
      <div className={styles.stack}>
        <section className={styles.widget} aria-label={`Widget ${widget.type}`}>
          <div className={styles.widgetName}>{widget.type}</div>
          <Plain value={widget.args} label={`${label}, drawn`} />
        </section>
        <JsonView value={value} label={label} />
      </div>
    );
  }
  return <Plain value={value} label={label} />;
}

/** What a result asks to be drawn with: `render: {type: "app:…", args}`. Its arguments are shown as text, table or tree. */
function widgetOf(value: Json): { type: string; args: Json } | null {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const { render } = value;
  if (render === null || typeof render !== "object" || render === undefined || Array.isArray(render)) return null;
  return typeof render.type === "string" ? { type: render.type, args: render.args ?? null } : null;
}

function Plain({ value, label }: { value: Json; label: string }) {
  const table = tableOf(value);
  const [asTable, setAsTable] = useState(true);
  if (typeof value === "string" && value.includes("\n")) return <CodeBlock text={value} label={label} />;
  if (table === null) return <JsonView value={value} label={label} />;
  return (
    <div className={styles.stack}>
      <div className={styles.choice} role="group" aria-label="How to show it">
        <Button kind={asTable ? "plain" : "quiet"} aria-pressed={asTable} onClick={() => setAsTable(true)}>
          Table
        </Button>
        <Button kind={asTable ? "quiet" : "plain"} aria-pressed={!asTable} onClick={() => setAsTable(false)}>
          JSON
        </Button>
      </div>
      {asTable ? <TableView table={table} label={label} /> : <JsonView value={value} label={label} />}
    </div>
  );
}

function TableView({ table, label }: { table: Table; label: string }) {
  const [page, setPage] = useState(0);
  const pages = Math.ceil(table.rows.length / PAGE);
  const from = page * PAGE;
  return (
    <div className={styles.frame}>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={label}>
        <table className={styles.table}>
          <thead>
            <tr>
              {table.columns.map((column, index) => (
                <th key={column} scope="col" data-number={table.rows.every((row) => typeof row[index] === "number") || undefined}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.slice(from, from + PAGE).map((row, index) => (
              <tr key={from + index}>
                {row.map((cell, column) => (
                  <td key={table.columns[column]} data-number={typeof cell === "number" || undefined}>
                    {typeof cell === "string" ? cell : JSON.stringify(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <div className={styles.paging}>
          <span className="muted numbers">
            {from + 1}–{Math.min(from + PAGE, table.rows.length)} of {table.rows.length.toLocaleString("en")}
          </span>
          <span className={styles.choice}>
            <Button disabled={page === 0} onClick={() => setPage(page - 1)}>
              Before
            </Button>
            <Button disabled={page >= pages - 1} onClick={() => setPage(page + 1)}>
              After
            </Button>
          </span>
        </div>
      )}
    </div>
  );
}

function storedAside(value: Json): { ref: string; bytes: number } | null {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const { _ref: ref, _bytes: bytes } = value;
  return typeof ref === "string" ? { ref, bytes: typeof bytes === "number" ? bytes : 0 } : null;
}
