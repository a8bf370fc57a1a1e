// Loaded into every service that `pnpm start` runs. If the start script is killed or crashes, the channel to it closes, and
// the service stops as if by SIGTERM.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"))
// The channel must not keep a finished service alive.
process.channel?.unref()
