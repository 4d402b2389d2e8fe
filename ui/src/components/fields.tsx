/** Fields of forms, each with its label and, where there is something to say, a hint or what is wrong. */
import { type InputHTMLAttributes, type ReactNode, useId } from "react";
import styles from "./fields.module.css";

interface Common {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  /** The label is read out and not shown. */
  bare?: boolean;
}

function Frame({ id, label, hint, error, bare, children }: Common & { id: string; children: ReactNode }) {
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={bare ? "visually-hidden" : styles.label}>
        {label}
      </label>
      {children}
      {error ? (
        <div id={`${id}-note`} className={styles.error} role="alert">
          {error}
        </div>
      ) : (
        hint && (
          <div id={`${id}-note`} className={styles.hint}>
            {hint}
          </div>
        )
      )}
    </div>
  );
}

const noted = (id: string, { hint, error }: Common) => (hint || error ? { "aria-describedby": `${id}-note` } : {});

type TextProps = Common & { value: string; onChange: (value: string) => void } & Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "value">;

export function TextField({ label, hint, error, bare, value, onChange, ...rest }: TextProps) {
  const id = useId();
  const common = { label, hint, error, bare: bare ?? false };
  return (
    <Frame id={id} {...common}>
      <input
        id={id}
        className={styles.input}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        aria-invalid={error ? true : undefined}
        {...noted(id, common)}
        {...rest}
      />
    </Frame>
  );
}

type AreaProps = Common & { value: string; onChange: (value: string) => void; rows?: number; code?: boolean };

export function TextArea({ label, hint, error, bare, value, onChange, rows = 6, code = false }: AreaProps) {
  const id = useId();
  const common = { label, hint, error, bare: bare ?? false };
  return (
    <Frame id={id} {...common}>
      <textarea
        id={id}
        className={styles.input}
        data-code={code || undefined}
        rows={rows}
        value={value}
        spellCheck={!code}
        onChange={(event) => onChange(event.target.value)}
        aria-invalid={error ? true : undefined}
        {...noted(id, common)}
      />
    </Frame>
  );
}

type SelectProps<Value extends string> = Common & {
  value: Value;
  onChange: (value: Value) => void;
  options: readonly { value: Value; label: string }[];
};

export function SelectField<Value extends string>({ label, hint, error, bare, value, onChange, options }: SelectProps<Value>) {
  const id = useId();
  const common = { label, hint, error, bare: bare ?? false };
  return (
    <Frame id={id} {...common}>
      <select id={id} className={styles.input} value={value} onChange={(event) => onChange(event.target.value as Value)} {...noted(id, common)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Frame>
  );
}

export function CheckField({ label, checked, onChange }: { label: string; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label className={styles.check}>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  );
}

type RadioProps<Value extends string> = {
  legend: string;
  value: Value;
  onChange: (value: Value) => void;
  options: readonly { value: Value; label: string; hint?: string; disabled?: boolean }[];
};

export function RadioField<Value extends string>({ legend, value, onChange, options }: RadioProps<Value>) {
  const name = useId();
  return (
    <fieldset className={styles.radios}>
      <legend className={styles.label}>{legend}</legend>
      {options.map((option) => (
        <label key={option.value} className={styles.radio}>
          <input
            type="radio"
            name={name}
            checked={value === option.value}
            disabled={option.disabled}
            onChange={() => onChange(option.value)}
          />
          <span>
            {option.label}
            {option.hint && <span className={styles.hint}>{option.hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
