/** Asks before a text that was changed is left: for another page of ours in a dialog, for anything else with the browser's own question. */
import { type RefObject, useCallback, useEffect } from "react";
import { useBlocker } from "react-router";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";

interface LeaveGuardProps {
  isChanged: boolean;
  /** Set once the text is safe, since the page is left before it is drawn again. */
  isSafe: RefObject<boolean>;
}

export function LeaveGuard({ isChanged, isSafe }: LeaveGuardProps) {
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isChanged]);
  const leaving = useBlocker(useCallback(() => isChanged && !isSafe.current, [isChanged, isSafe]));
  if (leaving.state !== "blocked") return null;
  return (
    <Dialog
      open
      onClose={leaving.reset}
      title="Leave what was changed?"
      actions={
        <>
          <Button onClick={leaving.reset}>Keep writing</Button>
          <Button kind="danger" onClick={leaving.proceed}>
            Leave without registering
          </Button>
        </>
      }
    >
      <p>The text was changed and has not been registered. It is lost when you leave.</p>
    </Dialog>
  );
}
