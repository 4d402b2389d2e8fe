/** Short notes about what an action came to. */
import { CircleAlert, CircleCheck, X } from "lucide-react";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { asApiError } from "@/api/error";
import styles from "./Toast.module.css";

interface Note {
  id: number;
  tone: "ok" | "bad";
  text: string;
  detail?: string | undefined;
}

interface Toasts {
  success: (text: string) => void;
  failure: (error: unknown) => void;
}

const Context = createContext<Toasts>({ success: () => {}, failure: () => {} });

const SHOWN_FOR = { ok: 5_000, bad: 12_000 };
let next = 1;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [notes, setNotes] = useState<Note[]>([]);
  const dismiss = useCallback((id: number) => setNotes((notes) => notes.filter((note) => note.id !== id)), []);
  const toasts = useMemo<Toasts>(() => {
    const show = (note: Omit<Note, "id">) => {
      const id = next++;
      setNotes((notes) => [...notes.slice(-3), { ...note, id }]);
      setTimeout(() => dismiss(id), SHOWN_FOR[note.tone]);
    };
    return {
      success: (text) => show({ tone: "ok", text }),
      failure: (problem) => {
        const error = asApiError(problem);
        show({ tone: "bad", text: `${error.message} (${error.code})`, detail: error.help });
      },
    };
  }, [dismiss]);
  return (
    <Context.Provider value={toasts}>
      {children}
      <Notes notes={notes} dismiss={dismiss} />
    </Context.Provider>
  );
}

function Notes({ notes, dismiss }: { notes: Note[]; dismiss: (id: number) => void }) {
  return (
    <div className={styles.notes} role="status" aria-live="polite">
      {notes.map(({ id, tone, text, detail }) => (
        <div key={id} className={styles.note} data-tone={tone}>
          {tone === "ok" ? <CircleCheck size={16} aria-hidden /> : <CircleAlert size={16} aria-hidden />}
          <div className={styles.text}>
            <div>{text}</div>
            {detail && <div className="muted">{detail}</div>}
          </div>
          <button type="button" className={styles.close} aria-label="Dismiss" onClick={() => dismiss(id)}>
            <X size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}

export function useToasts(): Toasts {
  return useContext(Context);
}
