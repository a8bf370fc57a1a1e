import fs from "node:fs"
const f = fs
  .readdirSync("/tmp/relayprof")
  .map((x) => "/tmp/relayprof/" + x)
  .sort((a, b) => fs.statSync(b).mtimeMs - fs.statSync(a).mtimeMs)[0]
const p = JSON.parse(fs.readFileSync(f))
const byId = new Map(p.nodes.map((n) => [n.id, n]))
const parent = new Map()
p.nodes.forEach((n) => (n.children || []).forEach((c) => parent.set(c, n.id)))
const startup = (id) => {
  for (let x = id; x !== undefined; x = parent.get(x)) {
    const n = byId.get(x).callFrame
    if (/esm|cjs|amaro|bootstrap|package_json/.test(n.url)) return true
  }
  return false
}
const st = new Map(p.nodes.map((n) => [n.id, startup(n.id)]))
const self = new Map(),
  incl = new Map(),
  file = new Map()
let total = 0
const key = (n) =>
  n.callFrame.functionName +
  " " +
  n.callFrame.url.replace(/.*node_modules\//, "").replace(/.*\/work\/relay/, "") +
  ":" +
  n.callFrame.lineNumber
p.samples.forEach((s, i) => {
  if (st.get(s)) return
  const n = byId.get(s)
  if (/\(idle\)|\(root\)/.test(n.callFrame.functionName)) return
  const d = p.timeDeltas[i]
  total += d
  self.set(key(n), (self.get(key(n)) || 0) + d)
  const u = n.callFrame.url.replace(/.*node_modules\//, "").replace(/.*\/work\/relay/, "") || n.callFrame.functionName
  file.set(u, (file.get(u) || 0) + d)
  const seen = new Set()
  for (let x = s; x !== undefined; x = parent.get(x)) {
    const k = key(byId.get(x))
    if (!seen.has(k)) {
      seen.add(k)
      incl.set(k, (incl.get(k) || 0) + d)
    }
  }
})
const show = (m, c) =>
  [...m]
    .sort((a, b) => b[1] - a[1])
    .slice(0, c)
    .forEach(([k, v]) => console.log(((v / total) * 100).toFixed(1) + "%", k))
console.log("FILES")
show(file, 22)
console.log("SELF")
show(self, 40)
show(incl, 60)
