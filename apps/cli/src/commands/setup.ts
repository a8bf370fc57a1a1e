import type { CommandTable } from "../command.ts"

export const setupCommands: CommandTable = {
  title: "Documentation and setup",
  commands: {
    "docs search": {
      usage: "<QUERY...>",
      options: ["limit", "cursor"],
      summary: "Search the documentation",
      examples: ["svc docs search rotate a key", "svc docs search origin-invalid-scheme --limit 3 --json"],
      load: async () => (await import("../docs/docs.ts")).searchDocs,
    },
    "docs fetch": {
      usage: "<SLUG>",
      options: ["section", "max-tokens", "cursor"],
      summary: "Print a page of the documentation as Markdown",
      examples: ["svc docs fetch getting-started", "svc docs fetch errors --section platform-api --json"],
      load: async () => (await import("../docs/docs.ts")).fetchDocs,
    },
    init: {
      options: ["dir", "relay-url"],
      summary: "Install the skill files for agents in this project",
      details:
        "It writes them to .agents/skills, and also to .claude/skills if the project has a .claude folder. It stores --api-url, " +
        "--docs-url and --relay-url in the configuration file. Files that are up to date stay unchanged.",
      examples: ["svc init", "svc init --api-url https://api.example --docs-url https://docs.example --json"],
      load: async () => (await import("../docs/init.ts")).init,
    },
    mcp: {
      options: ["config"],
      summary: "Serve all of this to an agent as MCP tools over the standard input and output",
      details:
        "Keys, payments and settings are those of svc. The client starts it; --config prints what its configuration needs.",
      examples: ["svc mcp --config claude", "svc mcp --config codex --json"],
      load: async () => (await import("../mcp/mcp.ts")).mcp,
    },
    completion: {
      usage: "<SHELL>",
      summary: "Print a completion script for bash, zsh or fish",
      examples: ["svc completion bash >> ~/.bashrc", "svc completion fish > ~/.config/fish/completions/svc.fish"],
      load: async () => (await import("../usage/completion.ts")).completion,
    },
  },
}
