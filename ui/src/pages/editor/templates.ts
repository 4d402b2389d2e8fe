/** What a new document can begin with: the examples of the project, and a short one of each kind. */

// Beside the examples are their tests.
const EXAMPLES = import.meta.glob<string>(["../../../../examples/*.yaml", "!../../../../examples/*.test.yaml"], { query: "?raw", import: "default" });

const SUBSCRIPTION = `apiVersion: noetl.io/v1
kind: Subscription
metadata:
  name: orders
  path: shop/orders
spec:
  source: nats
  mode: pull
  activation: continuous
  url: nats://localhost:4222
  stream: orders
  consumer: noetl
  subject: orders
  dispatch:
    playbook: examples/hello
`;

export const BLANK = `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: my_playbook
  path: my/playbook
  description: What it is for

workload:
  name: world

workflow:
  - step: start
    tool:
      kind: noop
      result:
        greeting: "Hello, {{ workload.name }}!"
`;

export interface Template {
  name: string;
  load: () => Promise<string>;
}

const nameOf = (file: string) => file.replace(/^.*\//, "").replace(/\.yaml$/, "");

export const TEMPLATES: Template[] = [
  { name: "blank", load: async () => BLANK },
  ...Object.entries(EXAMPLES).map(([file, load]) => ({ name: nameOf(file), load })),
  { name: "subscription", load: async () => SUBSCRIPTION },
];
