/**
 * A table of rows from the API. Pages are by key: the caller keeps where a page begins, and `paging` has what leads to
 * the ones beside it. Columns that matter less leave on narrow screens.
 */
import { ChevronLeft, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./Button";
import styles from "./DataTable.module.css";
import { ErrorPanel } from "./ErrorPanel";
import { Skeleton } from "./Skeleton";

export interface Column<Row> {
  /** Stands in the head, and names the column. */
  title: string;
  cell: (row: Row) => ReactNode;
  align?: "left" | "right";
  /** It is shown only from this width on. */
  from?: "medium" | "wide";
  /** It takes the room that is left, and cuts off what does not fit. */
  grow?: boolean;
}

export interface Paging {
  onNewer?: (() => void) | undefined;
  onOlder?: (() => void) | undefined;
  /** What is shown, in words. */
  note?: ReactNode;
}

interface DataTableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[] | undefined;
  rowKey: (row: Row) => string;
  /** Shown when there are no rows. */
  empty: ReactNode;
  error?: unknown;
  paging?: Paging;
  selection?: {
    chosen: ReadonlySet<string>;
    onChange: (chosen: Set<string>) => void;
    /** What a row is called when its box is read out. */
    name: (row: Row) => string;
  };
}

export function DataTable<Row>({ label, columns, rows, rowKey, empty, error, paging, selection }: DataTableProps<Row>) {
  if (error && rows === undefined) return <ErrorPanel error={error} />;
  if (rows === undefined) return <Skeleton lines={8} />;
  const keys = rows.map(rowKey);
  const allChosen = selection !== undefined && keys.length > 0 && keys.every((key) => selection.chosen.has(key));
  const choose = (wanted: string[], on: boolean) => {
    const chosen = new Set(selection?.chosen);
    for (const key of wanted) {
      if (on) chosen.add(key);
      else chosen.delete(key);
    }
    selection?.onChange(chosen);
  };
  return (
    <div className={styles.frame}>
      {error !== undefined && error !== null && <ErrorPanel error={error} />}
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={label}>
        {rows.length === 0 ? (
          empty
        ) : (
          <table className={styles.table}>
            <thead>
              <tr>
                {selection && (
                  <th className={styles.box}>
                    <input type="checkbox" aria-label="Select all on this page" checked={allChosen} onChange={(event) => choose(keys, event.target.checked)} />
                  </th>
                )}
                {columns.map((column) => (
                  <th key={column.title} scope="col" data-align={column.align} data-from={column.from}>
                    {column.title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => {
                const key = keys[index] ?? "";
                const isChosen = selection?.chosen.has(key) ?? false;
                return (
                  <tr key={key} data-chosen={isChosen || undefined}>
                    {selection && (
                      <td className={styles.box}>
                        <input
                          type="checkbox"
                          aria-label={`Select ${selection.name(row)}`}
                          checked={isChosen}
                          onChange={(event) => choose([key], event.target.checked)}
                        />
                      </td>
                    )}
                    {columns.map((column) => (
                      <td key={column.title} data-align={column.align} data-from={column.from} data-grow={column.grow || undefined}>
                        {column.cell(row)}
                      </td>
                    ))}
                  </tr>
                );
              })}
            </tbody>
          </table>
        )}
      </div>
      {paging && (paging.onNewer || paging.onOlder || paging.note) && (
        <div className={styles.paging}>
          <span className="muted numbers">{paging.note}</span>
          <span className={styles.pagingButtons}>
            <Button icon={<ChevronLeft size={15} />} disabled={!paging.onNewer} onClick={paging.onNewer}>
              Newer
            </Button>
            <Button disabled={!paging.onOlder} onClick={paging.onOlder}>
              Older
              <ChevronRight size={15} />
            </Button>
          </span>
        </div>
      )}
    </div>
  );
}
