// Once per run, before the first test: the pages' scripts, and what all workers share.
import "../packages/site/scripts/build.ts"

export { sharePostgres as setup } from "@svc/testing"
