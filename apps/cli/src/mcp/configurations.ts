// What a client's configuration says to start this server.

const json = (value: unknown): string => JSON.stringify(value, undefined, 2)
type Command = { readonly command: string; readonly args: readonly string[] }

const clients = {
  claude: { file: ".mcp.json", text: (svc: Command) => json({ mcpServers: { svc } }) },
  cursor: { file: ".cursor/mcp.json", text: (svc: Command) => json({ mcpServers: { svc } }) },
  vscode: { file: ".vscode/mcp.json", text: (svc: Command) => json({ servers: { svc: { type: "stdio", ...svc } } }) },
  codex: {
    file: "~/.codex/config.toml",
    text: ({ command, args }: Command) =>
      `[mcp_servers.svc]\ncommand = ${JSON.stringify(command)}\nargs = [${args.map((arg) => JSON.stringify(arg)).join(", ")}]`,
  },
} as const

export const clientNames = Object.keys(clients)

export const isClient = (name: string): name is keyof typeof clients => Object.hasOwn(clients, name)

/** The block for a client, and the file that it belongs in. */
export const configurationFor = (client: keyof typeof clients, docsUrl: string) => {
  const { file, text } = clients[client]
  const args = ["npx", "-y", `${docsUrl}/cli/svc.tgz`, "mcp"]
  // On Windows npx is a batch file, which many clients can't start.
  const [command = "", ...rest] = process.platform === "win32" ? ["cmd", "/c", ...args] : args
  return { file, text: text({ command, args: rest }) }
}
