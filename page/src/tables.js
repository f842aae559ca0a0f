/** The numbers behind a picture as a table, for screen readers and for everyone else. */
import { html } from "./marks.js";

function filled({ head, rows }) {
  const header = head.map((text) => html("th", { scope: "col" }, text));
  const body = rows.map(([name, ...cells]) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, name),
      ...cells.map((text) => html("td", {}, text)),
    ),
  );
  return html(
    "table",
    { class: "numbers" },
    html("thead", {}, html("tr", {}, ...header)),
    html("tbody", {}, ...body),
  );
}

/**
 * Put a table into a `details` element. Returns a function that takes `contents`, which gives
 * {head, rows}: texts, the first of each row its name. Nothing is computed while it is closed.
 */
export function tableBehind(details) {
  const label = details.querySelector("summary").textContent;
  const place = html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label });
  details.append(place);
  let latest = null;
  const show = () => details.open && latest && place.replaceChildren(filled(latest()));
  details.addEventListener("toggle", show);
  return (contents) => {
    latest = contents;
    show();
  };
}
