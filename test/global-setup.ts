// Once per run, before the first test: what all workers share.
export { sharePostgres as setup } from "@svc/testing"
