/** Files as people have them: decimal commas, no header, many columns. */
import assert from "node:assert/strict";
import test from "node:test";

import { countFile } from "../src/reading.js";

const counts = async (text, wanted = {}) => {
  const { models, notes } = await countFile(new Blob([text]), "a.csv", wanted);
  return { models, notes };
};

test("decimal commas between semicolons are read as points between commas", async () => {
  const rows = [["died", "risk", "age"], ["1", "0.91", "70"], ["0", "0.123456789012345678", "61"], ["1", ".5", "3e1"], ["0", "-0.2", "50"]];
  const plain = await counts(rows.map((row) => row.join(",")).join("\n"));
  const german = await counts(rows.map((row) => row.join(";").replaceAll(".", ",")).join("\r\n"));
  assert.deepEqual(german.models, plain.models);
  assert.ok(german.notes.some((note) => /decimal commas/.test(note)));
  const quoted = await counts(rows.map((row) => row.map((cell) => `"${cell.replace(".", ",")}"`).join("\t")).join("\n"));
  assert.deepEqual(quoted.models, plain.models);
});

test("a label with decimal commas is one", async () => {
  const { models } = await counts("y;risk\n1,0;0,9\n0,0;0,2\n");
  assert.deepEqual([...models[0].tp], [1]);
});
