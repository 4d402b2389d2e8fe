/** What can be done to an execution, as its status allows. */
import { Ban, MessageSquareReply, Pause, Play, RotateCcw } from "lucide-react";
import { useState } from "react";
import { isOver } from "@/api/executions";
import type { ExecutionDetail } from "@/api/types";
import { Button } from "@/components/Button";
import { RerunDialog } from "./RerunDialog";
import { SignalDialog } from "./SignalDialog";
import { SteerDialog, type Steering } from "./SteerDialog";

export function Actions({ execution }: { execution: ExecutionDetail }) {
  const id = String(execution.execution_id);
  const [open, setOpen] = useState<Steering | "rerun" | "signal" | null>(null);
  const close = () => setOpen(null);
  const over = isOver(execution.status);
  return (
    <>
      {!over && (
        <>
          {execution.status === "PAUSED" ? (
            <Button icon={<Play size={14} />} onClick={() => setOpen("resume")}>
              Resume
            </Button>
          ) : (
            <Button icon={<Pause size={14} />} onClick={() => setOpen("pause")}>
              Pause
            </Button>
          )}
          <Button icon={<MessageSquareReply size={14} />} onClick={() => setOpen("signal")}>
            Signal
          </Button>
          <Button kind="danger" icon={<Ban size={14} />} onClick={() => setOpen("cancel")}>
            Cancel
          </Button>
        </>
      )}
      <Button kind={over ? "primary" : "plain"} icon={<RotateCcw size={14} />} onClick={() => setOpen("rerun")}>
        Run again
      </Button>
      {open === "signal" && <SignalDialog id={id} onClose={close} />}
      {open === "rerun" && <RerunDialog execution={execution} onClose={close} />}
      {(open === "pause" || open === "resume" || open === "cancel") && <SteerDialog id={id} steering={open} onClose={close} />}
    </>
  );
}
