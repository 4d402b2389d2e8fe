/** Commands as one would type them into a shell. */

/** Where the command looks for a server when it is not told. */
const USUAL_SERVERS = ["http://127.0.0.1:8082", "http://localhost:8082"];

export function commandLine(words: string[], server: string | null): string {
  const all = server === null || USUAL_SERVERS.includes(server) ? words : [...words, "--server", server];
  return all.map(quoted).join(" ");
}

/** A word that the shell takes for what it is. */
function quoted(word: string): string {
  if (/^[A-Za-z0-9_./:@=,+-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
