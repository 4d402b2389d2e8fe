/** What can be done to a subscription in each of its states. The server has the last word. */

export interface Action {
  name: "activate" | "pause" | "resume" | "drain" | "deactivate";
  label: string;
  meaning: string;
}

const ACTIVATE: Action = { name: "activate", label: "Activate", meaning: "It takes messages from now on." };
const PAUSE: Action = { name: "pause", label: "Pause", meaning: "It takes no messages until it is resumed." };
const RESUME: Action = { name: "resume", label: "Resume", meaning: "It takes messages again." };
const DRAIN: Action = { name: "drain", label: "Drain", meaning: "It takes no new messages, and what earlier ones started comes to its end." };
const DEACTIVATE: Action = { name: "deactivate", label: "Deactivate", meaning: "It stops at once. It can be activated again." };

const POSSIBLE: Record<string, Action[]> = {
  registered: [ACTIVATE, DEACTIVATE],
  active: [PAUSE, DRAIN, DEACTIVATE],
  paused: [RESUME, DRAIN, DEACTIVATE],
  draining: [DEACTIVATE],
  deactivated: [ACTIVATE],
};

export const possibleActions = (state: string): Action[] => POSSIBLE[state.toLowerCase()] ?? [];
