/** Commands as one would type them into a shell. */

/** Where the command looks for a server when it is not told. */
const USUAL_SERVERS = ["http://127.0.0.1:8082", "http://localhost:8082"];

/** With `each` the command is repeated, with each of these as its last word. */
export function commandLine(words: string[], server: string | null, each: string[] = []): string {
  const end = server === null || USUAL_SERVERS.includes(server) ? [] : ["--server", server];
  const command = (last: string[]) => [...words.map(quoted), ...last, ...end.map(quoted)].join(" ");
  if (each.length <= 1) return command(each.map(quoted));
  return `for each in ${each.map(quoted).join(" ")}; do ${command(['"$each"'])}; done`;
}

/** A word that the shell takes for what it is. */
function quoted(word: string): string {
  if (/^[A-Za-z0-9_./:@=,+-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
