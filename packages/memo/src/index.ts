export { createMemo } from "./memo.ts"
export type { Memo } from "./memo.ts"
