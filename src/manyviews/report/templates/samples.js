// The table of all samples: unpacked once, then searched as one types; only the rows shown are in the page.
(async () => {
  const STEP = 50;
  const place = document.getElementById("sample-rows");
  const status = document.getElementById("found");
  const more = document.getElementById("more");
  const find = document.getElementById("find");
  const ofCluster = document.getElementById("of-cluster");
  const inOrder = document.getElementById("in-order");
  const clusters = JSON.parse(document.getElementById("page-data").textContent).clusters;
  const counted = (n) => `${n.toLocaleString("en")} ${n === 1 ? "sample" : "samples"}`;
  document.querySelector(".search").addEventListener("submit", (event) => event.preventDefault());

  async function unpack() {
    const packed = atob(document.getElementById("report-samples").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  let table;
  try {
    table = await unpack();
  } catch (error) {
    status.textContent = "This browser cannot unpack the table; a newer one can. The file labels.csv has the same.";
    return;
  }
  const names = table.names === null ? null : table.names.split("\n");
  const name = names ? (row) => names[row] : (row) => `sample ${row}`;
  const lower = Array.from({ length: table.n }, (_, row) => name(row).toLowerCase());
  let matches = [];
  let shown = 0;

  function cell(row, text, kind) {
    const made = row.insertCell();
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  function add() {
    for (const sample of matches.slice(shown, shown + STEP)) {
      const row = place.insertRow();
      const cluster = clusters[table.cluster[sample]];
      cell(row, name(sample));
      const mark = document.querySelector(`[data-mark="${table.cluster[sample]}"] .mark`);
      const of = cell(row, cluster);
      if (mark) of.prepend(mark.cloneNode(true));
      if (table.class) cell(row, table.classes[table.class[sample]] ?? "–");
      if (table.confidence) cell(row, (table.confidence[sample] / 100).toFixed(2), "number");
    }
    shown = Math.min(shown + STEP, matches.length);
    more.hidden = shown >= matches.length;
    const all = matches.length === table.n ? counted(table.n) : `${counted(matches.length)} of ${table.n.toLocaleString("en")}`;
    status.textContent = shown < matches.length ? `${all}; the first ${shown.toLocaleString("en")} are shown` : all;
  }

  function search() {
    const text = find.value.trim().toLowerCase();
    const cluster = ofCluster.value === "" ? null : Number(ofCluster.value);
    matches = [];
    for (let row = 0; row < table.n; row += 1) {
      if (cluster !== null && table.cluster[row] !== cluster) continue;
      if (lower[row].includes(text)) matches.push(row);
    }
    const sign = Number(inOrder?.value || 0);
    if (sign) matches.sort((a, b) => sign * (table.confidence[a] - table.confidence[b]) || a - b);
    place.replaceChildren();
    shown = 0;
    add();
  }

  find.addEventListener("input", search);
  for (const choice of [ofCluster, inOrder]) choice?.addEventListener("change", search);
  more.addEventListener("click", add);
  search();
})();
