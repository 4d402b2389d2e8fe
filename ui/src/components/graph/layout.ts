/** Where the steps of a playbook stand: from the entry downwards. */
import dagre from "@dagrejs/dagre";
import type { Outline } from "@/api/types";

export const WIDTH = 208;
export const HEIGHT = 58;

export type Places = ReadonlyMap<string, { x: number; y: number }>;

export function layout(outline: Outline): Places {
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
