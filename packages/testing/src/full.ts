/** Whether random tests run at full length, as in `pnpm fuzz`. */
export const full = process.env["SVC_FUZZ"] === "full"
