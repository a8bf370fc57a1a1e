// Test files share a worker, and restoring a spy on a fake timer brings the fake one back when its file is over. A later
// file would wait for it for ever, so each begins with the timers that the worker's first file had.
const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, Date } = globalThis
const name = Symbol.for("svc.real-timers")
const real: unknown = Reflect.get(globalThis, name) ?? {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  Date,
}
Object.assign(globalThis, { [name]: real }, real)
