// The workloads on Restate, served by its TypeScript SDK. A step is a `ctx.run`, whose result is in the journal before the
// next one begins.
//
//     node with_restate.mjs PORT           with the folder of the installed packages in NODE_PATH

import { createServer } from "node:http2";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// `import` does not look into NODE_PATH by itself.
const sdk = createRequire(`${process.env.NODE_PATH}/`).resolve("@restatedev/restate-sdk");
const { default: restate } = await import(pathToFileURL(sdk).href);

const bench = restate.service({
  name: "bench",
  handlers: {
    chain: async (ctx, { steps }) => {
      let last;
      for (let n = 0; n < steps; n++) last = await ctx.run(`s${n}`, () => ({ n }));
      return last;
    },
    loop: async (ctx, { items }) => {
      const steps = Array.from({ length: items }, (_, n) => ctx.run(`i${n}`, () => n));
      return (await restate.RestatePromise.all(steps)).length;
    },
    nested: async (ctx, { loops, items }) => {
      const calls = Array.from({ length: loops }, () => ctx.serviceClient({ name: "bench" }).loop({ items }));
      return (await restate.RestatePromise.all(calls)).length;
    },
  },
});

// The SDK's own `serve` listens on every address of the machine.
createServer(restate.createEndpointHandler({ services: [bench] })).listen(Number(process.argv[2]), "127.0.0.1");
