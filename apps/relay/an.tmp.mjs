import fs from "node:fs"
const f = fs
  .readdirSync("/tmp/relayprof")
  .map((x) => "/tmp/relayprof/" + x)
  .sort((a, b) => fs.statSync(b).mtimeMs - fs.statSync(a).mtimeMs)[0]
const p = JSON.parse(fs.readFileSync(f))
const self = new Map()
const dt = p.timeDeltas
const byId = new Map(p.nodes.map((n) => [n.id, n]))
p.samples.forEach((s, i) => {
  const n = byId.get(s)
  const k =
    n.callFrame.functionName +
    " " +
    n.callFrame.url.replace(/.*node_modules\//, "").replace(/.*\/work\/relay/, "") +
    ":" +
    n.callFrame.lineNumber
  self.set(k, (self.get(k) || 0) + dt[i])
})
const total = [...self.values()].reduce((a, b) => a + b, 0)
;[...self]
  .sort((a, b) => b[1] - a[1])
  .slice(0, 45)
  .forEach(([k, v]) => console.log(((v / total) * 100).toFixed(1) + "%", k))
