// Once per run, before the first test: the pages' scripts, and what all workers share.
import { sharePostgres } from "@svc/testing"
import "../packages/site/scripts/build.ts"

export const setup = sharePostgres
