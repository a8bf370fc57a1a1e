/** How often a property is tried: a hundredth in the usual run of what SVC_FUZZ=full asks for. */
export const runs = (full: number): { numRuns: number } => ({
  numRuns: process.env["SVC_FUZZ"] === "full" ? full : Math.ceil(full / 100),
})
