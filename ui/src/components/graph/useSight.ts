/**
 * What of a graph is in sight: all of it, where it can still be read then; else the steps that matter. The view goes along
 * when none of them is in sight any more, until somebody moves it. A step that is chosen is always brought into sight.
 */
import type { ReactFlowInstance } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import type { ArcElement, StepElement } from "./elements";
import { HEIGHT, type Places, WIDTH } from "./layout";

export const FIT = { maxZoom: 1, padding: 0.12 };
/** Names of steps can be read from this size on. */
const READABLE = 0.5;

interface Sight {
  frame: RefObject<HTMLDivElement | null>;
  places: Places;
  chosen: string | null;
  /** The steps that matter when none is chosen, the first of them most. */
  matter: readonly string[];
  entry: string;
}

export function useSight({ frame, places, chosen, matter, entry }: Sight) {
  const flow = useRef<ReactFlowInstance<StepElement, ArcElement> | null>(null);
  const isMoved = useRef(false);
  const wanted = useRef(entry);
  wanted.current = chosen ?? matter[0] ?? entry;

  const isInSight = useCallback(
    (step: string) => {
      const place = places.get(step);
      const element = frame.current;
      if (!flow.current || !element || !place) return false;
      const { x, y, zoom } = flow.current.getViewport();
      const left = place.x * zoom + x;
      const top = place.y * zoom + y;
      const fits = left >= 0 && top >= 0 && left + WIDTH * zoom <= element.clientWidth && top + HEIGHT * zoom <= element.clientHeight;
      return fits && zoom >= READABLE;
    },
    [frame, places],
  );

  const goTo = useCallback(
    (step: string) => {
      const place = places.get(step);
      if (!flow.current || !place || isInSight(step)) return;
      const zoom = Math.max(flow.current.getZoom(), READABLE);
      void flow.current.setCenter(place.x + WIDTH / 2, place.y + HEIGHT / 2, { zoom });
    },
    [places, isInSight],
  );

  const showAll = useCallback(async () => {
    if (!flow.current) return;
    await flow.current.fitView(FIT);
    if (flow.current.getZoom() < READABLE) goTo(wanted.current);
  }, [goTo]);

  useEffect(() => {
    if (!frame.current) return;
    // The room for the graph changes, as with a step's panel beside it.
    const observer = new ResizeObserver(() => void showAll());
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, [frame, showAll]);

  useEffect(() => {
    if (chosen !== null) goTo(chosen);
  }, [chosen, goTo]);
  useEffect(() => {
    const [first] = matter;
    if (first !== undefined && chosen === null && !isMoved.current && !matter.some(isInSight)) goTo(first);
  }, [matter, chosen, goTo, isInSight]);

  return {
    onInit: (instance: ReactFlowInstance<StepElement, ArcElement>) => {
      flow.current = instance;
      void showAll();
    },
    /** Only what a person does comes with an event. */
    onMoveStart: (event: unknown) => {
      if (event) isMoved.current = true;
    },
  };
}
