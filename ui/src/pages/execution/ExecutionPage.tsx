/** One execution: what it does, why it is where it is, what came of it, and what can be done about it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "react-router";
import { isOver } from "@/api/executions";
import type { Json } from "@/api/types";
import { useEventStream } from "@/api/useEventStream";
import { ErrorPanel } from "@/components/ErrorPanel";
import { JsonView } from "@/components/JsonView";
import { Page, Section } from "@/components/Page";
import { Skeleton } from "@/components/Skeleton";
import { StatusBadge } from "@/components/StatusBadge";
import { Actions } from "./Actions";
import { Facts } from "./Facts";
import { detailQuery } from "./queries";

export default function ExecutionPage() {
  const { id = "" } = useParams();
  const queries = useQueryClient();
  const detail = useQuery(detailQuery(id));
  const execution = detail.data;
  useEventStream(execution && !isOver(execution.status) ? `/api/executions/${id}/stream?after=${execution.event_count}` : null, {
    onMessages: () => void queries.invalidateQueries({ queryKey: ["execution", id] }),
  });
  if (detail.error && !execution) {
    return (
      <Page title="Execution">
        <ErrorPanel error={detail.error} />
      </Page>
    );
  }
  if (!execution) {
    return (
      <Page title="Execution">
        <Skeleton lines={8} />
      </Page>
    );
  }
  return (
    <Page
      title={execution.path}
      heading={
        <>
          {execution.path} <StatusBadge status={execution.status} />
        </>
      }
      subtitle={<Facts execution={execution} />}
      actions={<Actions execution={execution} />}
    >
      <Section title="Input">
        <JsonView value={(execution.workload ?? null) as Json} label="The input" />
      </Section>
      <Section title="Result">
        <JsonView value={(execution.result ?? null) as Json} label="The result" />
      </Section>
    </Page>
  );
}
