/** Words for sizes: `512 B`, `1.5 KiB`, `20 MiB`. */
export function bytesText(bytes: number): string {
  let size = bytes;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (size < 1024 || unit === "GiB") return `${unit === "B" || size >= 100 ? Math.round(size) : size.toFixed(1)} ${unit}`;
    size /= 1024;
  }
  return `${bytes} B`;
}
