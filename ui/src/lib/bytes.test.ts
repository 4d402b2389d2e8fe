import { expect, it } from "vitest";
import { bytesText } from "./bytes";

it("tells sizes in the unit that fits", () => {
  expect([0, 512, 1536, 20 * 1024 * 1024, 3 * 1024 ** 4].map(bytesText)).toEqual(["0 B", "512 B", "1.5 KiB", "20.0 MiB", "3072 GiB"]);
});
