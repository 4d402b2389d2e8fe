/** All keys that do something. */
import { Dialog } from "@/components/Dialog";
import { PAGES } from "./pages";
import styles from "./ShortcutsDialog.module.css";

export function ShortcutsDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const keys: [string[], string][] = [
    [["/"], "Find executions"],
    [["?"], "Show these shortcuts"],
    [["t"], "Change between light and dark"],
    ...PAGES.flatMap(({ nav }): [string[], string][] => (nav ? [[["g", nav.key], `Go to ${nav.label}`]] : [])),
    [["Esc"], "Close what is open"],
  ];
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts">
      <dl className={styles.list}>
        {keys.map(([sequence, what]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              {sequence.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
