/** The name at the end of a Rust path: `Mint` of `token_sdk::accounts::Mint`. */
export const lastSegment = (path: string): string => path.split("::").pop() ?? path
