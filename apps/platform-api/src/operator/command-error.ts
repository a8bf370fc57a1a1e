/** A rejected operator command. The program prints it and exits with 1. */
export class CommandError extends Error {
  override readonly name = "CommandError"
  readonly code: string
  /** Where in a file the error is. */
  readonly details: { readonly path: string; readonly reason: string } | undefined

  constructor(code: string, message: string, details?: { readonly path: string; readonly reason: string }) {
    super(message)
    this.code = code
    this.details = details
  }
}
