import type { CommandTable } from "../command.ts"

export const registryCommands: CommandTable = {
  title: "Read stacks",
  commands: {
    explore: {
      usage: "[STACK] [ENTITY]",
      options: ["at"],
      summary: "Show all stacks, or the entities, fields, types and views of one",
      details: "The registry is the source of truth for code that reads a stack. Upper and lower case don't matter.",
      examples: [
        "svc explore",
        "svc explore --json",
        "svc explore transfers --version 1",
        "svc explore transfers Wallet --json",
      ],
      load: async () => (await import("../explore/explore.ts")).explore,
    },
    watch: {
      usage: "<STACK> [VIEW]",
      options: ["key", "take", "where", "for", "no-snapshot", "once"],
      summary: "Show a stack's live records until Ctrl-C",
      details:
        "Without VIEW, it shows the first view that the stack defines. A terminal gets a table. A pipe, or --json, gets one line " +
        'per change: {"op", "key", "record"}, where op is snapshot, upsert or delete. It reconnects by itself. Ctrl-C ends it with ' +
        "exit code 0. Conditions of --where have the operators = != < <= > >= in contains; integers compare as integers. " +
        "They apply to the first N records with --take N.",
      examples: [
        "svc watch transfers",
        "svc watch transfers --where 'amount.lamports>=1' --for 15",
        "svc watch transfers Wallet/list --once --json",
        "svc watch transfers --take 5",
      ],
      load: async () => (await import("../stream/watch.ts")).watch,
    },
    versions: {
      usage: "<STACK>",
      summary: "List a stack's versions, newest first",
      examples: ["svc versions transfers"],
      load: async () => (await import("../explore/versions.ts")).versions,
    },
    diff: {
      usage: "<STACK>",
      options: ["from", "to"],
      summary: "Show what changed between two versions, and whether it breaks readers",
      examples: ["svc diff transfers", "svc diff transfers --from 1 --to 2 --json"],
      load: async () => (await import("../explore/versions.ts")).diff,
    },
    types: {
      usage: "<STACK>",
      options: ["language", "output", "at"],
      summary: "Generate a module with the stack's types",
      examples: ["svc types transfers --output transfers.ts", "svc types transfers --language json-schema"],
      load: async () => (await import("../explore/types.ts")).types,
    },
    lock: {
      usage: "<STACK...>",
      summary: "Write the versions that this project uses to svc.lock.json",
      examples: ["svc lock transfers token-swaps"],
      load: async () => (await import("../lock/lock.ts")).lock,
    },
    check: {
      options: ["watch", "fail-on"],
      summary: "Check that the registry doesn't break what svc.lock.json lists",
      details: "It exits with 1 if a locked stack changed so that its readers break.",
      examples: ["svc check --json", "svc check --watch --fail-on breaking"],
      load: async () => (await import("../lock/check.ts")).check,
    },
  },
}
