import type { CommandTable } from "../command.ts"

export const accountCommands: CommandTable = {
  title: "Account and keys",
  commands: {
    "auth signup": {
      options: ["name", "force"],
      summary: "Register an agent and store its key",
      examples: ["svc auth signup", 'svc auth signup --name "My agent" --force --json'],
      load: async () => (await import("../account/auth.ts")).authSignup,
    },
    "auth login": {
      summary: "Check a key from the standard input and store it",
      examples: ["svc auth login < key.txt"],
      load: async () => (await import("../account/auth.ts")).authLogin,
    },
    "auth status": {
      summary: "Show whose key is stored; exit with 1 if there is none",
      examples: ["svc auth status --json"],
      load: async () => (await import("../account/auth.ts")).authStatus,
    },
    "auth logout": {
      summary: "Forget the stored key and its context; the key stays valid until svc keys revoke",
      examples: ["svc auth logout"],
      load: async () => (await import("../account/auth.ts")).authLogout,
    },
    contexts: {
      summary: "List the copies of the platform that svc knows",
      details: "svc auth signup, svc auth login and svc init store the URLs of a copy and make it the current context.",
      examples: ["svc contexts --json"],
      load: async () => (await import("../account/contexts.ts")).listContexts,
    },
    use: {
      usage: "<CONTEXT>",
      summary: "Use another copy of the platform from now on",
      examples: ["svc use api.example"],
      load: async () => (await import("../account/contexts.ts")).use,
    },
    "keys list": {
      summary: "List the agent's keys, without the keys themselves",
      examples: ["svc keys list --json"],
      load: async () => (await import("../account/keys.ts")).listKeys,
    },
    usage: {
      options: ["days"],
      summary: "Show what the account's keys did, by day",
      examples: ["svc usage", "svc usage --days 7 --json"],
      load: async () => (await import("../account/usage.ts")).showUsage,
    },
    "keys mint": {
      options: ["name", "expires-in-days", "save"],
      summary: "Create a secret key; it's shown once, or stored with --save",
      examples: ["svc keys mint --save", "svc keys mint --name ci --expires-in-days 30 --json"],
      load: async () => (await import("../account/keys.ts")).mintKey,
    },
    "keys publishable": {
      options: ["origin", "name", "expires-in-days"],
      summary: "Create a key for web pages of one origin; it's shown once",
      examples: ["svc keys publishable --origin https://app.example --json"],
      load: async () => (await import("../account/keys.ts")).mintPublishableKey,
    },
    "keys rotate": {
      usage: "[ID]",
      options: ["overlap", "name", "save"],
      summary: "Replace a key; both keys work until the overlap ends",
      details:
        "Without ID, it replaces the stored key and stores the new one. With ID, it prints the new key, or stores it with --save. " +
        "Use an overlap of at least 60 seconds for the key in use. The default is an hour.",
      examples: ["svc keys rotate", "svc keys rotate 7 --overlap 10m --json", "svc keys rotate 8 --overlap 0 --save"],
      load: async () => (await import("../account/keys.ts")).rotateKey,
    },
    "keys disable": {
      usage: "<ID>",
      summary: "Disable a key until it is enabled again",
      examples: ["svc keys disable 7"],
      load: async () => (await import("../account/keys.ts")).disableKey,
    },
    "keys enable": {
      usage: "<ID>",
      summary: "Enable a key that its owner disabled",
      examples: ["svc keys enable 7"],
      load: async () => (await import("../account/keys.ts")).enableKey,
    },
    "keys revoke": {
      usage: "<ID>",
      summary: "Revoke a key for good",
      examples: ["svc keys revoke 7"],
      load: async () => (await import("../account/keys.ts")).revokeKey,
    },
    env: {
      summary: "Show every URL of this copy, whose key is stored, and the versions",
      examples: ["svc env", "svc env --json"],
      load: async () => (await import("../account/env.ts")).showEnvironment,
    },
    run: {
      usage: "<PROGRAM...>",
      summary: "Run a program with the stored key and this copy's URLs in its environment",
      details:
        "It sets SVC_API_KEY, SVC_API_URL, SVC_DOCS_URL, SVC_RELAY_URL and, if known, SVC_STREAM_URL for that program only, and " +
        "exits with its exit code.",
      examples: ["svc run -- printenv SVC_API_URL"],
      load: async () => (await import("../account/run-program.ts")).runProgram,
    },
    session: {
      usage: "<WEBSOCKET_URL>",
      options: ["scope"],
      summary: "Mint a short-lived session token for one stack",
      details: "svc explore shows each stack's WebSocket URL. Without --scope, the token may only read the stream.",
      examples: ["svc session wss://streams.example/transfers --json"],
      load: async () => (await import("../account/session.ts")).mintSession,
    },
  },
}
