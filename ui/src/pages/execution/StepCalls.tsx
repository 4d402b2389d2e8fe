/** What a step called its tools with, rendered again by the server: workers keep nothing of it, since secrets may be in it. */
import { useQuery } from "@tanstack/react-query";
import { ToolCall } from "@/components/ToolCall";
import { Skeleton } from "@/components/Skeleton";
import { callsQuery } from "./queries";

/** `visit` changes when the step calls again. */
export function StepCalls({ id, step, visit }: { id: string; step: string; visit: string }) {
  const calls = useQuery(callsQuery(id, step, visit));
  if (calls.error) return <p className="muted">It can't be said: {calls.error.message}</p>;
  if (!calls.data) return <Skeleton />;
  const { untold, error, item } = calls.data;
  if (untold) return <p className="muted">It can't be said: {untold}.</p>;
  return (
    <>
      {typeof item === "number" && <p className="muted">Of item {item}, the latest of the loop.</p>}
      {error && <p className="muted">Nothing was called: {error}</p>}
      {calls.data.calls.map((call) => (
        <ToolCall key={call.label} call={call} />
      ))}
    </>
  );
}
