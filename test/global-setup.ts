import { sharePostgres } from "@svc/testing"

/** Once per run, before the first test: what all workers share. Returns what ends it. */
export default sharePostgres
