export { parseExactly, writeExactly } from "./exact-json.ts"
