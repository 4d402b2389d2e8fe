/** Asks before something is taken away for good, does it, and has the lists that showed it asked for anew. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ConfirmDialog } from "./ConfirmDialog";
import { useToasts } from "./Toast";

interface RemoveDialogProps {
  title: string;
  action: string;
  /** What follows from it. */
  consequence: string;
  command: string[];
  remove: () => Promise<unknown>;
  /** What is said afterwards. */
  done: string;
  /** The queries that showed it begin with this. */
  queryKey: string[];
  onClose: () => void;
}

export function RemoveDialog({ title, action, consequence, command, remove, done, queryKey, onClose }: RemoveDialogProps) {
  const queries = useQueryClient();
  const toasts = useToasts();
  const removal = useMutation({
    mutationFn: remove,
    onSuccess: () => {
      toasts.success(done);
      void queries.invalidateQueries({ queryKey });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={title}
      action={action}
      command={command}
      busy={removal.isPending}
      error={removal.error}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    >
      <p>{consequence}</p>
    </ConfirmDialog>
  );
}
