/** The workflow as a graph, with what the execution has made of it so far. */
import "@xyflow/react/dist/style.css";
import dagre from "@dagrejs/dagre";
import { Background, Controls, type Edge, type EdgeProps, BaseEdge, EdgeLabelRenderer, getBezierPath, Handle, MarkerType, type Node, type NodeProps, Position, ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import { memo, useEffect, useMemo, useRef } from "react";
import { useTheme } from "@/app/theme";
import { StatusIcon } from "@/components/StatusBadge";
import { arcKey, type RunModel, type StepState } from "@/lib/run-model";
import { durationText } from "@/lib/time";
import styles from "./GraphView.module.css";
import type { Outline } from "./types";

const WIDTH = 208;
const HEIGHT = 58;
const FIT = { maxZoom: 1, padding: 0.12 };

interface StepData extends Record<string, unknown> {
  name: string;
  kinds: string;
  state: StepState | null;
  isEntry: boolean;
}

interface ArcData extends Record<string, unknown> {
  taken: number;
  when: string | null;
}

const nodeTypes = { step: memo(StepNode) };
const edgeTypes = { arc: memo(ArcEdge) };

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
  const places = useMemo(() => layout(outline), [outline]);
  const before = useRef(new Map<string, { sign: string; node: Node<StepData> }>());
  const frame = useRef<HTMLDivElement>(null);
  const flow = useRef<ReactFlowInstance<Node<StepData>, Edge<ArcData>> | null>(null);
  // The whole graph stays in sight when the room for it changes, as with a step's panel beside it.
  useEffect(() => {
    if (!frame.current) return;
    const observer = new ResizeObserver(() => void flow.current?.fitView(FIT));
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);

  // A node that has not changed stays the same object, so that only those that did are drawn anew.
  const nodes = useMemo(
    () =>
      outline.steps.map((step) => {
        const state = model?.steps.get(step.name) ?? null;
        const sign = JSON.stringify([state, step.name === chosen, places.get(step.name)]);
        const known = before.current.get(step.name);
        if (known?.sign === sign) return known.node;
        const node: Node<StepData> = {
          id: step.name,
          type: "step",
          position: places.get(step.name) ?? { x: 0, y: 0 },
          width: WIDTH,
          height: HEIGHT,
          selected: step.name === chosen,
          ariaLabel: `Step ${step.name}`,
          data: {
            name: step.name,
            kinds: step.tasks.map((task) => task.kind).join(" → "),
            state: state && { ...state, loop: state.loop && { ...state.loop } },
            isEntry: step.name === outline.entry,
          },
        };
        before.current.set(step.name, { sign, node });
        return node;
      }),
    [outline, places, model, chosen, version],
  );
  const edges = useMemo(() => {
    const known = new Set(outline.steps.map((step) => step.name));
    const edges: Edge<ArcData>[] = [];
    for (const step of outline.steps) {
      for (const [index, arc] of step.arcs.entries()) {
        if (!known.has(arc.to)) continue;
        const taken = model?.arcs.get(arcKey(step.name, arc.to)) ?? 0;
        edges.push({
          id: `${step.name}/${index}`,
          source: step.name,
          target: arc.to,
          type: "arc",
          focusable: false,
          data: { taken, when: arc.when ?? null },
          markerEnd: { type: MarkerType.ArrowClosed, color: taken > 0 ? "var(--accent)" : "var(--line-strong)" },
        });
      }
    }
    return edges;
  }, [outline, model, version]);

  return (
    <div ref={frame} className={styles.graph}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        colorMode={theme}
        fitView
        fitViewOptions={FIT}
        onInit={(instance) => {
          flow.current = instance;
        }}
        minZoom={0.05}
        maxZoom={1.6}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        onlyRenderVisibleElements={outline.steps.length > 150}
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
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

function layout(outline: Outline): Map<string, { x: number; y: number }> {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 36, ranksep: 58, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const step of outline.steps) graph.setNode(step.name, { width: WIDTH, height: HEIGHT });
  for (const step of outline.steps) {
    for (const [index, arc] of step.arcs.entries()) {
      if (graph.hasNode(arc.to)) graph.setEdge(step.name, arc.to, {}, String(index));
    }
  }
  dagre.layout(graph);
  return new Map(
    outline.steps.map((step) => {
      const place = graph.node(step.name) as { x: number; y: number };
      return [step.name, { x: place.x - WIDTH / 2, y: place.y - HEIGHT / 2 }];
    }),
  );
}

function StepNode({ data, selected }: NodeProps<Node<StepData>>) {
  const { name, kinds, state, isEntry } = data;
  const status = state?.status ?? "pending";
  const took = state?.startedAt && state.endedAt ? durationText((state.endedAt - state.startedAt) / 1000) : null;
  return (
    <div className={styles.node} data-status={status} data-chosen={selected || undefined} data-entered={state !== null || undefined}>
      {!isEntry && <Handle type="target" position={Position.Top} isConnectable={false} />}
      <div className={styles.nodeTop}>
        <StatusIcon status={status} size={15} />
        <span className={styles.nodeName} title={name}>
          {name}
        </span>
        {state && state.runs > 1 && <span className={styles.runs}>×{state.runs}</span>}
      </div>
      <div className={styles.nodeNote}>
        <span>{kinds}</span>
        {state?.loop ? <LoopWords loop={state.loop} /> : took && <span className="numbers">{took}</span>}
      </div>
      {state?.loop?.total ? <LoopBar done={state.loop.done} failed={state.loop.failed} total={state.loop.total} /> : null}
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}

function LoopWords({ loop }: { loop: NonNullable<StepState["loop"]> }) {
  const total = loop.total === null ? "?" : loop.total.toLocaleString("en");
  return (
    <span className="numbers">
      {loop.done.toLocaleString("en")}/{total}
      {loop.failed > 0 && <span className={styles.failed}> · {loop.failed.toLocaleString("en")} failed</span>}
    </span>
  );
}

function LoopBar({ done, failed, total }: { done: number; failed: number; total: number }) {
  const share = (part: number) => `${Math.min(100, (100 * part) / total)}%`;
  return (
    <div className={styles.bar} aria-hidden>
      <div className={styles.barDone} style={{ width: share(done - failed) }} />
      <div className={styles.barFailed} style={{ width: share(failed) }} />
    </div>
  );
}

function ArcEdge({ id, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, markerEnd, data }: EdgeProps<Edge<ArcData>>) {
  const [path, , labelY] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition });
  const taken = data?.taken ?? 0;
  const when = data?.when;
  // Nearer to where the arc leads, so that labels of arcs that begin together do not cover each other.
  const labelX = sourceX * 0.3 + targetX * 0.7;
  return (
    <>
      <BaseEdge id={id} path={path} {...(markerEnd ? { markerEnd } : {})} className={taken > 0 ? styles.taken : styles.untaken} />
      {(when || taken > 1) && (
        <EdgeLabelRenderer>
          <div
            className={styles.arcLabel}
            data-taken={taken > 0 || undefined}
            title={when ?? undefined}
            style={{ transform: `translate(-50%, -50%) translate(${labelX}px, ${labelY}px)` }}
          >
            {when ? shortened(when) : ""}
            {taken > 1 ? ` ×${taken}` : ""}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
}

function shortened(when: string): string {
  const bare = when.replace(/^\{\{\s*|\s*\}\}$/g, "");
  return bare.length > 28 ? `${bare.slice(0, 27)}…` : bare;
}
