/** Something that is asked of an execution: when it is done the server's words are shown and the page asks anew. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useToasts } from "@/components/Toast";

export function useSteering<Wish = void>(id: string, call: (wish: Wish) => Promise<{ message: string }>, onDone?: () => void) {
  const queries = useQueryClient();
  const toasts = useToasts();
  return useMutation({
    mutationFn: call,
    onSuccess: ({ message }) => {
      toasts.success(message);
      onDone?.();
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ["execution", id] }),
  });
}
