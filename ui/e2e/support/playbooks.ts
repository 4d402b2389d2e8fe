/** Playbooks that the tests run. */

export const FAILING = `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: failing
  path: tests/failing
workload:
  n: 3
workflow:
  - step: start
    tool:
      kind: noop
      result: {n: "{{ workload.n }}"}
    next:
      arcs:
        - step: divide
          when: "{{ workload.n > 0 }}"
        - step: other
  - step: divide
    tool:
      kind: python
      input:
        n: "{{ start.n }}"
      spec:
        policy:
          rules:
            - when: "{{ output.error.retryable }}"
              then: {do: retry, attempts: 3}
            - when: "{{ output.status == 'error' }}"
              then: {do: fail}
      code: |
        def helper(x):
            return 10 // (x - 3)

        print("about to divide")
        result = {"v": helper(n)}
  - step: other
    tool: {kind: noop}
`;

/** Waits for a signal at its second step. */
export const WAITING = `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: waiting
  path: tests/waiting
workflow:
  - step: start
    tool: {kind: noop}
    next: {arcs: [{step: ask}]}
  - step: ask
    tool:
      kind: wait
      signal: approval
      prompt: Shall we go on?
      timeout_seconds: 86400
    next:
      arcs:
        - step: yes
          when: "{{ ask.approved }}"
        - step: no
  - step: yes
    tool: {kind: noop, result: {answer: "approved by {{ ask.by }}"}}
  - step: no
    tool: {kind: noop, result: {answer: rejected}}
`;

export const LOOP = `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: loop
  path: tests/loop
workload:
  count: 10000
workflow:
  - step: start
    tool: {kind: noop}
    next: {arcs: [{step: many}]}
  - step: many
    loop:
      in: "{{ range(workload.count) | list }}"
      iterator: n
      spec: {mode: parallel, max_in_flight: 50}
    tool: {kind: noop, result: {n: "{{ iter.n }}"}}
`;

export const MARKUP = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

/** Puts markup wherever text of a playbook's author or of its data is shown. */
export const HOSTILE = `apiVersion: noetl.io/v2
kind: Playbook
metadata:
  name: hostile
  path: tests/hostile
  labels: {note: '<b>bold</b>'}
workload:
  markup: '${MARKUP}'
workflow:
  - step: start
    desc: '${MARKUP}'
    tool:
      kind: python
      input: {markup: "{{ workload.markup }}"}
      code: |
        print(markup)
        result = {"markup": markup, markup: "as a name"}
    next: {arcs: [{step: fails, when: "{{ '<u>' != '</u>' }}"}]}
  - step: fails
    tool:
      kind: python
      input: {markup: "{{ workload.markup }}"}
      code: |
        raise ValueError(markup)
`;

const document = (name: string, steps: string[]) =>
  `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: ${name}, path: tests/${name}}\nworkflow:\n${steps.join("\n")}\n`;

const stepOf = (name: string, tool: string, next: string[]) =>
  `  - step: ${name}\n    tool: ${tool}${next.length === 0 ? "" : `\n    next: {spec: {mode: inclusive}, arcs: [${next.map((to) => `{step: ${to}}`).join(", ")}]}`}`;

/** A chain of so many steps. */
export function chain(length: number, tool = "{kind: noop}"): string {
  const name = (index: number) => (index === 0 ? "start" : `s${index}`);
  return document(
    "chain",
    Array.from({ length }, (_, index) => stepOf(name(index), tool, index + 1 < length ? [name(index + 1)] : [])),
  );
}

/** A step from which so many branches of so many steps go out. */
export function grid(branches: number, length: number, tool: string): string {
  const name = (branch: number, index: number) => `b${branch}_${index}`;
  const steps = Array.from({ length: branches }, (_, branch) =>
    Array.from({ length }, (_, index) => stepOf(name(branch, index), tool, index + 1 < length ? [name(branch, index + 1)] : [])),
  );
  const first = Array.from({ length: branches }, (_, branch) => name(branch, 0));
  return document("grid", [stepOf("start", "{kind: noop}", first), ...steps.flat()]);
}

/** A loop over so many items, so many of them at a time, each of which takes a while. */
export function slowLoop(count: number, atOnce: number, seconds: number): string {
  return document("slow_loop", [
    stepOf("start", "{kind: noop}", ["many"]),
    `  - step: many\n    loop: {in: "{{ range(${count}) | list }}", iterator: n, spec: {mode: parallel, max_in_flight: ${atOnce}}}\n    tool: {kind: wait, seconds: ${seconds}}`,
  ]);
}
