/** Numbers as people type them, with a decimal comma or a decimal point, whatever the browser's language. */
import { w } from "./lang.js";

const NUMBER_TYPED = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Thousands, as in 1,000 or 1.000.000. */
const grouped = (mark) => new RegExp(`^[+-]?[1-9]\\d{0,2}([${mark}]\\d{3})+(?![\\d${mark}])`);

/**
 * The number that was typed, or NaN. The decimal mark of the page's language is always one; the other
 * mark is too, unless it stands between thousands as that language writes them.
 */
export function typedNumber(text) {
  const [decimal, other] = w.decimalMark === "," ? [",", "."] : [".", ","];
  let plainText = text.replace(/[\s\u00a0\u202f']/g, "").replace(/^\u2212/, "-");
  const isLast = plainText.lastIndexOf(decimal) > plainText.lastIndexOf(other);
  if (grouped(other).test(plainText) && (isLast || !plainText.includes(decimal))) {
    plainText = plainText.replaceAll(other, "");
  } else if (plainText.includes(decimal) && !isLast && grouped(decimal).test(plainText)) {
    plainText = plainText.replaceAll(decimal, "");
  }
  plainText = plainText.replace(",", ".");
  return NUMBER_TYPED.test(plainText) ? Number(plainText) : NaN;
}

/** A number as a field shows it, in the page's language and without marks between thousands. */
export const shownNumber = (value) => String(value).replace(".", w.decimalMark);
