/** Text of a program or a document, with line numbers where lines are talked about. */
import { useEffect, useRef } from "react";
import { CopyButton } from "./CopyButton";
import styles from "./CodeBlock.module.css";

interface CodeBlockProps {
  text: string;
  label?: string;
  /** The number of the first line; without it lines are not numbered. */
  firstLine?: number;
  /** A line that stands out. It is scrolled to. */
  mark?: number | undefined;
  /** Why it stands out: something is wrong there, or it was chosen. */
  markTone?: "bad" | "accent";
  maxHeight?: "low" | "high";
}

export function CodeBlock({ text, label = "Text", firstLine, mark, markTone = "bad", maxHeight = "low" }: CodeBlockProps) {
  const marked = useRef<HTMLSpanElement>(null);
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (marked.current && box.current) {
      box.current.scrollTop = marked.current.offsetTop - box.current.clientHeight / 2;
    }
  }, [mark, text]);
  return (
    <div className={styles.block}>
      <pre ref={box} className={styles.pre} data-height={maxHeight} tabIndex={0} aria-label={label} role="region">
        {firstLine === undefined
          ? text
          : text.split("\n").map((line, index) => {
              const number = firstLine + index;
              const isMarked = number === mark;
              return (
                <span key={number} ref={isMarked ? marked : undefined} className={styles.line} data-marked={isMarked ? markTone : undefined}>
                  <span className={styles.number} data-number={number} aria-hidden />
                  {line}
                  {"\n"}
                </span>
              );
            })}
      </pre>
      <div className={styles.copy}>
        <CopyButton text={text} />
      </div>
    </div>
  );
}
