/** Every language has every word, and no module writes words of its own. */
import assert from "node:assert/strict";
import { typedNumber } from "../src/typed_numbers.js";
import { readFileSync } from "node:fs";
import test from "node:test";

import { LANGUAGES, setLanguage, w } from "../src/lang.js";
import { floatText, quoted } from "../src/python_text.js";
import { percent, plain, settingText, thresholdText, verdictText } from "../src/wording.js";

const English = LANGUAGES.en;

function sameKinds(found, expected, at) {
  assert.deepEqual(Object.keys(found).sort(), Object.keys(expected).sort(), at);
  for (const [key, word] of Object.entries(expected)) {
    assert.equal(typeof found[key], typeof word, `${at}.${key}`);
    if (typeof word === "function") assert.equal(found[key].length, word.length, `${at}.${key}`);
  }
}

test("languages have the same words with the same arguments", () => {
  for (const [name, words] of Object.entries(LANGUAGES)) {
    const { axes, ...rest } = words;
    const { axes: own, ...expected } = English;
    sameKinds(rest, expected, name);
    sameKinds(rest.glossary, expected.glossary, `${name}.glossary`);
    sameKinds(rest.notTable, expected.notTable, `${name}.notTable`);
    assert.equal(typeof axes, typeof own);
  }
});

test("no language gives a word twice, for the second would hide the first", () => {
  for (const name of Object.keys(LANGUAGES)) {
    const source = readFileSync(new URL(`../src/lang_${name}.js`, import.meta.url), "utf8");
    const words = source.slice(source.indexOf("export const"));
    const keys = [...words.matchAll(/^ {2}(\w+):/gm)].map(([, key]) => key);
    assert.ok(keys.length > 200);
    assert.deepEqual(keys.filter((key, i) => keys.indexOf(key) !== i), [], name);
  }
});

test("every term that is marked in a text is in the glossary", () => {
  for (const words of Object.values(LANGUAGES)) {
    const texts = Object.values(words).map((word) => (typeof word === "string" ? word : ""));
    const marked = [...texts.join(" ").matchAll(/\[[^|\]]+\|(\w+)\]/g)].map(([, key]) => key);
    assert.ok(marked.length >= 6);
    for (const key of marked) assert.ok(key in words.glossary, key);
  }
});

test("German thresholds have a decimal comma", () => {
  setLanguage("de");
  assert.equal(thresholdText(0.75), "0,75");
  setLanguage("en");
  assert.equal(thresholdText(0.75), "0.75");
});

test("German writes numbers and sentences in German", () => {
  setLanguage("de");
  const setting = { minPrecision: 0.15, capacity: { count: 1200 }, miss: [5, 7.5], spread: "miss", prevalence: null };
  assert.equal(
    settingText(setting, { cases: "Patienten", outcome: "Tod" }),
    "Mindestens 15\u00a0% der Alarme sind richtig; höchstens 1.200 Alarme; ein übersehener Fall wiegt 5 bis 7,5 " +
      "Fehlalarme (gleichverteilt in Fehlalarmen); Prävalenz wie in den Daten.",
  );
  assert.equal(plain(1234.5), "1.230");
  const ranked = [{ name: "a", usable: true, score: 0.5, position: 0 }, { name: "b", usable: true, score: 0.25, position: 1 }];
  assert.equal(verdictText(ranked, [0]), "Am besten: a, 0,250 vor b (95 % Konfidenz).");
  setLanguage("en");
  assert.equal(percent(0.5), "50\u00a0%");
  assert.equal(w.language, "English");
});

test("values are written as Python writes them", () => {
  const floats = { "1.0": 1, "1e-05": 1e-5, "0.0001": 1e-4, "1e+16": 1e16, "1000000000000000.0": 1e15, "-0.0": -0, "1.5e-07": 1.5e-7, "0.00012345": 0.00012345, "1e+22": 1e22, "123456.789": 123456.789 };
  for (const [text, value] of Object.entries(floats)) assert.equal(floatText(value), text);
  assert.equal(quoted("it's"), `"it's"`);
  assert.equal(quoted(`a"b'c\n`), `'a"b\\'c\\n'`);
});

test("numbers are typed with either decimal mark", () => {
  const both = { "2,5": 2.5, "2.5": 2.5, " 12 ": 12, "0,125": 0.125, "0.125": 0.125, ",5": 0.5, "1 000": 1000, "1e-3": 0.001, "12,3456": 12.3456 };
  const nothing = ["", "x", "1,2,3", "2,5,", "--1", "1.2.3", "0x10", "Infinity"];
  for (const language of ["en", "de"]) {
    setLanguage(language);
    for (const [text, number] of Object.entries(both)) assert.equal(typedNumber(text), number, text);
    for (const text of nothing) assert.ok(Number.isNaN(typedNumber(text)), text);
    for (const text of ["1,234,567.5", "1.234.567,5"]) assert.equal(typedNumber(text), 1234567.5, text);
  }
  assert.equal(typedNumber("1.000"), 1000);
  assert.equal(typedNumber("1,000"), 1);
  setLanguage("en");
  assert.equal(typedNumber("1,000"), 1000);
  assert.equal(typedNumber("1.000"), 1);
});
