// Loaded into every service that `pnpm start` runs: when the start script is gone without a word (killed, crashed), the
// channel to it closes, and the service stops as it would on SIGTERM instead of living on unseen.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"))
// Listening alone must not keep a service alive that has finished.
process.channel?.unref()
