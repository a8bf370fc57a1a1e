import fc from "fast-check"

// `pnpm test` draws the same cases every time, so it fails because of a change, not by luck. `pnpm fuzz` draws new
// ones. A failure names its seed: SVC_FUZZ_SEED draws its cases again.
const seed = process.env["SVC_FUZZ_SEED"] ?? (process.env["SVC_FUZZ"] === "full" ? undefined : "20261123")
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })
