/** The workflow as a graph, with what an execution has made of it so far. */
import "@xyflow/react/dist/style.css";
import { Background, Controls, ReactFlow } from "@xyflow/react";
import { useMemo, useRef } from "react";
import type { Outline } from "@/api/types";
import { useTheme } from "@/app/theme";
import type { RunModel } from "@/lib/run-model";
import { ArcEdge } from "./ArcEdge";
import { Elements } from "./elements";
import styles from "./graph.module.css";
import { layout } from "./layout";
import { StepNode } from "./StepNode";
import { FIT, useSight } from "./useSight";

const nodeTypes = { step: StepNode };
const edgeTypes = { arc: ArcEdge };

/** Above this many steps only those in sight are drawn. */
const MANY = 150;

interface GraphViewProps {
  outline: Outline;
  model: RunModel | null;
  /** Changes whenever the model does. */
  version: number;
  chosen: string | null;
  onChoose: (step: string) => void;
}

export default function GraphView({ outline, model, version, chosen, onChoose }: GraphViewProps) {
  const theme = useTheme();
  const frame = useRef<HTMLDivElement>(null);
  const places = useMemo(() => layout(outline), [outline]);
  const elements = useMemo(() => new Elements(outline, places), [outline, places]);
  // The model changes in place, and the version tells of it.
  const nodes = useMemo(() => elements.nodesFor(model, chosen), [elements, model, chosen, version]);
  const edges = useMemo(() => elements.edgesFor(model), [elements, model, version]);
  const matter = useMemo(() => model?.focus() ?? [], [model, version]);
  const sight = useSight({ frame, places, chosen, matter, entry: outline.entry });
  return (
    <div ref={frame} className={styles.graph}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        colorMode={theme}
        fitViewOptions={FIT}
        {...sight}
        minZoom={0.02}
        maxZoom={1.6}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        onlyRenderVisibleElements={outline.steps.length > MANY}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, node) => onChoose(node.id)}
        onKeyDown={(event) => {
          const step = (event.target as HTMLElement).closest<HTMLElement>("[data-id]")?.dataset.id;
          if (step && (event.key === "Enter" || event.key === " ")) {
            event.preventDefault();
            onChoose(step);
          }
        }}
      >
        <Background gap={20} size={1} />
        <Controls showInteractive={false} fitViewOptions={FIT} />
      </ReactFlow>
    </div>
  );
}
