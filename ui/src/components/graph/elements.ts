/** The nodes and edges of a graph. One that has not changed stays the same object, so that only those that did are drawn anew. */
import { type Edge, MarkerType, type Node } from "@xyflow/react";
import type { Outline } from "@/api/types";
import { arcKey, type RunModel, type StepState } from "@/lib/run-model";
import { HEIGHT, type Places, WIDTH } from "./layout";

export interface StepData extends Record<string, unknown> {
  name: string;
  kinds: string;
  state: StepState | null;
  isEntry: boolean;
  /** There is an execution, of which the state is. */
  isRun: boolean;
}

export interface ArcData extends Record<string, unknown> {
  taken: number;
  when: string | null;
  isRun: boolean;
}

export type StepElement = Node<StepData>;
export type ArcElement = Edge<ArcData>;

export class Elements {
  private readonly nodes = new Map<string, { sign: string; node: StepElement }>();
  private readonly edges = new Map<string, ArcElement>();
  private readonly names: ReadonlySet<string>;

  constructor(
    private readonly outline: Outline,
    private readonly places: Places,
  ) {
    this.names = new Set(outline.steps.map((step) => step.name));
  }

  nodesFor(model: RunModel | null, chosen: string | null): StepElement[] {
    return this.outline.steps.map((step) => {
      const state = model?.steps.get(step.name) ?? null;
      const sign = `${step.name === chosen} ${model !== null} ${signOf(state)}`;
      const known = this.nodes.get(step.name);
      if (known?.sign === sign) return known.node;
      const node: StepElement = {
        id: step.name,
        type: "step",
        position: this.places.get(step.name) ?? { x: 0, y: 0 },
        width: WIDTH,
        height: HEIGHT,
        selected: step.name === chosen,
        ariaLabel: `Step ${step.name}`,
        data: {
          name: step.name,
          kinds: step.tasks.map((task) => task.kind).join(" → "),
          // A copy, since the model changes in place.
          state: state && { ...state, loop: state.loop && { ...state.loop } },
          isEntry: step.name === this.outline.entry,
          isRun: model !== null,
        },
      };
      this.nodes.set(step.name, { sign, node });
      return node;
    });
  }

  edgesFor(model: RunModel | null): ArcElement[] {
    const edges: ArcElement[] = [];
    for (const step of this.outline.steps) {
      for (const [index, arc] of step.arcs.entries()) {
        if (this.names.has(arc.to)) edges.push(this.edge(step.name, index, arc, model));
      }
    }
    return edges;
  }

  private edge(from: string, index: number, arc: Outline["steps"][number]["arcs"][number], model: RunModel | null): ArcElement {
    const id = `${from}/${index}`;
    const taken = model?.arcs.get(arcKey(from, arc.to)) ?? 0;
    const isRun = model !== null;
    const known = this.edges.get(id);
    if (known?.data?.taken === taken && known.data.isRun === isRun) return known;
    const edge: ArcElement = {
      id,
      source: from,
      target: arc.to,
      type: "arc",
      focusable: false,
      data: { taken, when: arc.when ?? null, isRun },
      markerEnd: { type: MarkerType.ArrowClosed, color: taken > 0 ? "var(--accent)" : "var(--line-strong)" },
    };
    this.edges.set(id, edge);
    return edge;
  }
}

/** All of a step that its node shows. */
function signOf(state: StepState | null): string {
  if (state === null) return "";
  const { status, runs, startedAt, endedAt, loop } = state;
  return `${status} ${runs} ${startedAt} ${endedAt} ${loop ? `${loop.done}/${loop.total}/${loop.failed}` : ""}`;
}
