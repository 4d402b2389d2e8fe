/** Welcomes somebody whose server has never run anything, and runs the first playbook with them. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { useNavigate } from "react-router";
import { api, ask } from "@/api/client";
import { Button } from "@/components/Button";
import { CliLine } from "@/components/CliLine";
import { CodeBlock } from "@/components/CodeBlock";
import { ErrorPanel } from "@/components/ErrorPanel";
import styles from "./FirstRun.module.css";

const PATH = "examples/hello";

/** For a catalog that has no examples. */
const HELLO = `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: hello
  path: examples/hello

workload:
  name: world

workflow:
  - step: start
    tool:
      kind: noop
      result:
        greeting: "Hello, {{ workload.name }}!"
`;

export function FirstRun() {
  const navigate = useNavigate();
  const known = useQuery({
    queryKey: ["catalog", "first-run"],
    queryFn: ({ signal }) => ask(api.POST("/api/catalog/list", { body: { path: PATH, latest_only: true, include_content: true }, signal })),
  });
  const example = known.data?.entries[0];
  const run = useMutation({
    mutationFn: async () => {
      if (!example) await ask(api.POST("/api/catalog/register", { body: { content: HELLO } }));
      return ask(api.POST("/api/execute", { body: { path: PATH } }));
    },
    onSuccess: (started) => navigate(`/executions/${started.execution_id}`),
  });
  return (
    <section className={styles.first} aria-labelledby="first-run">
      <div className={styles.words}>
        <h2 id="first-run">Run your first playbook</h2>
        <p>
          A playbook is a workflow in YAML: steps that call tools, and arcs between them. This one says hello. Run it, and watch its graph, its events
          and its result as they come.
        </p>
        <div>
          <Button kind="primary" icon={<Play size={15} />} busy={run.isPending} disabled={known.isPending} onClick={() => run.mutate()}>
            Run {PATH}
          </Button>
        </div>
        {run.error && <ErrorPanel error={run.error} />}
        <p className="muted">The same from a terminal:</p>
        <CliLine command={["noetl", "exec", PATH, "--follow"]} />
      </div>
      <CodeBlock text={example?.content ?? HELLO} firstLine={1} label={`The playbook ${PATH}`} />
    </section>
  );
}
